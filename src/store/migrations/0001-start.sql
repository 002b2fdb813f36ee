-- One schema for both databases: text ids and millisecond times made by the application, JSON as text, no sequences, no
-- foreign keys across rows of different keys. Each primary key starts with the column that the table would be sharded by.
-- PostgreSQL compares text by the database's locale unless a collation is given; ids, hashes and names are ordered byte by
-- byte. The hash of a credential is the part of its HMAC that the credential does not contain (decision 0003).

-- On SQLite the row numbers of clients and grants are made of their ids (src/store/sqlite/slot.ts). In a table without row
-- numbers the index pages hold whole rows, six to fifteen each, so that with millions of rows finding one reads several pages
-- that are not in memory.

create table clients (
  /*sqlite slot integer primary key,*/
  client_id text /*sqlite not null unique*/ /*postgres collate "C" not null primary key*/,
  chosen_id text, -- the client_id that the operator chose, of which the id is made; null: none
  issued_at bigint not null, -- seconds: it goes on the wire
  source text not null, -- registration, operator, document
  rules text, -- JSON: what an operator decided about it; null: nothing
  initial_token text, -- JSON: the initial access token that it registered with; null: none
  document_url text,
  document_fetched_at bigint,
  document_fresh_until bigint,
  secret_hash text,
  previous_secret_hash text,
  previous_secret_until bigint,
  management_hash text,
  shared_key text /*postgres collate "C"*/, -- public clients with the same metadata share one client until it is disabled
  metadata text not null,
  identity_from bigint, -- since when it has its present name and hosts; null: always
  approved_scope text,
  verified_at bigint,
  disabled_at bigint,
  not_before bigint,
  used_at bigint,
  last_used_at bigint,
  held_until bigint not null,
  pending_until bigint -- until when it waits for its user, whatever it is held for; null: it does not
) /*postgres with (autovacuum_vacuum_scale_factor = 0.02)*/;

-- Ids are ordered by time, so the oldest unused clients are at the start of the index.
create index clients_of_operator on clients (client_id) where source = 'operator';
create index clients_unused on clients (client_id) where used_at is null;

create unique index clients_shared on clients (shared_key) where shared_key is not null;

-- The keys of shared clients, each with its client. Written only where Citus distributes the tables (docs/scaling.md): there a
-- unique index of clients must contain the id.
create table shared_clients (
  shared_key text /*postgres collate "C"*/ not null primary key,
  client_id text /*postgres collate "C"*/ not null
) /*sqlite without rowid*/;

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

-- New clients by windows of 15 minutes.
create table registration_counts (
  window_start bigint not null primary key,
  count bigint not null
) /*sqlite without rowid*/;

-- The rules for domains are read as a whole.
create table domain_rules (
  pattern text /*postgres collate "C"*/ not null primary key,
  verdict text not null,
  note text,
  changed_at bigint not null
) /*sqlite without rowid*/;

-- Users may have no e-mail address and no password.
create table users (
  user_id text /*postgres collate "C"*/ not null primary key,
  email text /*postgres collate "C"*/,
  email_verified_at bigint,
  name text,
  profile text, -- JSON: what the operator stores about the user for apps; null: nothing
  updated_at bigint not null,
  password_hash text,
  first_signed_in_at bigint, -- null: never; -1: never, and the account was imported
  last_signed_in_at bigint,
  created_at bigint not null,
  disabled_at bigint,
  not_before bigint not null,
  trial_prepared bigint -- 1: an administrator for a trial may be able to sign in to the account; null: none may
) /*sqlite without rowid*/;

create unique index users_email on users (email);
-- The users of a list that are few (src/store/nouns/user/accounts.ts). One who signs in leaves the second one at the first sign-in.
create index users_disabled on users (user_id) where disabled_at is not null;
create index users_never_signed_in on users (user_id) where coalesce(first_signed_in_at, -1) = -1;
-- Addresses that may be in a spelling from before (src/users/spelling.ts).
create index users_spelling on users (user_id) where octet_length(email) <> length(email) or replace(email, '@', '.') || '.' like '%..%';

