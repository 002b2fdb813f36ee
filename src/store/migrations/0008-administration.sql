-- Administrators' credentials, and the audit: a chain of links for each writer.

create table admin_credentials (
  credential_id text /*postgres collate "C"*/ not null primary key,
  name text not null,
  secret_hash text not null,
  access text not null, -- read or write
  organization_id text /*postgres collate "C"*/,
  created_at bigint not null,
  expires_at bigint not null,
  revoked_at bigint
) /*sqlite without rowid*/;

-- With a rowid on SQLite: rows are long, and in a table without rowid each row above a quarter page takes a page of its own.
create table audit_links (
  link_id text /*postgres collate "C"*/ not null primary key, -- ordered by time
  chain_id text /*postgres collate "C"*/ not null,
  sequence bigint not null,
  recorded_at bigint not null,
  previous_hash text not null, -- '' at the start
  events text not null,
  link_hash text not null
);

create index audit_links_of_chain on audit_links (chain_id, sequence);

create index audit_chains on audit_links (link_id) where sequence = 0;
