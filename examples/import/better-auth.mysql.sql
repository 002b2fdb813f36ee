-- The users of better-auth for `grantor import better-auth` (docs/moving.md)
select json_object('id', u.id, 'name', u.name, 'email', u.email, 'emailVerified', u.emailVerified, 'image', u.image,
  'banned', u.banned, 'banExpires', u.banExpires, 'twoFactorEnabled', u.twoFactorEnabled,
  'passkeys', coalesce((select json_arrayagg(p.id) from passkey p where p.userId = u.id), json_array()),
  'accounts', coalesce((select json_arrayagg(json_object('providerId', a.providerId, 'accountId', a.accountId,
    'password', a.password)) from account a where a.userId = u.id), json_array())) from user u;
