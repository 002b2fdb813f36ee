-- Initial access tokens, and for each client the token that it registered with (JSON; null: none).

create table initial_tokens (
  token_id text /*postgres collate "C"*/ not null primary key,
  name text not null,
  token_hash text not null,
  template text not null,
  uses bigint not null,
  uses_left bigint not null,
  created_at bigint not null,
  expires_at bigint not null,
  revoked_at bigint
) /*sqlite without rowid*/;

create index initial_tokens_expired on initial_tokens (expires_at);

alter table clients add column initial_token text;
