import pg from 'pg'
import type { Migration, SchemaState } from '../migrations.ts'
import { forOperator } from './explain.ts'
import { migratePostgres, schemaState } from './migrate.ts'
import type { Connection } from './migration-lease.ts'

/** Migrates the database at an address over its own connection, whose statements have no time limit. */
export function migrateAt(url: string, now: number): Promise<readonly Migration[]> {
  return withConnection(url, (connection) => migratePostgres(connection, now))
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
