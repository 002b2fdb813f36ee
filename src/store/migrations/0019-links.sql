-- The link that an operator hands over to a user, who sets a password with it.

create table links (
  user_id text /*postgres collate "C"*/ not null primary key,
  link_hash text /*postgres collate "C"*/ not null,
  purpose text /*postgres collate "C"*/ not null, -- invitation, reset
  created_at bigint not null,
  expires_at bigint not null
) /*sqlite without rowid*/;

create index links_expired on links (expires_at);
