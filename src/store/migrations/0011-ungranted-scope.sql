-- What the client of a grant requested and did not get; null: nothing.

alter table grants add column ungranted_scope text;
