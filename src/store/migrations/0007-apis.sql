-- What an API says of the tokens that are for it (null: JWT, as long as the server's, signed as the server's), and the
-- access tokens that stand here because an API reads them by asking. Their ids begin with the moment when they expire.

alter table apis add column token_format text;

alter table apis add column token_lifetime bigint; -- seconds

alter table apis add column algorithm text;

create table opaque_tokens (
  token_id text /*postgres collate "C"*/ not null primary key,
  token_hash text /*postgres collate "C"*/ not null,
  facts text not null
) /*sqlite without rowid*/ /*postgres with (autovacuum_vacuum_scale_factor = 0.02)*/;
