-- Single revoked access tokens, until they would have expired; and the credentials that APIs use for introspection.

create table revoked_tokens (
  token_id text /*postgres collate "C"*/ not null primary key,
  expires_at bigint not null
) /*sqlite without rowid*/;

create index revoked_tokens_expired on revoked_tokens (expires_at);

alter table apis add column credential_id text;

alter table apis add column secret_hash text;
