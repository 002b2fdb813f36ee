import { requireKnownSchema, type Migration, type SchemaState } from '../../migrations.ts'
import { distributeTables, findObstacle, isDistributed, isWorker, placementOf, readCluster } from '../distribution.ts'
import { migratePostgres, schemaState } from './migrate.ts'
import type { Connection } from './migration-lease.ts'
import { withConnection } from '../connection/single-connection.ts'

const MIGRATE = { name: 'migrate' }

/** Migrates the database at an address over its own connection, whose statements have no time limit. */
export function migrateAt(url: string, now: number): Promise<readonly Migration[]> {
  return withConnection(url, MIGRATE, (connection) => migrate(connection, now))
}

/**
 * Distributes the new tables as well, if the others are distributed. On a worker a migration would make tables that the
 * cluster does not know.
 */
async function migrate(connection: Connection, now: number): Promise<readonly Migration[]> {
  if ((await isWorker(connection)) && (await schemaState(connection)).missing.length > 0) {
    throw new Error(
      'This machine is a worker of Citus, and the database is not up to date. Run "grantor migrate" with the address of the coordinator.',
    )
  }
  const applied = await migratePostgres(connection, now)
  if (applied.length > 0 && (await isDistributed(connection))) await distributeTables(connection)
  return applied
}

/** Migrates it, and returns whether its tables are distributed. */
export function prepareAt(url: string, now: number): Promise<boolean> {
  return withConnection(url, MIGRATE, async (connection) => {
    await migrate(connection, now)
    return isDistributed(connection)
  })
}

/** Returns how the tables are stored and how this release stores them, and why they cannot be distributed now. */
export function planDistribution(url: string) {
  return withConnection(url, MIGRATE, async (connection) => {
    const obstacle = await findObstacle(connection)
    const { placements = [] } = (await readCluster(connection)) ?? {}
    return { obstacle, placements: placements.map((one) => ({ ...one, wanted: placementOf(one.table) })) }
  })
}

/** Distributes the tables that are not distributed, and returns them. */
export function distributeAt(url: string, shards: number): Promise<readonly string[]> {
  return withConnection(url, MIGRATE, (connection) => distributeTables(connection, shards))
}

/**
 * Returns the applied and the missing migrations of a database. Changes nothing.
 *
 * @throws Error if a migration was applied from another text
 */
export function readPostgresSchema(url: string): Promise<SchemaState> {
  return withConnection(url, MIGRATE, async (connection) => requireKnownSchema(await schemaState(connection)))
}
