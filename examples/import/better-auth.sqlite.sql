-- The users of better-auth for `grantor import better-auth` (docs/moving.md)
select json_object('id', u.id, 'name', u.name, 'email', u.email, 'emailVerified', u.emailVerified, 'image', u.image,
  'banned', u.banned, 'banExpires', u.banExpires, 'twoFactorEnabled', u.twoFactorEnabled,
  'passkeys', json((select json_group_array(p.id) from passkey p where p.userId = u.id)),
  'accounts', json((select json_group_array(json_object('providerId', a.providerId, 'accountId', a.accountId,
    'password', a.password)) from account a where a.userId = u.id))) from user u;
