import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { verifyAudit } from '../../src/admin/audit/verify.ts'
import type { EpochMs } from '../../src/base/brand.ts'
import { openChaosProxy } from '../support/store/chaos-proxy.ts'
import { eventsOf, listLinks } from '../store/contract/chains.ts'
import { postJson, registerClient } from '../../tools/flow.ts'
import { openMigratedDatabase } from '../support/store/migrated-database.ts'
import { openTestServer } from '../support/server.ts'
import { databasePath } from '../support/store/dump.ts'
import { openSteadyClock } from '../support/clocks.ts'

for (const when of ['before', 'after'] as const) {
  test(`audit: a commit whose reply is lost ${when} it happened is recorded exactly if it happened, and no chain has a gap`, async (t) => {
    const url = await openMigratedDatabase(t)
    const proxy = await openChaosProxy(t, url)
    const server = await openTestServer(t, {
      env: { DATABASE_URL: proxy.url, GRANTOR_SECRET: 'a root secret that is long enough for it' },
      clock: openSteadyClock(),
    })
    await registerClient(server)
    const happened = proxy.cutAtCommit(when)
    assert.equal((await postJson(server, '/v2/oauth/register', {})).statusCode, 503)
    await happened
    await registerClient(server)
    await registerClient(server)
    const { store } = server.context
    const clients = await store.listClients({ before: undefined, limit: 10 })
    assert.equal(clients.length, when === 'after' ? 4 : 3)
    const links = await listLinks(store, 0 as EpochMs)
    const recorded = eventsOf(links).flatMap(({ event, clientId }) => (event === 'client.registered' ? [clientId] : []))
    assert.deepEqual(new Set(recorded), new Set(clients.map(({ id }) => id)))
    assert.equal(recorded.length, clients.length)
    assert.ok(new Set(links.map(({ chainId }) => chainId)).size >= 2)
    assert.deepEqual((await verifyAudit(server.context, [])).faults, [])
  })
}

test('audit: an operation whose event cannot be written does not happen', async (t) => {
  const server = await openTestServer(t)
  const database = new DatabaseSync(databasePath(server), { timeout: 5000 })
  t.after(() => database.close())
  database.exec('alter table audit_links rename to gone')
  assert.equal((await postJson(server, '/v2/oauth/register', {})).statusCode, 500)
  assert.deepEqual(await server.context.store.listClients({ before: undefined, limit: 10 }), [])
  database.exec('alter table gone rename to audit_links')
  await registerClient(server)
  assert.equal((await server.context.store.listClients({ before: undefined, limit: 10 })).length, 1)
  assert.deepEqual((await verifyAudit(server.context, [])).faults, [])
})
