import pg from 'pg'
import type {
  ClientInspection,
  ClusterFacts,
  DatabaseFacts,
  DatabaseInspection,
  ServerFacts,
} from '../../ports/inspection.ts'
import type { KeyRecord } from '../../ports/records/key.ts'
import type { EpochMs } from '../../base/brand.ts'
import { findSchemaFault, listMigrations } from '../migrations.ts'
import { NO_PLACE } from '../../base/store-place.ts'
import type { Row } from '../rows.ts'
import { CLOSED, LAST_BACKUP, NO_MASTER_KEY, noteOfNewestRow, timeOf, findSetting } from '../nouns/server/settings.ts'
import { inspectClients } from '../shared/inspect-clients.ts'
import { connectionOptions, sessionSettings } from './connection/database.ts'
import { isDistributed, placementOf, readCluster, type Cluster } from './distribution.ts'
import { forOperator } from './explain.ts'
import { schemaState } from './schema/migrate.ts'
import { queryOf, runSteps } from './steps.ts'
import { apis } from '../nouns/server/apis.ts'
import { signingKeys } from '../nouns/server/signing-keys.ts'
import { masterKey } from '../nouns/server/master-key.ts'
import { storeEras } from '../nouns/server/store-eras.ts'

interface Inspection {
  readonly database: DatabaseInspection
  readonly clients: ClientInspection | undefined
  readonly keys: readonly KeyRecord[]
}

/** The oldest release that PostgreSQL's developers still maintain and that the tests cover. */
const OLDEST = { number: 140_000, name: '14' } as const
/** The network may lose a query or its response. */
const ANSWER_TIMEOUT_MS = 4000
/** The clock is read several times, because the fastest response gives the most exact result. */
const CLOCK_SAMPLES = 3
/** The prepared statement already exists, or does not exist. */
const OF_ANOTHER_CONNECTION: readonly string[] = ['42P05', '26000']
const UNSAFE_WHEN_OFF = ['fsync', 'full_page_writes']

const SERVER = `select current_user as role, current_database() as database, current_schema() as schema,
    current_setting('server_version') as version, current_setting('server_version_num')::bigint as number,
    current_setting('server_encoding') as encoding,
    case when pg_is_in_recovery() then 1::bigint end as is_standby,
    case when current_setting('default_transaction_read_only') = 'on' then 1::bigint end as is_read_only,
    case when has_schema_privilege(current_schema(), 'create') then 1::bigint end as may_create,
    case when not coalesce((select ssl from pg_stat_ssl where pid = pg_backend_pid()), false)
      and not coalesce(inet_client_addr() <<= '127.0.0.0/8' or inet_client_addr() = '::1', true) then 1::bigint
    end as is_exposed,
    current_setting('max_connections')::bigint - current_setting('superuser_reserved_connections')::bigint as limit,
    (select sum(numbackends)::bigint from pg_stat_database) as used`

const CLOSED_TABLES = `select relname from pg_class join pg_namespace on pg_namespace.oid = relnamespace
  where nspname = current_schema() and relname = any($1)
    and not (has_table_privilege(pg_class.oid, 'select') and has_table_privilege(pg_class.oid, 'insert')
      and has_table_privilege(pg_class.oid, 'update') and has_table_privilege(pg_class.oid, 'delete'))
  order by relname`

// Ids are ordered by time, so the last id of each table belongs to its newest row. A chosen id only makes the result earlier.
const CONTENT = `select
    (select value from settings where name = '${LAST_BACKUP}') as backed_up_at,
    (select max(at) from (
      select max(created_at) as at from signing_keys
      union all (select created_at from users order by user_id desc limit 1)
      union all (select issued_at * 1000 from clients order by client_id desc limit 1)) as newest) as newest_row_at`

/** Inspects the database as the server would open it, over its own connection, and changes nothing. */
export async function inspectPostgres(url: string, linkId: string | undefined): Promise<Inspection> {
  // The settings of a server on distributed tables are known after a first look.
  const distributed = await inspect(url, false, isDistributed)
  if (typeof distributed !== 'boolean') return distributed
  return inspect(url, distributed, (client) => look(client, url, distributed, linkId))
}

