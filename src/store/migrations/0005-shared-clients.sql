-- each statement by itself
-- Public clients with the same metadata share one client until it is disabled (null: not shared).

alter table clients add column /*postgres if not exists*/ shared_key text /*postgres collate "C"*/;

create unique index /*postgres concurrently*/ if not exists clients_shared on clients (shared_key) where shared_key is not null;
