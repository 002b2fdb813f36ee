-- The host that got the code of a grant. null: a redirect URI to the user's computer, or a node of an earlier release.

alter table grants add column redirect_host text;