/** Runs one inspection. Returns why the database cannot be used, if the inspection fails. */
async function inspect<T>(
  url: string,
  distributed: boolean,
  work: (client: pg.Client) => Promise<T>,
): Promise<T | Inspection> {
  let client: pg.Client | undefined
  try {
    client = newClient(url, distributed)
    await client.connect()
    await client.query('begin read only')
    const found = await work(client)
    await client.end()
    return found
  } catch (cause) {
    // The connection is destroyed without a goodbye, because the server may not respond.
    client?.connection.stream.destroy()
    return unusable((forOperator(cause) as Error).message)
  }
}

function newClient(url: string, distributed: boolean): pg.Client {
  const client = new pg.Client({ ...connectionOptions(url, distributed), query_timeout: ANSWER_TIMEOUT_MS })
  // If the connection breaks, the running statement fails and reports that.
  client.on('error', () => undefined)
  return client
}

async function look(
  client: pg.Client,
  url: string,
  distributed: boolean,
  linkId: string | undefined,
): Promise<Inspection> {
  const { rows } = await client.query<Row>(SERVER)
  const server = rows[0] as Row
  const obstacle = findObstacle(server) ?? (await findClosedTables(client, server))
  if (obstacle !== undefined) return unusable(obstacle)
  const schema = await schemaState(client)
  const { applied, missing, unknown } = schema
  const fault = findSchemaFault(schema)
  if (fault !== undefined) return unusable(fault)
  if (missing.length > 0 && server['may_create'] === null) {
    return unusable(
      `The role ${String(server['role'])} may not create tables in the schema ${String(server['schema'])}, and some are missing. Make it the owner of the database, or run "grantor migrate" as a role that may.`,
    )
  }
  const hasTables = applied.length > 0
  const facts: DatabaseFacts = {
    appliedMigrations: applied.map(({ version }) => version),
    missingMigrations: missing.map(({ version, name }) => `${String(version).padStart(4, '0')}-${name}`),
    unknownMigrations: unknown.map(({ version }) => version),
    home: await readHome(client, url, server, distributed),
    ...(hasTables
      ? await readContent(client, linkId)
      : {
          time: undefined,
          apis: [],
          issuer: undefined,
          masterKey: NO_MASTER_KEY,
          backedUpAt: undefined,
          closedAt: undefined,
          place: NO_PLACE,
        }),
  }
  const isCurrent = missing.length === 0 && unknown.length === 0
  const keys = hasTables ? await runSteps(queryOf(client), signingKeys.reads.listKeys()) : []
  const clients = isCurrent ? await runSteps(queryOf(client), inspectClients()) : undefined
  return { database: { kind: 'opened', ...facts }, keys, clients }
}

function findObstacle(server: Row): string | undefined {
  const { version, number, database, encoding, schema } = server
  if (Number(number) < OLDEST.number) {
    return `PostgreSQL ${String(version)} is too old. ${OLDEST.name} or newer is required.`
  }
  if (server['is_standby'] !== null) {
    return 'This PostgreSQL is a standby, which accepts no writes. Set DATABASE_URL to the primary.'
  }
  if (server['is_read_only'] !== null) {
    return 'This PostgreSQL is read-only (default_transaction_read_only is on). Turn that off for the role and the database.'
  }
  if (encoding !== 'UTF8') {
    return `The database ${String(database)} is encoded in ${String(encoding)}, where not every name fits. Make one with: createdb --encoding=UTF8 --template=template0 ${String(database)}`
  }
  if (schema === null) return 'The role has no schema: its search_path names none that exists.'
  return undefined
}

async function findClosedTables(client: pg.Client, { role }: Row): Promise<string | undefined> {
  const names = listMigrations().flatMap(({ sql }) =>
    [...sql.matchAll(/^create table (?:if not exists )?(\w+)/gm)].map((found) => found[1]),
  )
  const { rows } = await client.query<Row>(CLOSED_TABLES, [['migrations', ...names]])
  if (rows.length === 0) return undefined
  const tables = rows.map((row) => row['relname']).join(', ')
  return `The role ${String(role)} may not read and change ${tables}. Grant it: grant select, insert, update, delete on ${tables} to ${pg.escapeIdentifier(String(role))}`
}

