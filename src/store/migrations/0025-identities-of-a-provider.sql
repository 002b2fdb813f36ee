-- each statement by itself
-- The identities of a provider are deleted with it.

create index /*postgres concurrently*/ if not exists identities_of_provider on identities (provider_id);
