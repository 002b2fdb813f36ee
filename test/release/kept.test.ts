import assert from 'node:assert/strict'
import { globSync, statSync } from 'node:fs'
import { basename, join } from 'node:path'
import { after, test, type TestContext } from 'node:test'
import { fill, FILLED_SETTINGS } from '../../prove/upgrade/filled.ts'
import { faultsOfHeld, obtainHeld, type Place } from '../../prove/upgrade/held.ts'
import { emptyTables, keep, KEPT_STORES, place, type KeptStore } from '../../prove/upgrade/kept.ts'
import type { EpochMs } from '../../src/base/brand.ts'
import { createAda } from '../support/accounts.ts'
import { openTestServer, temporaryFolder, type TestServer } from '../support/server.ts'
import { openTestDatabase } from '../support/store/postgres.ts'
import { perform } from '../support/tasks.ts'

/** The databases that releases left (CONTRIBUTING.md). */
const RELEASES = globSync('test/upgrade/*')
const PACKED_BYTES = 60_000
/** Tables that may have no row in a kept database, and why. */
const EMPTY: Readonly<Record<string, string>> = {
  migration_progress: 'a row only while a migration runs',
  emails: 'only with Citus',
  shared_clients: 'only with Citus',
  user_rows: 'only with Citus',
  interactions: 'only where an application signs users in',
  identities: 'a provider would have to answer',
  identity_proofs: 'a provider would have to answer',
  leases: 'made beside the requests, and again at each start',
  registration_counts: 'made beside the requests',
  search_due: 'made beside the requests, and whole without rows',
  search_marks: 'made beside the requests, and whole without rows',
  user_search: 'made beside the requests, and whole without rows',
}

const root = temporaryFolder({ after: (end: unknown): void => after(end as () => unknown) })

async function addressOf(t: TestContext, store: KeptStore): Promise<{ readonly folder: string; readonly url: string }> {
  const folder = temporaryFolder(t)
  return { folder, url: store === 'sqlite' ? `sqlite:${join(folder, 'grantor.db')}` : await openTestDatabase(t) }
}

function placeOf(server: TestServer, administrator: string): Place {
  const { origin: issuer, clock, injectAdmin: inject } = server
  return { issuer, server, admin: { inject }, administrator, now: clock.now }
}

/** Opens a kept database at the time when it was made, and uses what is held of it. */
async function check(t: TestContext, folder: string, store: KeptStore): Promise<void> {
  assert.ok(statSync(join(folder, `${store}.gz`)).size <= PACKED_BYTES)
  const { folder: own, url } = await addressOf(t, store)
  const { at, settings, held } = await place(folder, store, url)
  const empty = await emptyTables(url)
  assert.deepEqual(
    empty.filter((table) => !Object.hasOwn(EMPTY, table)),
    [],
  )
  const ahead = at - Date.now()
  const clock = {
    now: () => (Date.now() + ahead) as EpochMs,
    advance: () => assert.fail('The clock is that of the database.'),
  }
  const server = await openTestServer(t, { folder: own, clock, env: { ...settings, DATABASE_URL: url } })
  assert.deepEqual(await faultsOfHeld(placeOf(server, held.administrator), held), [])
  await server.close()
}

for (const store of KEPT_STORES) {
  test(`what is held of a database on ${store} works after the release has kept it, with every kind of record`, async (t) => {
    const { folder, url } = await addressOf(t, store)
    const settings = { ...FILLED_SETTINGS, GRANTOR_SECRET: 's'.repeat(40) }
    const server = await openTestServer(t, { folder, env: { ...settings, DATABASE_URL: url } })
    await createAda(server)
    const admin = await perform<{ readonly token: string }>(server.context, 'admin.create', {
      name: 'A',
      access: 'write',
    })
    const there = placeOf(server, admin.token)
    await fill(there)
    const held = await obtainHeld(there)
    await server.close()
    const kept = join(root, 'kept')
    await keep(kept, store, url, { at: server.clock.now(), settings, held })
    await check(t, kept, store)
  })

  for (const folder of RELEASES)
    test(`what is held of the database of ${basename(folder)} on ${store} works`, (t) => check(t, folder, store))
}
