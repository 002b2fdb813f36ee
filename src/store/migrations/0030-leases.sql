-- What one of several nodes does for all of them. The node that holds a lease replaces its mark every few seconds.

create table leases (
  name text /*postgres collate "C"*/ not null,
  mark text not null,
  primary key (name)
) /*sqlite without rowid*/;
