-- The users of better-auth for `grantor import better-auth` (docs/moving.md)
select to_jsonb(u) || jsonb_build_object(
  'accounts', (select coalesce(jsonb_agg(a), '[]') from account a where a."userId" = u.id),
  'passkeys', (select coalesce(jsonb_agg(p), '[]') from passkey p where p."userId" = u.id)) from "user" u;