-- The e-mail addresses of users. Written only where Citus distributes the tables, as shared_clients.
create table emails (
  email text /*postgres collate "C"*/ not null primary key,
  user_id text /*postgres collate "C"*/ not null
) /*sqlite without rowid*/;

-- The rows of users in tables that other columns distribute (src/store/postgres/user-rows.ts). Written only where Citus distributes the
-- tables. The key of an authorization is that of its grant too; `grants` names those without one.
create table user_rows (
  user_id text /*postgres collate "C"*/ not null,
  row_table text /*postgres collate "C"*/ not null, -- sessions, identities, authorizations, grants
  row_key text /*postgres collate "C"*/ not null,
  primary key (user_id, row_table, row_key)
) /*sqlite without rowid*/;

-- The index of the names and addresses of users. It is written behind: users whose row was changed since are in
-- search_due, and those outside the marks were not read yet. The numbers are those of gramsOf (src/base/fold.ts).
create table user_search (
  /*sqlite slot integer primary key,*/
  user_id text /*sqlite not null unique*/ /*postgres collate "C" not null primary key*/
  /*postgres , grams integer[] not null*/
);

/*postgres create index user_search_grams on user_search using gin (grams);*/

/*sqlite create virtual table user_grams using fts5 (grams, content = '', contentless_delete = 1, detail = none, tokenize = 'ascii');*/

create table search_due (
  user_id text /*postgres collate "C"*/ not null primary key
) /*sqlite without rowid*/;

create table search_marks (
  name text /*postgres collate "C"*/ not null primary key, -- users
  newest text /*postgres collate "C"*/ not null,
  oldest text /*postgres collate "C"*/ not null
) /*sqlite without rowid*/;

-- What users may do by the console, at most one role for each.
create table roles (
  user_id text /*postgres collate "C"*/ not null primary key,
  access text not null, -- read, write
  organization_id text /*postgres collate "C"*/, -- null: the whole server
  loopback_only bigint not null, -- whether it counts only while the issuer is a loopback address: 0 or 1
  set_at bigint not null
) /*sqlite without rowid*/;

create index roles_of_organization on roles (organization_id);

-- The link that an operator hands over to a user, who sets a password with it.
create table links (
  user_id text /*postgres collate "C"*/ not null,
  origin text /*postgres collate "C"*/ not null, -- operator, user
  link_hash text /*postgres collate "C"*/ not null,
  purpose text /*postgres collate "C"*/ not null, -- invitation, reset
  mailed bigint not null,
  made_by text /*postgres collate "C"*/, -- the user whose role has to go on
  role_since bigint, -- when that role was set
  maker_not_before bigint, -- that of the user then
  made_with text /*postgres collate "C"*/, -- the credentials of an administrator that must not be revoked
  client_id text /*postgres collate "C"*/, -- the client to which the user is led afterwards
  authorization_id text /*postgres collate "C"*/, -- the request of the client in which the user asked for the link
  created_at bigint not null,
  expires_at bigint not null,
  primary key (user_id, origin)
) /*sqlite without rowid*/;

create index links_expired on links (expires_at);
create index links_invited on links (user_id) where purpose = 'invitation';

-- Codes that were mailed to the addresses that users want to have, at most one for each user.
create table email_codes (
  user_id text /*postgres collate "C"*/ not null primary key,
  email text not null,
  code_digest text /*postgres collate "C"*/ not null,
  failures bigint not null,
  created_at bigint not null,
  expires_at bigint not null
) /*sqlite without rowid*/;

create index email_codes_expired on email_codes (expires_at);

