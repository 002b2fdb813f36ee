-- One schema for both databases: text ids and millisecond times made by the application, JSON as text, no sequences, no
-- foreign keys across rows of different keys. Each primary key starts with the column that the table would be sharded by.
-- PostgreSQL compares text by the database's locale unless a collation is given; ids, hashes and names are ordered byte by
-- byte.

create table clients (
  client_id text /*postgres collate "C"*/ not null primary key,
  issued_at bigint not null, -- seconds: it goes on the wire
  secret_hash text,
  metadata text not null,
  used_at bigint,
  held_until bigint not null,
  verified_at bigint,
  disabled_at bigint
) /*sqlite without rowid*/ /*postgres with (autovacuum_vacuum_scale_factor = 0.02)*/;

-- Ids are ordered by time, so the oldest unused clients are at the start of the index.
create index clients_unused on clients (client_id) where used_at is null;

-- Pages of grants and authorizations leave room for the next version of their rows, which are updated in place. Sweeps start
-- at the oldest rows, so removed rows are vacuumed before there are many.
create table authorizations (
  authorization_id text /*postgres collate "C"*/ not null primary key,
  client_id text /*postgres collate "C"*/ not null,
  browser_hash text /*postgres collate "C"*/ not null,
  request text not null,
  created_at bigint not null,
  expires_at bigint not null,
  status text /*postgres collate "C"*/ not null, -- pending, denied, approved, redeemed, burned
  user_id text /*postgres collate "C"*/,
  code_hash text /*postgres collate "C"*/,
  approved_at bigint,
  grant_id text /*postgres collate "C"*/
) /*sqlite without rowid*/ /*postgres with (fillfactor = 85, autovacuum_vacuum_scale_factor = 0.02)*/;

create table grants (
  grant_id text /*postgres collate "C"*/ not null primary key,
  client_id text /*postgres collate "C"*/ not null,
  user_id text /*postgres collate "C"*/ not null,
  scope text not null,
  resources text not null,
  created_at bigint not null,
  expires_at bigint not null,
  revoked_at bigint,
  generation bigint,
  live_hash text /*postgres collate "C"*/,
  previous_hash text /*postgres collate "C"*/,
  rotated_at bigint,
  idle_expires_at bigint
) /*sqlite without rowid*/ /*postgres with (fillfactor = 85, autovacuum_vacuum_scale_factor = 0.05)*/;

create table users (
  user_id text /*postgres collate "C"*/ not null primary key,
  email text /*postgres collate "C"*/ not null,
  name text,
  password_hash text not null,
  created_at bigint not null,
  disabled_at bigint,
  valid_from bigint not null
) /*sqlite without rowid*/;

create unique index users_email on users (email);

create table sessions (
  session_id text /*postgres collate "C"*/ not null primary key,
  session_hash text /*postgres collate "C"*/ not null,
  user_id text /*postgres collate "C"*/ not null,
  created_at bigint not null,
  expires_at bigint not null
) /*sqlite without rowid*/ /*postgres with (autovacuum_vacuum_scale_factor = 0.02)*/;

create index sessions_expiry on sessions (expires_at);

create table browsers (
  user_id text /*postgres collate "C"*/ not null,
  browser_hash text /*postgres collate "C"*/ not null,
  seen_at bigint not null,
  primary key (user_id, browser_hash)
) /*sqlite without rowid*/;

create table consents (
  user_id text /*postgres collate "C"*/ not null,
  client_id text /*postgres collate "C"*/ not null,
  redirect_host text /*postgres collate "C"*/ not null,
  resources text /*postgres collate "C"*/ not null,
  scope text not null,
  given_at bigint not null,
  primary key (user_id, client_id, redirect_host, resources)
) /*sqlite without rowid*/;

create table hits (
  bucket text /*postgres collate "C"*/ not null,
  window_start bigint not null,
  window_end bigint not null,
  count bigint not null,
  primary key (bucket, window_start)
) /*sqlite without rowid*/ /*postgres with (fillfactor = 85, autovacuum_vacuum_scale_factor = 0.02)*/;

create index hits_over on hits (window_end);

create table apis (
  resource text /*postgres collate "C"*/ not null primary key,
  name text,
  scopes text not null,
  created_at bigint not null
) /*sqlite without rowid*/;

create table signing_keys (
  key_id text /*postgres collate "C"*/ not null primary key,
  algorithm text not null,
  public_jwk text not null,
  encrypted_private_key text not null,
  created_at bigint not null
) /*sqlite without rowid*/;

create table settings (
  name text /*postgres collate "C"*/ not null primary key,
  value text not null
) /*sqlite without rowid*/;
