-- The accounts that users have elsewhere, with which they sign in here.

create table identities (
  identity_key text /*postgres collate "C"*/ not null primary key,
  user_id text /*postgres collate "C"*/ not null,
  provider_id text /*postgres collate "C"*/ not null,
  subject text not null,
  email text,
  linked_at bigint not null,
  used_at bigint not null
) /*sqlite without rowid*/;

create index identities_of_user on identities (user_id);