-- The authenticator apps of users (RFC 6238).
create table second_factors (
  user_id text /*postgres collate "C"*/ not null primary key,
  secret text not null, -- encrypted
  last_step bigint not null,
  failures bigint not null,
  created_at bigint not null,
  used_at bigint
) /*sqlite without rowid*/;

-- Those that so many wrong codes locked.
create index second_factors_guessed on second_factors (user_id) where failures >= 100;

create table recovery_codes (
  user_id text /*postgres collate "C"*/ not null,
  digest text /*postgres collate "C"*/ not null,
  primary key (user_id, digest)
) /*sqlite without rowid*/;

-- WebAuthn Level 3 §4, credential records.
create table passkeys (
  user_id text /*postgres collate "C"*/ not null,
  passkey_id text /*postgres collate "C"*/ not null, -- of the digest of the credential id
  credential_id text not null,
  public_key text not null, -- COSE_Key, base64url
  counter bigint not null,
  backup_eligible bigint not null,
  backed_up bigint not null,
  agent_browser text,
  agent_system text,
  created_at bigint not null,
  used_at bigint,
  primary key (user_id, passkey_id)
) /*sqlite without rowid*/;

create table browsers (
  user_id text /*postgres collate "C"*/ not null,
  browser_hash text /*postgres collate "C"*/ not null,
  seen_at bigint not null,
  primary key (user_id, browser_hash)
) /*sqlite without rowid*/;

create table sessions (
  session_id text /*postgres collate "C"*/ not null primary key,
  session_hash text /*postgres collate "C"*/ not null,
  user_id text /*postgres collate "C"*/ not null,
  root_id text /*postgres collate "C"*/ not null,
  methods text not null,
  authenticated_at bigint, -- null: unknown
  provider_id text /*postgres collate "C"*/,
  agent_browser text,
  agent_system text,
  network text,
  seen_at bigint not null,
  created_at bigint not null,
  expires_at bigint not null
) /*sqlite without rowid*/ /*postgres with (autovacuum_vacuum_scale_factor = 0.02)*/;

create index sessions_expiry on sessions (expires_at);

-- Deleting a user ends the user's sessions.
create index sessions_of_user on sessions (user_id, session_id);

-- Clients that are notified when a session of a user ends: from the user's approval until the notice is delivered. `due_at` is null
-- while the session is active.
create table logout_notices (
  user_id text /*postgres collate "C"*/ not null,
  root_id text /*postgres collate "C"*/ not null,
  client_id text /*postgres collate "C"*/ not null,
  sid text not null,
  session_started_at bigint not null,
  expires_at bigint not null,
  due_at bigint,
  attempts bigint not null,
  primary key (user_id, root_id, client_id)
) /*sqlite without rowid*/;

create index logout_notices_due on logout_notices (due_at) where due_at is not null;

create index logout_notices_started on logout_notices (session_started_at);

create index logout_notices_expired on logout_notices (expires_at);

-- Mails that wait to be sent. Links and codes in them are not stored: they are derived from the id when a mail is sent.
create table mails (
  user_id text /*postgres collate "C"*/ not null,
  mail_id text /*postgres collate "C"*/ not null,
  purpose text not null,
  notice text,
  address text not null,
  locale text not null,
  agent_browser text,
  agent_system text,
  happened_at bigint not null,
  due_at bigint not null,
  attempts bigint not null,
  expires_at bigint not null,
  primary key (user_id, mail_id)
) /*sqlite without rowid*/;

create index mails_due on mails (due_at);

create index mails_expired on mails (expires_at);

-- Sign-ins that the operator's own application does, each from the redirect of the browser until it has expired.
create table interactions (
  interaction_id text /*postgres collate "C"*/ not null primary key,
  interaction_hash text /*postgres collate "C"*/ not null,
  target text /*postgres collate "C"*/ not null,
  browser_hash text /*postgres collate "C"*/ not null,
  ui_locales text,
  sign_in_after bigint,
  created_at bigint not null,
  expires_at bigint not null,
  answer text, -- JSON
  answered_at bigint,
  used_at bigint
) /*sqlite without rowid*/;

