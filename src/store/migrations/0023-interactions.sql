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
