-- each statement by itself
-- Public clients with the same metadata are one client, until it is disabled (null: shared with nobody).

alter table clients add column /*postgres if not exists*/ shared_key text /*postgres collate "C"*/;

create unique index /*postgres concurrently*/ if not exists clients_shared on clients (shared_key) where shared_key is not null;