create index interactions_expired on interactions (expires_at);

-- Providers at which users sign in.
create table providers (
  provider_id text /*postgres collate "C"*/ not null primary key,
  settings text not null,
  encrypted_secret text,
  created_at bigint not null,
  disabled_at bigint
) /*sqlite without rowid*/;

-- The accounts that users have elsewhere, with which they sign in here.
create table identities (
  identity_key text /*postgres collate "C"*/ not null primary key,
  user_id text /*postgres collate "C"*/ not null,
  provider_id text /*postgres collate "C"*/ not null,
  subject text not null,
  email text,
  linked_at bigint not null,
  used_at bigint not null
) /*sqlite without rowid*/;

create index identities_of_user on identities (user_id);

-- The identities of a provider are deleted with it.
create index identities_of_provider on identities (provider_id);

-- What a provider said about a person who has yet to sign in to an account here.
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

-- Organizations, their members and their installed clients (decision 0005).
create table organizations (
  organization_id text /*postgres collate "C"*/ not null primary key,
  name text not null,
  access_rules text, -- JSON; null: none
  created_at bigint not null,
  disabled_at bigint,
  not_before bigint not null
) /*sqlite without rowid*/;

create table memberships (
  user_id text /*postgres collate "C"*/ not null,
  organization_id text /*postgres collate "C"*/ not null,
  created_at bigint not null,
  disabled_at bigint,
  not_before bigint not null,
  joined_unused bigint, -- 1: no person had used the account when it became a member; null: it may have been used, here or elsewhere
  primary key (user_id, organization_id)
) /*sqlite without rowid*/;

create index memberships_of_organization on memberships (organization_id, user_id);

-- Groups of users. The id of an organization's group is that of the organization, "/" and its own.
create table user_groups (
  group_id text /*postgres collate "C"*/ not null primary key,
  organization_id text /*postgres collate "C"*/, -- null: a group of the server
  name text not null,
  protected bigint not null, -- 0 or 1
  created_at bigint not null,
  joined text -- on Citus: the user and the source of the row that was added last; null: none was
) /*sqlite without rowid*/;

create index user_groups_of_organization on user_groups (organization_id, group_id);

-- What some people do not get from clients. Those of an organization are in its row.
create table access_rules (
  rule_id text /*postgres collate "C"*/ not null primary key,
  settings text not null, -- JSON (protocol/access/rule.ts)
  created_at bigint not null,
  updated_at bigint not null
) /*sqlite without rowid*/;

-- The groups that are protected, for decisions about accounts: where Citus distributes the tables, each machine has all of them.
create table protected_groups (
  group_id text /*postgres collate "C"*/ not null primary key
) /*sqlite without rowid*/;

create table group_members (
  user_id text /*postgres collate "C"*/ not null,
  group_id text /*postgres collate "C"*/ not null,
  source text /*postgres collate "C"*/ not null, -- operator, application, provider:<id>
  created_at bigint not null,
  expires_at bigint, -- null: none
  primary key (user_id, group_id, source)
) /*sqlite without rowid*/;

create index group_members_of_group on group_members (group_id, user_id, source);

create index group_members_expired on group_members (expires_at) where expires_at is not null;

create table installations (
  client_id text /*postgres collate "C"*/ not null,
  organization_id text /*postgres collate "C"*/ not null,
  scope text not null,
  acts_for_members bigint not null, -- 0 or 1
  created_at bigint not null,
  disabled_at bigint,
  not_before bigint not null,
  primary key (client_id, organization_id)
) /*sqlite without rowid*/;

create index installations_of_organization on installations (organization_id, client_id);

