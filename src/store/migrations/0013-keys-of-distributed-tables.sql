-- The emails of users and the keys of shared clients, each with the record that has it. They are written only where Citus
-- distributes the tables (docs/scaling.md): there a unique index of users or clients must contain the id.

create table emails (
  email text /*postgres collate "C"*/ not null primary key,
  user_id text /*postgres collate "C"*/ not null
) /*sqlite without rowid*/;

create table shared_clients (
  shared_key text /*postgres collate "C"*/ not null primary key,
  client_id text /*postgres collate "C"*/ not null
) /*sqlite without rowid*/;