async function readHome(client: pg.Client, url: string, server: Row, distributed: boolean): Promise<ServerFacts> {
  const cluster = distributed ? await readCluster(client) : undefined
  const wantedSettings = sessionSettings(distributed)
  const { rows } = await client.query<{ readonly name: string; readonly setting: string }>(
    'select name, setting from pg_settings where name = any($1)',
    [[...Object.keys(wantedSettings), ...UNSAFE_WHEN_OFF]],
  )
  const settings = new Map(rows.map(({ name, setting }) => [name, setting]))
  return {
    kind: 'server',
    version: String(server['version']),
    role: String(server['role']),
    isExposed: server['is_exposed'] !== null,
    clockAheadMs: await readClock(client),
    connections: { used: Number(server['used']), limit: Number(server['limit']) },
    changedSettings: Object.entries(wantedSettings)
      .map(([name, wanted]) => ({ name, value: settings.get(name) ?? 'unknown', wanted }))
      .filter(({ value, wanted }) => value !== wanted),
    sharesPreparedStatements: await sharesPreparedStatements(async () => {
      const another = newClient(url, distributed)
      await another.connect()
      return another
    }),
    cluster: cluster && clusterFacts(cluster),
    unsafeSettings: UNSAFE_WHEN_OFF.filter((name) => settings.get(name) === 'off'),
  }
}

/**
 * Whether two connections share the statements that they prepare: behind a pooler that gives a session to another connection
 * after each transaction, and does not prepare the statements again. A connection that fails otherwise shows nothing.
 */
export async function sharesPreparedStatements(open: () => Promise<pg.Client>): Promise<boolean> {
  const clients: pg.Client[] = []
  try {
    while (clients.length < 2) {
      const client = await open()
      clients.push(client)
      await client.query({ name: 'doctor', text: 'select 1' })
    }
    return false
  } catch (cause) {
    return cause instanceof pg.DatabaseError && OF_ANOTHER_CONNECTION.includes(cause.code ?? '')
  } finally {
    for (const client of clients) client.connection.stream.destroy()
  }
}

function clusterFacts({ placements, machines, withFewPreparedTransactions }: Cluster): ClusterFacts {
  return {
    machines: machines.length,
    misplaced: placements
      .map(({ table, by }) => ({ table, by, wanted: placementOf(table) }))
      .filter(({ by, wanted }) => by !== wanted),
    withFewPreparedTransactions,
  }
}

/**
 * The database read its clock at some time between the query and the response. The clocks differ only if its time is outside
 * of both.
 */
async function readClock(client: pg.Client): Promise<number> {
  let best = { roundTripMs: Number.POSITIVE_INFINITY, aheadMs: 0 }
  for (let sample = 0; sample < CLOCK_SAMPLES; sample += 1) {
    const before = Date.now()
    const { rows } = await client.query<{ readonly now: number }>(
      'select floor(extract(epoch from clock_timestamp()) * 1000)::bigint as now',
    )
    const after = Date.now()
    const there = rows[0]?.now ?? before
    const aheadMs = there < before ? there - before : Math.max(there - after, 0)
    if (after - before < best.roundTripMs) best = { roundTripMs: after - before, aheadMs }
  }
  return best.aheadMs
}

async function readContent(
  client: pg.Client,
  linkId: string | undefined,
): Promise<Pick<DatabaseFacts, 'time' | 'apis' | 'issuer' | 'masterKey' | 'backedUpAt' | 'closedAt' | 'place'>> {
  const { rows } = await client.query<Row>(CONTENT)
  const resources = await client.query<Row>('select resource from apis order by resource')
  const row = rows[0] as Row
  return {
    time: noteOfNewestRow((row['newest_row_at'] ?? undefined) as EpochMs | undefined),
    apis: resources.rows.map(({ resource }) => String(resource)),
    issuer: await runSteps(queryOf(client), apis.reads.findIssuer()),
    masterKey: await runSteps(queryOf(client), masterKey.reads.findMasterKey()),
    backedUpAt: timeOf((row['backed_up_at'] ?? undefined) as string | undefined),
    closedAt: timeOf(await runSteps(queryOf(client), findSetting(CLOSED))),
    place: await runSteps(queryOf(client), storeEras.reads.findStorePlace(linkId)),
  }
}

function unusable(reason: string): Inspection {
  return { database: { kind: 'unusable', reason }, keys: [], clients: undefined }
}
