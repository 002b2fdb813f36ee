-- What a client manages its own registration with, and from when on consents are for the name and hosts that it has now
-- (null: since ever).

alter table clients add column management_hash text;

alter table clients add column identity_from bigint;
