import type { ClientBase } from 'pg'

/** The part of a connection that the runner needs. It must be one session, so PgBouncer's transaction pooling does not work. */
export type Connection = Pick<ClientBase, 'query'>

/** The right to migrate. One node at a time holds it. */
export interface Lease {
  /** Throws if another node took over. Inside a transaction no node can take over until the transaction ends. */
  readonly renew: () => Promise<void>
  readonly release: () => Promise<void>
}

export const LEASE_TABLE =
  'create table if not exists migration_lease (name text not null primary key, holder text not null, expires_at bigint not null)'

/** Milliseconds by the database's clock, so that the nodes' clocks do not matter. */
const NOW = '(extract(epoch from clock_timestamp()) * 1000)::bigint'

/** Identifies this session, so that others can check whether it is still active: process, start time and a random id. */
const HOLDER = `select concat_ws('.', pid, extract(epoch from backend_start), gen_random_uuid()) as holder
  from pg_stat_activity where pid = pg_backend_pid()`

/**
 * Takes a lease that is free, or that has expired and whose session is not active: a statement that builds an index may take
 * longer than a lease is valid, and continues for a while after its node died.
 */
const TAKE = `insert into migration_lease as lease (name, holder, expires_at) values ('schema', $1, ${NOW} + $2)
  on conflict (name) do update set holder = excluded.holder, expires_at = excluded.expires_at
  where lease.expires_at <= ${NOW} and not exists (
    select 1 from pg_stat_activity
    where starts_with(lease.holder, concat_ws('.', pid, extract(epoch from backend_start), ''))
      and (state <> 'idle' or state_change > clock_timestamp() - $2 * interval '1 millisecond'))`

const RENEW = `update migration_lease set expires_at = ${NOW} + $2 where name = 'schema' and holder = $1`
const RELEASE = `delete from migration_lease where name = 'schema' and holder = $1`

/** Takes the lease; undefined if another node holds it. */
export async function takeLease(connection: Connection, leaseMs: number): Promise<Lease | undefined> {
  const { rows } = await connection.query<{ readonly holder: string }>(HOLDER)
  const holder = rows[0]?.holder
  const { rowCount } = await connection.query(TAKE, [holder, leaseMs])
  if (rowCount !== 1) return undefined
  return {
    async renew() {
      const renewed = await connection.query(RENEW, [holder, leaseMs])
      if (renewed.rowCount !== 1) {
        throw new Error(
          'Another node took over the migration of the database, because this one was too slow. Start it again.',
        )
      }
    },
    async release() {
      await connection.query(RELEASE, [holder])
    },
  }
}
