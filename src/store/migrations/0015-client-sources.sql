-- How a client came to the server (null: it registered), what an operator decided about it (JSON; null: nothing), and its
-- metadata document. The rules for domains are read as a whole.

alter table clients add column source text;

alter table clients add column rules text;

alter table clients add column document_url text;

alter table clients add column document_fetched_at bigint;

alter table clients add column document_fresh_until bigint;

create table domain_rules (
  pattern text /*postgres collate "C"*/ not null primary key,
  verdict text not null,
  note text,
  changed_at bigint not null
) /*sqlite without rowid*/;
