-- The format of an API's tokens (null: JWT with the server's lifetime and algorithm), and the opaque access tokens. Their
-- ids start with the expiry time.

alter table apis add column token_format text;

alter table apis add column token_lifetime bigint; -- seconds

alter table apis add column algorithm text;

create table opaque_tokens (
  token_id text /*postgres collate "C"*/ not null primary key,
  token_hash text /*postgres collate "C"*/ not null,
  facts text not null
) /*sqlite without rowid*/ /*postgres with (autovacuum_vacuum_scale_factor = 0.02)*/;
