import pg from 'pg'
import type { Migration, SchemaState } from '../migrations.ts'
import { distributeTables, findObstacle, isDistributed, placementOf, readCluster } from './distribution.ts'
import { forOperator } from './explain.ts'
import { migratePostgres, schemaState } from './migrate.ts'
import type { Connection } from './migration-lease.ts'

/** Migrates the database at an address over its own connection, whose statements have no time limit. */
export function migrateAt(url: string, now: number): Promise<readonly Migration[]> {
  return withConnection(url, (connection) => migrate(connection, now))
}

/** Distributes the new tables as well, if the others are distributed. */
async function migrate(connection: Connection, now: number): Promise<readonly Migration[]> {
  const applied = await migratePostgres(connection, now)
  if (applied.length > 0 && (await isDistributed(connection))) await distributeTables(connection)
  return applied
}

/** Migrates it, and returns whether its tables are distributed. */
export function prepareAt(url: string, now: number): Promise<boolean> {
  return withConnection(url, async (connection) => {
    await migrate(connection, now)
    return isDistributed(connection)
  })
}

/** Returns how the tables are stored and how this release stores them, and why they cannot be distributed now. */
export function planDistribution(url: string) {
  return withConnection(url, async (connection) => {
    const obstacle = await findObstacle(connection)
    const { placements = [] } = (await readCluster(connection)) ?? {}
    return { obstacle, placements: placements.map((one) => ({ ...one, wanted: placementOf(one.table) })) }
  })
}

/** Distributes the tables that are not distributed, and returns them. */
export function distributeAt(url: string, shards: number): Promise<readonly string[]> {
  return withConnection(url, (connection) => distributeTables(connection, shards))
}

/** Returns the applied and the missing migrations of a database. Changes nothing. */
export function readPostgresSchema(url: string): Promise<SchemaState> {
  return withConnection(url, (connection) => schemaState(connection))
}

async function withConnection<T>(url: string, work: (connection: Connection) => Promise<T>): Promise<T> {
  const client = new pg.Client({
    connectionString: url,
    application_name: 'grantor migrate',
    connectionTimeoutMillis: 10_000,
    keepAlive: true,
  })
  // If the connection breaks, the running statement fails and reports that.
  client.on('error', () => undefined)
  try {
    await client.connect()
    return await work(client)
  } catch (cause) {
    throw forOperator(cause)
  } finally {
    await client.end()
  }
}
