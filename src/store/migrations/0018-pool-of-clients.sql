-- New clients by windows of 15 minutes, and until when a client waits for its user, whatever it is held for (null: it does not).

create table registration_counts (
  window_start bigint not null primary key,
  count bigint not null
) /*sqlite without rowid*/;

alter table clients add column pending_until bigint;
