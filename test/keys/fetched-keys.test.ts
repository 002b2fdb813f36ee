import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CLIENT_KEY_TIMES, openFetchedKeys } from '../../src/keys/fetched-keys.ts'
import { makeClientKey } from '../../tools/client-assertion.ts'
import { getDocument, openClient, usualBudgets } from '../outbound/open-client.ts'
import { openWebHost, sendJson } from '../support/hosts/web-host.ts'

const STRANGER = '203.0.113.9'

for (const way of ['current', 'renewed'] as const) {
  test(`OUT-13: a network that used up its rate does not keep the keys of a client from being renewed for others (${way})`, async (t) => {
    const keys = { keys: [makeClientKey('ES256').jwk] }
    const host = await openWebHost(t, {}, sendJson(keys, { 'cache-control': 'max-age=60' }))
    const other = await openWebHost(t, {}, sendJson({}))
    let now = Date.now()
    const clock = () => now as never
    const budgets = usualBudgets()
    const client = openClient({ budgets, clock })
    const fetched = openFetchedKeys(client, clock, CLIENT_KEY_TIMES)
    const uri = `http://localhost:${host.port}/keys`
    const first = await fetched.current(uri, '192.0.2.1')
    assert.ok(first.kind === 'found')
    const ask = (network: string) =>
      way === 'current' ? fetched.current(uri, network) : fetched.renewed(uri, first.set, network)
    now += 12 * 60_000
    for (let index = 0; index < 30; index += 1)
      await getDocument(client, `http://localhost:${other.port}/${index}`, STRANGER)
    while (budgets.take('outbound-renewal', STRANGER, clock()).isWithin);
    assert.equal((await ask(STRANGER))?.kind, 'limited')
    assert.equal(host.requests.length, 1)
    assert.equal((await ask('192.0.2.1'))?.kind, 'found')
    assert.equal(host.requests.length, 2)
  })
}

for (const way of ['current', 'renewed'] as const) {
  test(`OUT-13: a network above its rate does not affect another one that requests the keys at the same time (${way})`, async (t) => {
    const host = await openWebHost(t, {}, sendJson({ keys: [makeClientKey('ES256').jwk] }))
    const other = await openWebHost(t, {}, sendJson({}))
    let now = Date.now()
    const clock = () => now as never
    const client = openClient({ budgets: usualBudgets(), clock })
    const fetched = openFetchedKeys(client, clock, CLIENT_KEY_TIMES)
    const uri = `http://localhost:${host.port}/keys`
    const known = way === 'renewed' ? await fetched.current(uri, '192.0.2.1') : undefined
    now += 61_000
    for (let index = 0; index < 30; index += 1)
      await getDocument(client, `http://localhost:${other.port}/${index}`, STRANGER)
    const before = known?.kind === 'found' ? known.set : undefined
    const ask = (network: string) =>
      before === undefined ? fetched.current(uri, network) : fetched.renewed(uri, before, network)
    const [, found] = await Promise.all([ask(STRANGER), ask('192.0.2.1')])
    assert.ok(found?.kind === 'found')
    assert.notEqual(found.set, before)
  })
}

test('CA-11: a signature that the previous keys do not verify is tried with keys that another request has fetched', async (t) => {
  const host = await openWebHost(t, {}, sendJson({ keys: [makeClientKey('ES256').jwk] }))
  let now = Date.now()
  const clock = () => now as never
  const fetched = openFetchedKeys(openClient({ budgets: usualBudgets(), clock }), clock, CLIENT_KEY_TIMES)
  const uri = `http://localhost:${host.port}/keys`
  const before = await fetched.current(uri, '192.0.2.1')
  assert.ok(before.kind === 'found')
  now += 31_000
  const renewed = await fetched.renewed(uri, before.set, '192.0.2.1')
  assert.ok(renewed?.kind === 'found' && renewed.set !== before.set)
  assert.equal((await fetched.renewed(uri, renewed.set, '192.0.2.1'))?.kind, 'paused')
  assert.deepEqual(await fetched.renewed(uri, before.set, '192.0.2.1'), renewed)
  assert.equal(host.requests.length, 2)
})
