-- Users may have no e-mail address and no password. Sessions have how and when the user authenticated, and in which browser.
-- first_signed_in_at: 0, never; null, unknown, because the user is older or a node of the previous release created it.

/*sqlite
create table users_without_email (
  user_id text not null primary key,
  email text,
  name text,
  password_hash text,
  created_at bigint not null,
  disabled_at bigint,
  valid_from bigint not null,
  email_verified_at bigint,
  first_signed_in_at bigint
) without rowid;

insert into users_without_email (user_id, email, name, password_hash, created_at, disabled_at, valid_from)
  select user_id, email, name, password_hash, created_at, disabled_at, valid_from from users;

drop table users;

alter table users_without_email rename to users;

create unique index users_email on users (email);
*/

/*postgres
alter table users alter column email drop not null;

alter table users alter column password_hash drop not null;

alter table users add column email_verified_at bigint;

alter table users add column first_signed_in_at bigint;
*/

alter table sessions add column root_id text /*postgres collate "C"*/;

alter table sessions add column methods text;

alter table sessions add column authenticated_at bigint;

alter table sessions add column provider_id text /*postgres collate "C"*/;

alter table sessions add column agent_browser text;

alter table sessions add column agent_system text;

alter table sessions add column network text;

alter table sessions add column seen_at bigint;
