import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sweep, SWEEP_START } from '../../../src/server/background/sweep.ts'
import {
  authorizeUrl,
  obtainCode,
  obtainTokens,
  PlainBrowser,
  REDIRECT_URI,
  redeem,
  registerClient,
} from '../../../tools/flow.ts'
import { createAda } from '../../support/accounts.ts'
import { openTestServer } from '../../support/server.ts'
import { selectAll } from '../../support/store/dump.ts'
import { assertLocalPage, WHOLE_FILE } from '../../support/authorize-answers.ts'
import { perform } from '../../support/tasks.ts'

const HOUR_MS = 60 * 60 * 1000
const server = await openTestServer(WHOLE_FILE)
await createAda(server)

let made = 0

/** Public metadata that no other test registers. */
function anApp(): object {
  made += 1
  return {
    token_endpoint_auth_method: 'none',
    client_name: `App ${made}`,
    redirect_uris: [REDIRECT_URI, 'http://127.0.0.1/'],
    grant_types: ['authorization_code', 'refresh_token'],
    scope: 'read write',
  }
}

test('REG-21: the same public client, registered a thousand times, is one client with one row', async () => {
  const app = anApp()
  const turned = { ...app, redirect_uris: ['http://127.0.0.1/', REDIRECT_URI], scope: 'write read' }
  const ids = new Set<string>()
  for (let round = 0; round < 20; round += 1) {
    const metadata = round % 2 === 0 ? app : turned
    const clients = await Promise.all(Array.from({ length: 50 }, () => registerClient(server, metadata)))
    for (const { client_id } of clients) ids.add(client_id)
  }
  assert.equal(ids.size, 1)
  const rows = selectAll(server, `select client_id from clients where metadata like '%App ${made}"%'`)
  assert.equal(rows.length, 1)
})

test('REG-21: each response has the metadata as sent, with the time of the first registration', async () => {
  const app = anApp()
  const first = await registerClient(server, app)
  server.clock.advance(5000)
  const turned = { ...app, redirect_uris: ['http://127.0.0.1/', REDIRECT_URI], contacts: null }
  const second = await registerClient(server, turned)
  assert.deepEqual(second, { ...first, redirect_uris: turned.redirect_uris, contacts: null })
  for (const name of ['client_secret', 'registration_client_uri', 'registration_access_token'])
    assert.ok(!(name in second), name)
})

test('REG-21: one byte more is another client, and clients with a secret are never shared', async () => {
  const app = anApp()
  const { client_id } = await registerClient(server, app)
  assert.notEqual((await registerClient(server, { ...app, software_version: '1' })).client_id, client_id)
  const confidential = { ...app, token_endpoint_auth_method: 'client_secret_basic' }
  const [one, two] = [await registerClient(server, confidential), await registerClient(server, confidential)]
  assert.equal(new Set([client_id, one.client_id, two.client_id]).size, 3)
})

test('REG-21, RFC 8252 §7.3: a client with another loopback port at each start is one client, and can use each port', async () => {
  const app = anApp()
  const redirect = (port: number): string => `http://localhost:${port}/callback`
  const clients = []
  for (const port of [51004, 51005, 51006]) {
    const client = await registerClient(server, { ...app, redirect_uris: [redirect(port)] })
    assert.deepEqual(client['redirect_uris'], [redirect(port)], 'A program reads its own port in the answer.')
    clients.push(client)
  }
  assert.equal(new Set(clients.map(({ client_id }) => client_id)).size, 1)
  const [client] = clients
  assert.ok(client !== undefined)
  for (const port of [51004, 51006]) {
    const redirect_uri = redirect(port)
    const code = await obtainCode(server, client, { redirect_uri })
    assert.equal((await redeem(server, client, code, { redirect_uri })).statusCode, 200)
  }
})

test('RFC 6749 §3.1.2.3: a public client must send its loopback redirect_uri, because another program may use the port', async () => {
  const app = { ...anApp(), redirect_uris: ['http://localhost:51004/callback'] }
  const query = { redirect_uri: '' }
  const shared = await registerClient(server, app)
  assertLocalPage(await server.inject({ url: authorizeUrl(shared, query) }))
  const confidential = await registerClient(server, { ...app, token_endpoint_auth_method: 'client_secret_basic' })
  assert.equal((await server.inject({ url: authorizeUrl(confidential, query) })).statusCode, 303)
  const web = await registerClient(server, { ...app, redirect_uris: [REDIRECT_URI] })
  assert.equal((await server.inject({ url: authorizeUrl(web, query) })).statusCode, 303)
})

test('decision 0021: a disabled client is not returned to later registrations', async () => {
  const app = anApp()
  const first = await registerClient(server, app)
  await perform(server.context, 'client.disable', { client_id: first.client_id })
  const second = await registerClient(server, app)
  assert.notEqual(second.client_id, first.client_id)
  await perform(server.context, 'client.enable', { client_id: first.client_id })
  assert.equal((await registerClient(server, app)).client_id, second.client_id)
})

test('decision 0021: a repeated registration keeps the client for another day, and a used client is kept', async () => {
  const [unused, used] = [anApp(), anApp()]
  const { client_id } = await registerClient(server, unused)
  const signedIn = await registerClient(server, used)
  await obtainTokens(server, signedIn)
  server.clock.advance(23 * HOUR_MS)
  assert.equal((await registerClient(server, unused)).client_id, client_id)
  server.clock.advance(23 * HOUR_MS)
  await sweep(server.context, SWEEP_START)
  const page = await new PlainBrowser(server).get(authorizeUrl({ client_id }))
  assert.equal(page.statusCode, 303, 'It is gone, though it was given out less than a day ago.')
  server.clock.advance(3 * HOUR_MS)
  await sweep(server.context, SWEEP_START)
  server.clock.advance(24 * HOUR_MS)
  await sweep(server.context, SWEEP_START)
  assert.notEqual((await registerClient(server, unused)).client_id, client_id)
  assert.equal((await registerClient(server, used)).client_id, signedIn.client_id)
})
