import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test, type TestContext } from 'node:test'
import { freePort } from '../../tools/process/free-ports.ts'
import { COMPILE_CACHE } from '../support/runner/compile-cache.ts'
import { openTestDatabase } from '../support/store/postgres.ts'
import { replay } from '../../tools/replay.ts'
import { temporaryFolder } from '../support/server.ts'

const { PATH = '', HOME = '/' } = process.env

const STORES: Readonly<Record<string, (t: TestContext) => Promise<Readonly<Record<string, string>>>>> = {
  SQLite: async () => ({}),
  PostgreSQL: async (t) => ({ REHEARSAL_URL: await openTestDatabase(t), RESTORED_URL: await openTestDatabase(t) }),
}

for (const [store, settingsOf] of Object.entries(STORES)) {
  test(`the commands of docs/operations/rehearsal.md give exactly the outputs that the page shows, on ${store}`, async (t) => {
    const environment = {
      PATH,
      HOME,
      REHEARSAL_PORT: String(await freePort()),
      REHEARSAL_ADMIN_PORT: String(await freePort()),
      // No process checks its readiness.
      GRANTOR_DRAIN_SECONDS: '0',
      // With the cache a process starts in half the time.
      NODE_COMPILE_CACHE: COMPILE_CACHE,
      ...(await settingsOf(t)),
    }
    const page = readFileSync('docs/operations/rehearsal.md', 'utf8')
    const faults = await replay({ page, folder: temporaryFolder(t), environment, limitMs: 120_000 })
    assert.equal(faults.join('\n\n'), '')
  })
}
