-- Digests of values that are accepted once, such as the `jti` of a client's assertion, until the value has expired.

create table consumed (
  digest text /*postgres collate "C"*/ not null primary key,
  expires_at bigint not null
) /*sqlite without rowid*/;

create index consumed_expired on consumed (expires_at);
