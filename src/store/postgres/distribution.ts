import { CLOSED_STORE } from '../../ports/store.ts'
import { CLOSED } from '../nouns/server/settings.ts'
import { schemaState } from './schema/migrate.ts'
import type { Connection } from './schema/migration-lease.ts'

/** The column by which Citus distributes each table (docs/scaling.md). */
export const SHARD_KEYS: Readonly<Record<string, string>> = {
  authorizations: 'authorization_id',
  pushed_requests: 'request_id',
  devices: 'device_id',
  grants: 'grant_id',
  sessions: 'session_id',
  revoked_tokens: 'token_id',
  opaque_tokens: 'token_id',
  consumed: 'digest',
  initial_tokens: 'token_id',
  registration_counts: 'window_start',
  hits: 'bucket',
  users: 'user_id',
  emails: 'email',
  user_rows: 'user_id',
  user_search: 'user_id',
  search_due: 'user_id',
  search_marks: 'name',
  roles: 'user_id',
  browsers: 'user_id',
  second_factors: 'user_id',
  recovery_codes: 'user_id',
  passkeys: 'user_id',
  links: 'user_id',
  email_codes: 'user_id',
  logout_notices: 'user_id',
  mails: 'user_id',
  identities: 'identity_key',
  interactions: 'interaction_id',
  identity_proofs: 'user_id',
  consents: 'user_id',
  memberships: 'user_id',
  organizations: 'organization_id',
  user_groups: 'group_id',
  group_members: 'user_id',
  clients: 'client_id',
  shared_clients: 'shared_key',
  installations: 'client_id',
  audit_links: 'link_id',
  figures: 'began_at',
  leases: 'name',
}

/** Small tables that are rarely written: each machine has a copy. */
export const COPIED_TABLES: readonly string[] = [
  'apis',
  'domain_rules',
  'providers',
  'protected_groups',
  'access_rules',
  'signing_keys',
  'settings',
  'admin_credentials',
  'migrations',
]

/** How a table is stored. */
export interface Placement {
  readonly table: string
  /**
   * The column by which it is distributed; `copied`: each machine has all rows; `local`: only this machine has it; `missing`: this
   * machine does not have it.
   */
  readonly by: string
  readonly bytes: number
}

/** The cluster as one of its machines sees it. */
export interface Cluster {
  readonly placements: readonly Placement[]
  /** Machines that hold shards, as `host:port`. */
  readonly machines: readonly string[]
  /** Machines where `max_prepared_transactions` is less than `max_connections`, so that some transactions over several of them fail. */
  readonly withFewPreparedTransactions: readonly string[]
}

/** Whose shards the other tables share. */
const FIRST = 'authorizations'

const EXTENSION = `select 1 from pg_extension where extname = 'citus'`
const PLACEMENTS = `select relname as table, pg_table_size(pg_class.oid) as bytes,
    case when partmethod = 'h' then column_to_column_name(logicalrelid, partkey) when partmethod = 'n' then 'copied'
      else 'local' end as by
  from pg_class left join pg_dist_partition on logicalrelid = pg_class.oid
  where relnamespace = current_schema()::regnamespace and relkind = 'r' and relname = any($1)`
const MACHINES = `select nodename || ':' || nodeport as machine from pg_dist_node
  where noderole = 'primary' and isactive and shouldhaveshards order by 1`
/** Citus replaces 0 by twice `max_connections`. */
const FEW_PREPARED = `select nodename || ':' || nodeport as machine from run_command_on_all_nodes(
    $$select current_setting('max_prepared_transactions')::int < current_setting('max_connections')::int$$)
  join pg_dist_node using (nodeid) where success and result = 't' order by 1`
const COORDINATOR = 'select 1 from pg_dist_local_group where groupid = 0'
const SESSIONS = `select 1 from citus_stat_activity where datname = current_database()
  and application_name like 'grantor%' and global_pid <> citus_backend_gpid() limit 1`

const CLOSED_AT = `select 1 from settings where name = '${CLOSED}'`

const KEY_TYPE = `select atttypid::regtype::text as type from pg_attribute where attrelid = $1::regclass and attname = $2`

const CITUS_PART = /\/\*citus (.+?)\*\//g

/**
 * What is unique over all users and clients becomes a table by that key, and the indexes that held it are dropped. The rows of users
 * are named (user-rows.ts).
 */
export const KEYS: Readonly<Record<string, readonly string[]>> = {
  users: [
    'delete from user_rows',
    `insert into user_rows (user_id, row_table, row_key) select user_id, 'sessions', session_id from sessions`,
    `insert into user_rows (user_id, row_table, row_key) select user_id, 'identities', identity_key from identities`,
    `insert into user_rows (user_id, row_table, row_key)
       select user_id, 'authorizations', authorization_id from authorizations where user_id is not null
       union select user_id, case when provider_id is null then 'authorizations' else 'grants' end, grant_id from grants`,
    'delete from emails',
    'insert into emails (email, user_id) select email, user_id from users where email is not null',
    'drop index if exists users_email',
    'create index users_email on users (email)',
  ],
  clients: [
    'delete from shared_clients',
    'insert into shared_clients (shared_key, client_id) select shared_key, client_id from clients where shared_key is not null',
    'drop index if exists clients_shared',
  ],
}

/**
 * Returns a statement with its parts for distributed tables. A condition such as `/*citus and a.id = any($1)*\/` names the
 * shards of rows that are found by a join.
 */
