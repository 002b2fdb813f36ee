-- Providers at which users sign in, and what a provider said about a person who has yet to sign in to an account here.

create table providers (
  provider_id text /*postgres collate "C"*/ not null primary key,
  settings text not null,
  encrypted_secret text,
  created_at bigint not null,
  disabled_at bigint
) /*sqlite without rowid*/;

create table identity_proofs (
  user_id text /*postgres collate "C"*/ not null primary key,
  proof_hash text /*postgres collate "C"*/ not null,
  browser_hash text /*postgres collate "C"*/ not null,
  identity_key text /*postgres collate "C"*/ not null,
  provider_id text /*postgres collate "C"*/ not null,
  subject text not null,
  email text,
  linked_at bigint not null,
  used_at bigint not null,
  expires_at bigint not null
) /*sqlite without rowid*/;

create index identity_proofs_expired on identity_proofs (expires_at);
