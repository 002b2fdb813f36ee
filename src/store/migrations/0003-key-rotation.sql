-- each statement by itself
-- Signing keys take turns: when each starts to sign (null: when it was made), and the key that it was made after. Each has
-- one successor at most, however many nodes make one at the same moment.

alter table signing_keys add column /*postgres if not exists*/ active_from bigint;

alter table signing_keys add column /*postgres if not exists*/ follows text /*postgres collate "C"*/;

create unique index /*postgres concurrently*/ if not exists signing_keys_succession on signing_keys (follows);
