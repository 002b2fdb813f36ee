import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { openPostgresStore } from '../../../src/store/postgres/store.ts'
import { openChaosProxy } from '../../support/store/chaos-proxy.ts'
import { openMigratedDatabase } from '../../support/store/migrated-database.ts'
import { anImport } from '../contract/user/imported-users.ts'
import { performAll, tally, times } from '../contract/harness.ts'

/** Six statements of each user, one answer after the other, would take a multiple of the limit for the answers of PostgreSQL. */
const ANSWER_MS = 20

test('a hundred users of an import need few answers of PostgreSQL, so that a slow network is no outage', async () => {
  const file = { after: (end: unknown): void => after(end as () => unknown) }
  const proxy = await openChaosProxy(file, await openMigratedDatabase(file))
  const store = await openPostgresStore({ url: proxy.url, connections: 1 })
  after(() => store.close())
  const accounts = times(100, () => anImport())
  proxy.slowDown(ANSWER_MS)
  assert.deepEqual(tally(await performAll(store, 'importUser', accounts)), { created: 100 })
  assert.deepEqual(tally(await performAll(store, 'importUser', accounts)), { same: 100 })
})
