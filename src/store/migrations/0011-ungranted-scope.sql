-- The scope that a grant's client requested and did not get; null: none.

alter table grants add column ungranted_scope text;
