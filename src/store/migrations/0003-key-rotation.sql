-- each statement by itself
-- Key rotation: when each key starts to sign (null: when it was created), and the key that it follows. A key has at most one
-- successor, however many nodes create one at the same time.

alter table signing_keys add column /*postgres if not exists*/ active_from bigint;

alter table signing_keys add column /*postgres if not exists*/ follows text /*postgres collate "C"*/;

create unique index /*postgres concurrently*/ if not exists signing_keys_succession on signing_keys (follows);