-- Pages of grants and authorizations leave room for the next version of their rows, which are updated in place. Sweeps start
-- at the oldest rows, so removed rows are vacuumed before there are many.
create table authorizations (
  authorization_id text /*postgres collate "C"*/ not null primary key,
  client_id text /*postgres collate "C"*/ not null,
  browser_hash text /*postgres collate "C"*/ not null,
  request text not null,
  created_at bigint not null,
  expires_at bigint not null,
  status text /*postgres collate "C"*/ not null, -- pending, denied, approved, burned. Redeemed: there is a grant with this id.
  user_id text /*postgres collate "C"*/,
  organization_id text /*postgres collate "C"*/,
  code_hash text /*postgres collate "C"*/,
  approved_at bigint
) /*sqlite without rowid*/ /*postgres with (fillfactor = 85, autovacuum_vacuum_scale_factor = 0.02)*/;

-- Parameters of authorization requests that clients pushed. An approval sets used_by.
create table pushed_requests (
  request_id text /*postgres collate "C"*/ not null primary key,
  client_id text /*postgres collate "C"*/ not null,
  parameters text not null,
  used_by text /*postgres collate "C"*/,
  expires_at bigint not null,
  kept_until bigint not null
) /*sqlite without rowid*/;

create index pushed_requests_ended on pushed_requests (kept_until);

-- Devices that wait for a user. The id is derived from the code that the user types. An answer sets authorization_id.
create table devices (
  device_id text /*postgres collate "C"*/ not null primary key,
  device_hash text /*postgres collate "C"*/ not null,
  client_id text /*postgres collate "C"*/ not null,
  request text not null, -- JSON: scope, resources and organization
  network text /*postgres collate "C"*/ not null,
  authorization_id text /*postgres collate "C"*/,
  created_at bigint not null,
  expires_at bigint not null
) /*sqlite without rowid*/;

create index devices_ended on devices (expires_at);

-- The codes of a user are found by the user.
create index authorizations_of_user on authorizations (user_id, authorization_id) where user_id is not null;

create table grants (
  /*sqlite slot integer primary key,*/
  grant_id text /*sqlite not null unique*/ /*postgres collate "C" not null primary key*/,
  client_id text /*postgres collate "C"*/ not null,
  user_id text /*postgres collate "C"*/ not null,
  organization_id text /*postgres collate "C"*/,
  scope text not null,
  ungranted_scope text, -- the scope that the client requested and did not get; null: none
  resources text not null,
  redirect_host text, -- the host that got the code; null: a redirect URI to the user's computer
  openid text, -- JSON: what the ID tokens of the grant have in common; null: none
  key_thumbprint text, -- the key of the client that a refresh must prove; null: none
  key_generation bigint, -- the generation of the first refresh token that is bound to it
  provider_id text, -- the provider whose assertion opened the grant; null: the user allowed it
  stated text, -- JSON: the authentication of the user, as all tokens state it; null: they do not
  created_at bigint not null,
  expires_at bigint not null,
  revoked_at bigint,
  generation bigint,
  live_hash text /*postgres collate "C"*/,
  rotated_at bigint,
  idle_expires_at bigint,
  network text, -- a keyed digest of the network that got the newest refresh token; empty: unknown
  held_for text -- the network for which the family is held; null: it is not
) /*postgres with (fillfactor = 85, autovacuum_vacuum_scale_factor = 0.05)*/;

-- On SQLite the index has the row numbers, which almost have the order of the ids.
create index grants_of_user on grants (user_id/*postgres , grant_id*/);

create index grants_of_organization on grants (organization_id, grant_id) where organization_id is not null;

create table consents (
  user_id text /*postgres collate "C"*/ not null,
  client_id text /*postgres collate "C"*/ not null,
  redirect_host text /*postgres collate "C"*/ not null,
  resources text /*postgres collate "C"*/ not null,
  scope text not null,
  given_at bigint not null,
  server_not_before bigint, -- the not-before times under which it was given: it ends with them, whatever its time; null: unknown, it has ended
  organization_not_before bigint, -- null: it is for no organization
  primary key (user_id, client_id, redirect_host, resources)
) /*sqlite without rowid*/;

