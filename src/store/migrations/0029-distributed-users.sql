-- each statement by itself
-- The codes of a user are found by the user. Where Citus distributes the tables, a user names the newest rows that belong to the user
-- on other machines (JSON: an array of tables and keys; null: none), which may not be visible there yet (src/store/postgres/settle.ts).

create index /*postgres concurrently*/ if not exists authorizations_of_user on authorizations (user_id, authorization_id)
  where user_id is not null;

alter table users add column /*postgres if not exists*/ newest_rows text;
