-- On SQLite the row numbers of clients and grants are made of their ids (src/store/sqlite/slot.ts). In a table without row
-- numbers the index pages hold whole rows, six to fifteen each, so that with millions of rows finding one reads several pages
-- that are not in memory. Existing rows get any number, like rows whose number is taken: those are found by their ids.

/*sqlite
create table slotted_clients (
  slot integer primary key,
  client_id text not null unique,
  issued_at bigint not null,
  secret_hash text,
  metadata text not null,
  used_at bigint,
  held_until bigint not null,
  verified_at bigint,
  disabled_at bigint,
  management_hash text,
  identity_from bigint,
  shared_key text,
  previous_secret_hash text,
  previous_secret_until bigint,
  approved_scope text,
  valid_from bigint,
  last_used_at bigint
);

insert into slotted_clients select null, client_id, issued_at, secret_hash, metadata, used_at, held_until, verified_at,
  disabled_at, management_hash, identity_from, shared_key, previous_secret_hash, previous_secret_until, approved_scope,
  valid_from, last_used_at from clients;

drop table clients;

alter table slotted_clients rename to clients;

create index clients_unused on clients (client_id) where used_at is null;

create unique index clients_shared on clients (shared_key) where shared_key is not null;

create table slotted_grants (
  slot integer primary key,
  grant_id text not null unique,
  client_id text not null,
  user_id text not null,
  scope text not null,
  resources text not null,
  created_at bigint not null,
  expires_at bigint not null,
  revoked_at bigint,
  generation bigint,
  live_hash text,
  previous_hash text,
  rotated_at bigint,
  idle_expires_at bigint,
  organization_id text
);

insert into slotted_grants select null, grant_id, client_id, user_id, scope, resources, created_at, expires_at, revoked_at,
  generation, live_hash, previous_hash, rotated_at, idle_expires_at, organization_id from grants;

drop table grants;

alter table slotted_grants rename to grants;

create index grants_of_user on grants (user_id, grant_id);

create index grants_of_client on grants (client_id, grant_id);

create index grants_of_organization on grants (organization_id, grant_id) where organization_id is not null;
*/