-- Opaque access tokens. Their ids start with the expiry time.
create table opaque_tokens (
  token_id text /*postgres collate "C"*/ not null primary key,
  token_hash text /*postgres collate "C"*/ not null,
  facts text not null
) /*sqlite without rowid*/ /*postgres with (autovacuum_vacuum_scale_factor = 0.02)*/;

-- Single revoked access tokens, until they would have expired.
create table revoked_tokens (
  token_id text /*postgres collate "C"*/ not null primary key,
  expires_at bigint not null
) /*sqlite without rowid*/;

create index revoked_tokens_expired on revoked_tokens (expires_at);

-- Digests of values that are accepted once, such as the `jti` of a client's assertion, until the value has expired.
create table consumed (
  digest text /*postgres collate "C"*/ not null primary key,
  expires_at bigint not null
) /*sqlite without rowid*/;

create index consumed_expired on consumed (expires_at);

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
  scopes_since text, -- when it declared each scope that it did not declare from the start: pairs of name and milliseconds; null: none
  token_format text not null,
  token_lifetime bigint, -- seconds; null: that of the server
  algorithm text, -- null: that of the server
  jwt_type text not null, -- the `typ` header of its JWTs
  application_subject bigint not null, -- whether tokens have the subject that the operator's application has for the user: 0 or 1
  token_binding text not null, -- any, dpop, bearer: whether its tokens are bound to a key of the client
  group_claim text, -- JSON: the claim that has the groups of the user, and its words; null: none
  exchange text not null, -- from which APIs a token can be exchanged for one of this API, with the most that it has: rules as JSON
  credential_id text, -- the credentials that it uses for introspection
  secret_hash text,
  created_at bigint not null
) /*sqlite without rowid*/;

-- A key has at most one successor, however many nodes create one at the same time.
create table signing_keys (
  key_id text /*postgres collate "C"*/ not null primary key,
  purpose text /*postgres collate "C"*/ not null, -- access, id: the tokens that it signs
  algorithm text not null,
  public_jwk text not null,
  encrypted_private_key text not null,
  created_at bigint not null,
  active_from bigint not null,
  follows text /*postgres collate "C"*/
) /*sqlite without rowid*/;

create unique index signing_keys_succession on signing_keys (follows);

create table settings (
  name text /*postgres collate "C"*/ not null primary key,
  value text not null
) /*sqlite without rowid*/;

create table admin_credentials (
  credential_id text /*postgres collate "C"*/ not null primary key,
  name text not null,
  secret_hash text not null,
  access text not null, -- read or write
  organization_id text /*postgres collate "C"*/,
  organization_since bigint, -- when it was created
  created_at bigint not null,
  expires_at bigint not null,
  revoked_at bigint
) /*sqlite without rowid*/;

-- The audit: a chain of links for each writer. With a rowid on SQLite: rows are long, and in a table without rowid each row above
-- a quarter page takes a page of its own.
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

-- What one of several nodes does for all of them. The node that holds a lease replaces its mark every few seconds.
create table leases (
  name text /*postgres collate "C"*/ not null,
  mark text not null,
  primary key (name)
) /*sqlite without rowid*/;

-- What each process counted in five minutes, in an hour and in a day, for the charts of the console.
create table figures (
  began_at bigint not null, -- the beginning of the span
  figure_id text /*postgres collate "C"*/ not null, -- ordered by it
  node text not null, -- the process, '' for those that have ended, or merged: a sweep added the row to theirs
  span text /*postgres collate "C"*/ not null, -- 5m, 1h or 1d
  ended_at bigint not null, -- up to when it counts: the row of a span that goes on is replaced
  counts text not null, -- JSON, at most 1 KB for a process
  primary key (began_at, figure_id)
) /*sqlite without rowid*/;

create index figures_of_span on figures (span, figure_id);
