import type { TestContext } from 'node:test'
import pg from 'pg'
import {
  createDatabase,
  EMPTY,
  execute,
  type Postgres,
  SHARED_CLUSTER,
  startPostgres,
  type TestDatabase,
} from '../../../tools/postgres/postgres.ts'

let ownCluster: Promise<Postgres> | undefined

/**
 * The URL of a new, empty database, which is dropped after the test and all its other `after` hooks. It is in the cluster of
 * test/run.ts, or in one that this process starts for itself.
 */
export function openTestDatabase(test: Pick<TestContext, 'after'>): Promise<string> {
  return openDatabase(test, (adminUrl) => createDatabase(adminUrl, EMPTY))
}

/** The URL of a database that `create` creates, dropped in the same way. */
export async function openDatabase(
  test: Pick<TestContext, 'after'>,
  create: (adminUrl: string) => Promise<TestDatabase>,
): Promise<string> {
  const adminUrl = process.env[SHARED_CLUSTER] ?? (await (ownCluster ??= startPostgres())).adminUrl()
  const { name, url } = await create(adminUrl)
  const drop = (): Promise<void> => execute(adminUrl, `drop database if exists ${name} with (force)`)
  // A hook that is registered while hooks run is the last one, so everything that uses the database is closed before.
  test.after(() => test.after(drop))
  return url
}

/** Opens a session until the test ends, which the test may cut. */
export async function openSession(test: Pick<TestContext, 'after'>, url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url })
  client.on('error', () => undefined)
  await client.connect()
  test.after(() => client.end())
  return client
}

/** The tables of the store, but not those of its migrations. */
export async function listTables(client: pg.Client): Promise<readonly string[]> {
  const { rows } = await client.query<{ readonly name: string }>(
    `select tablename as name from pg_tables where schemaname = current_schema() and tablename not like 'migration%'`,
  )
  return rows.map(({ name }) => name)
}

/** All rows of the tables, by table. */
export async function readRows(
  client: pg.Client,
  tables: readonly string[],
): Promise<Readonly<Record<string, readonly unknown[]>>> {
  const each = tables.map((table) => `select '${table}' as name, to_jsonb(t) as content from ${table} as t`)
  const { rows } = await client.query<{ readonly name: string; readonly content: unknown }>(
    `${each.join(' union all ')} order by 1, 2`,
  )
  const byTable = Map.groupBy(rows, ({ name }) => name)
  return Object.fromEntries(byTable.entries().map(([name, found]) => [name, found.map(({ content }) => content)]))
}
