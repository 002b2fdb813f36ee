-- each statement by itself
-- Organizations, their members and their installed clients (decision 0019), and indexes for their lists. For clients also:
-- the scopes that the operator approved, the not-before time, and the previous secret while it is being replaced.

create table if not exists organizations (
  organization_id text /*postgres collate "C"*/ not null primary key,
  name text not null,
  created_at bigint not null,
  disabled_at bigint,
  valid_from bigint not null
) /*sqlite without rowid*/;

create table if not exists memberships (
  user_id text /*postgres collate "C"*/ not null,
  organization_id text /*postgres collate "C"*/ not null,
  created_at bigint not null,
  disabled_at bigint,
  valid_from bigint not null,
  primary key (user_id, organization_id)
) /*sqlite without rowid*/;

create index /*postgres concurrently*/ if not exists memberships_of_organization on memberships (organization_id, user_id);

create table if not exists installations (
  client_id text /*postgres collate "C"*/ not null,
  organization_id text /*postgres collate "C"*/ not null,
  scope text not null,
  acts_for_members bigint not null, -- 0 or 1
  created_at bigint not null,
  disabled_at bigint,
  valid_from bigint not null,
  primary key (client_id, organization_id)
) /*sqlite without rowid*/;

create index /*postgres concurrently*/ if not exists installations_of_organization on installations (organization_id, client_id);

-- Deleting a user ends the user's sessions.
create index /*postgres concurrently*/ if not exists sessions_of_user on sessions (user_id, session_id);

alter table authorizations add column /*postgres if not exists*/ organization_id text /*postgres collate "C"*/;

alter table grants add column /*postgres if not exists*/ organization_id text /*postgres collate "C"*/;

create index /*postgres concurrently*/ if not exists grants_of_user on grants (user_id, grant_id);

create index /*postgres concurrently*/ if not exists grants_of_client on grants (client_id, grant_id);

create index /*postgres concurrently*/ if not exists grants_of_organization on grants (organization_id, grant_id)
  where organization_id is not null;

alter table clients add column /*postgres if not exists*/ previous_secret_hash text;

alter table clients add column /*postgres if not exists*/ previous_secret_until bigint;

alter table clients add column /*postgres if not exists*/ approved_scope text;

alter table clients add column /*postgres if not exists*/ valid_from bigint;

alter table clients add column /*postgres if not exists*/ last_used_at bigint;
