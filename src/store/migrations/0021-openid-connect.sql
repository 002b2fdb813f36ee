-- What the ID tokens of a grant have in common (JSON; null: none), and what the operator stores about a user for apps (JSON; null: nothing).

alter table grants add column openid text;

alter table users add column profile text;

-- null: never.
alter table users add column updated_at bigint;
