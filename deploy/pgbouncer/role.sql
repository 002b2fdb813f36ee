-- The settings of Grantor's connections, which PgBouncer does not forward. `grantor doctor` lists those that are missing.
alter role grantor set synchronous_commit = 'on'; -- an acknowledged write is on disk, and on the synchronous standby
alter role grantor set default_transaction_isolation = 'read committed';
alter role grantor set enable_seqscan = 'off'; -- every statement finds its rows by a key
alter role grantor set enable_hashjoin = 'off';
alter role grantor set enable_mergejoin = 'off';
alter role grantor set plan_cache_mode = 'force_generic_plan'; -- each statement is planned once; with Citus force_custom_plan
alter role grantor set statement_timeout = '3000';
alter role grantor set lock_timeout = '2000';
alter role grantor set idle_in_transaction_session_timeout = '4000'; -- a node that stopped holds no locks
alter role grantor set client_min_messages = 'warning'; -- of a commit that is not on the standby; the node then answers 503
