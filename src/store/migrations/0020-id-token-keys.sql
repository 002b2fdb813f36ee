-- The keys that sign ID tokens. In a table of their own: nodes of the previous release would sign access tokens with them.

create table id_token_keys (
  key_id text /*postgres collate "C"*/ not null primary key,
  algorithm text not null,
  public_jwk text not null,
  encrypted_private_key text not null,
  created_at bigint not null,
  active_from bigint not null,
  follows text /*postgres collate "C"*/
) /*sqlite without rowid*/;

create unique index id_token_keys_succession on id_token_keys (follows);
