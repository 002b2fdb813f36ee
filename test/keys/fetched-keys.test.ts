import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openFetchedKeys } from '../../src/keys/fetched-keys.ts'
import { makeClientKey } from '../../tools/client-assertion.ts'
import { getDocument, openClient, usualBudgets } from '../outbound/open-client.ts'
import { openWebHost, sendJson } from '../support/web-host.ts'

const STRANGER = '203.0.113.9'

for (const way of ['current', 'renewed'] as const) {
  test(`OUT-13: a network that used up its rate does not keep the keys of a client from being renewed for others (${way})`, async (t) => {
    const keys = { keys: [makeClientKey('ES256').jwk] }
    const host = await openWebHost(t, {}, sendJson(keys, { 'cache-control': 'max-age=60' }))
    const other = await openWebHost(t, {}, sendJson({}))
    let now = Date.now()
    const clock = () => now as never
    const client = openClient({ budgets: usualBudgets(), clock })
    const fetched = openFetchedKeys(client, clock)
    const uri = `http://localhost:${host.port}/keys`
    assert.equal((await fetched.current(uri, '192.0.2.1')).kind, 'found')
    now += 61_000
    for (let index = 0; index < 30; index += 1)
      await getDocument(client, `http://localhost:${other.port}/${index}`, STRANGER)
    assert.equal((await fetched[way](uri, STRANGER))?.kind, 'found')
    assert.equal(host.requests.length, 1)
    assert.equal((await fetched[way](uri, '192.0.2.1'))?.kind, 'found')
    assert.equal(host.requests.length, 2)
  })
}
