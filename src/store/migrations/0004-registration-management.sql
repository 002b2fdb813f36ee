-- The hash of a client's registration access token, and since when the client has its present name and hosts (null: always).

alter table clients add column management_hash text;

alter table clients add column identity_from bigint;
