-- each statement by itself
-- A revocation ends the consents that claim to be from later, because a clock was ahead.

create index /*postgres concurrently*/ if not exists consents_by_time on consents (given_at);
