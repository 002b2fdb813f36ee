import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import type { StoreDriver } from '../../src/ports/store.ts'
import type { EpochMs } from '../../src/base/brand.ts'
import { openChains, type Chains } from '../../src/audit/chain.ts'
import { openPostgresStore } from '../../src/store/postgres/store.ts'
import { openSqliteStore } from '../../src/store/sqlite/store.ts'
import { perform } from './contract/harness.ts'
import { at, HOUR } from '../support/records.ts'
import { aSweep } from './contract/server/sweep.ts'
import { openMigratedDatabase } from '../support/store/migrated-database.ts'
import { temporaryFolder } from '../support/server.ts'

const STORES: Readonly<Record<string, (t: TestContext, audit: Chains) => Promise<StoreDriver>>> = {
  sqlite: async (t, audit) =>
    openSqliteStore({ path: join(temporaryFolder(t), 'grantor.db'), patienceMs: 1000, checkpoints: 'inline', audit }),
  postgres: async (t, audit) => openPostgresStore({ url: await openMigratedDatabase(t), connections: 2, audit }),
}

for (const [name, open] of Object.entries(STORES)) {
  test(`${name}: a sweep removes audit links from before a given time, oldest first and at most its limit`, async (t) => {
    let now = at(-10 * HOUR)
    const clock = (): EpochMs => now
    const digest = (parts: readonly string[]): string => JSON.stringify(parts)
    const store = await open(t, openChains({ digest, clock, random: randomBytes }))
    t.after(() => store.close())
    for (const hours of [-10, -9, -8, -7]) {
      now = at(hours * HOUR)
      await perform(store, 'recordEvent', { event: 'server.tokens-revoked', details: { hours } })
    }
    const kept = async (): Promise<readonly number[]> =>
      (await store.listAuditLinks({ before: undefined, limit: 10, since: 0 as EpochMs }))
        .filter(({ events }) => events.includes('server.tokens-revoked'))
        .map(({ recordedAt }) => (recordedAt - at(0)) / HOUR)
    assert.deepEqual(await kept(), [-7, -8, -9, -10])

    now = at(0)
    assert.equal((await perform(store, 'sweepExpired', aSweep({ auditBefore: 0 as EpochMs }))).auditLinks, 0)
    const sweep = aSweep({ auditBefore: at(-7 * HOUR), limit: 2 })
    assert.equal((await perform(store, 'sweepExpired', sweep)).auditLinks, 2)
    assert.deepEqual(await kept(), [-7, -8])
    assert.equal((await perform(store, 'sweepExpired', sweep)).auditLinks, 1)
    assert.equal((await perform(store, 'sweepExpired', sweep)).auditLinks, 0)
    assert.deepEqual(await kept(), [-7])
  })
}
