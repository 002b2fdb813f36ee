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
