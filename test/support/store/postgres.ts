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