export function forCitus(text: string): string {
  return text.replaceAll(CITUS_PART, '$1')
}

/** Whether the tables of the database are distributed by Citus. */
export async function isDistributed(connection: Connection): Promise<boolean> {
  if (!(await hasCitus(connection))) return false
  const table = await connection.query(`select 1 from pg_dist_partition where logicalrelid = to_regclass('${FIRST}')`)
  return table.rowCount === 1
}

/** Whether this machine is a worker of Citus, where the schema cannot be changed. */
export async function isWorker(connection: Connection): Promise<boolean> {
  return (await hasCitus(connection)) && (await connection.query(COORDINATOR)).rowCount === 0
}

/** Returns the cluster; undefined without the extension. */
export async function readCluster(
  connection: Connection,
  tables: readonly string[] = [...Object.keys(SHARD_KEYS), ...COPIED_TABLES],
): Promise<Cluster | undefined> {
  if (!(await hasCitus(connection))) return undefined
  const { rows } = await connection.query<Omit<Placement, 'bytes'> & { readonly bytes: string }>(PLACEMENTS, [tables])
  return {
    // The coordinator may have a table that this machine lacks.
    placements: tables.toSorted().map((table) => {
      const { by = 'missing', bytes = '0' } = rows.find((row) => row.table === table) ?? {}
      return { table, by, bytes: Number(bytes) }
    }),
    machines: await machinesOf(connection, MACHINES),
    withFewPreparedTransactions: await machinesOf(connection, FEW_PREPARED),
  }
}

/** How this release stores a table. */
export function placementOf(table: string): string {
  return SHARD_KEYS[table] ?? 'copied'
}

/** Returns why the tables cannot be distributed now; undefined if they can. */
export async function findObstacle(connection: Connection): Promise<string | undefined> {
  const cluster = await readCluster(connection)
  if (cluster === undefined) {
    return 'The database has no extension citus. Install Citus on all machines, and run: create extension citus'
  }
  if (await isWorker(connection)) return 'This machine is a worker. Set DATABASE_URL to the coordinator.'
  if (cluster.machines.length === 0) return 'The cluster has no machine that holds shards. Add one with citus_add_node.'
  const { missing, unknown } = await schemaState(connection)
  if (unknown.length > 0) return 'The database was migrated by a newer release. Run this command of that release.'
  if (missing.length > 0) return 'The database is not up to date. Run: grantor migrate'
  if ((await connection.query(CLOSED_AT)).rowCount === 1) return CLOSED_STORE
  const [machine] = cluster.withFewPreparedTransactions
  if (machine !== undefined) {
    return `max_prepared_transactions is less than max_connections on ${machine}. Raise it, and restart that machine.`
  }
  const other = cluster.placements.find(({ table, by }) => by !== 'local' && by !== placementOf(table))
  if (other !== undefined) {
    return `The table ${other.table} is stored as "${other.by}" instead of "${placementOf(other.table)}". Run: select undistribute_table('${other.table}')`
  }
  const isFirst = cluster.placements.some(({ table, by }) => table === FIRST && by === 'local')
  if (isFirst && (await connection.query(SESSIONS)).rowCount === 1) {
    return 'A node or a command of Grantor is connected. Stop all nodes first: a node finds out only when it starts that the tables are distributed.'
  }
  return undefined
}

/**
 * Distributes the tables that are not distributed yet, in one transaction, and returns them. Each table is locked until the
 * end, and its rows are copied to the machines.
 */
export async function distributeTables(connection: Connection, shards = 32): Promise<readonly string[]> {
  const { placements = [] } = (await readCluster(connection)) ?? {}
  const local = placements.filter(({ by }) => by === 'local').map(({ table }) => table)
  // The others get the shards of the first.
  const tables = local.toSorted((one, other) => Number(other === FIRST) - Number(one === FIRST))
  if (tables.length === 0) return []
  await connection.query('begin')
  try {
    await connection.query(`set local citus.shard_count = ${shards}`)
    await connection.query(`set local citus.multi_shard_modify_mode = 'sequential'`)
    for (const table of tables) for (const sql of KEYS[table] ?? []) await connection.query(sql)
    for (const table of tables) await distribute(connection, table)
    await connection.query('commit')
    return tables
  } catch (cause) {
    await connection.query('rollback').catch(() => undefined)
    throw cause
  }
}

async function distribute(connection: Connection, table: string): Promise<void> {
  const key = SHARD_KEYS[table]
  if (key === undefined) await connection.query('select create_reference_table($1)', [table])
  else {
    const { rows } = await connection.query<{ readonly type: string }>(KEY_TYPE, [table, key])
    // Tables share shards if their keys have one type.
    const others = rows[0]?.type === 'text' ? FIRST : 'none'
    const group = table === FIRST ? 'default' : others
    await connection.query('select create_distributed_table($1, $2, colocate_with => $3)', [table, key, group])
  }
  await connection.query('select truncate_local_data_after_distributing_table($1)', [table])
}

async function hasCitus(connection: Connection): Promise<boolean> {
  return (await connection.query(EXTENSION)).rowCount === 1
}

async function machinesOf(connection: Connection, sql: string): Promise<readonly string[]> {
  return (await connection.query<{ readonly machine: string }>(sql)).rows.map(({ machine }) => machine)
}
