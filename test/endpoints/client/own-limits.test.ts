import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import type { Response as LightMyRequestResponse } from 'light-my-request'
import { makeClientKey } from '../../../tools/client-assertion.ts'
import { authorizeUrl, REDIRECT_URI, registerClient, type RegisteredClient } from '../../../tools/flow.ts'
import { assertError } from '../../support/error-answer.ts'
import { openStillClock } from '../../support/clocks.ts'
import { authentication, type KeyClient } from '../../support/key-clients.ts'
import { openDocumentHost, type DocumentHost } from '../../support/hosts/document-host.ts'
import { openWebHost, sendJson, type WebHost } from '../../support/hosts/web-host.ts'
import { openTestServer, type TestServer } from '../../support/server.ts'
import { assertStoreUnchanged } from '../../support/store/dump.ts'

const HOUR_MS = 3_600_000
const MINUTE_MS = 60_000
/** What this server sends in a minute because of one network, and the renewals of copies besides. */
const RATE = 30
const RENEWALS = 300
const SPENDER = '203.0.113.9'
const OTHER = '192.0.2.1'

const newKey = makeClientKey('ES256', { kid: 'new' })
const withdrawnKey = makeClientKey('ES256', { kid: 'withdrawn' })

async function open(t: TestContext): Promise<{ readonly server: TestServer; readonly strangers: DocumentHost }> {
  return { server: await openTestServer(t, { clock: openStillClock() }), strangers: await openDocumentHost(t) }
}

function authorize(server: TestServer, client_id: string, remoteAddress: string, redirect_uri = REDIRECT_URI) {
  return server.inject({ method: 'GET', url: authorizeUrl({ client_id }, { redirect_uri }), remoteAddress })
}

/** A network makes this server send as many requests as it may, to a host of its own. */
async function spend(server: TestServer, strangers: DocumentHost): Promise<void> {
  for (let index = 0; index < RATE; index += 1)
    await authorize(server, strangers.client(`/${server.clock.now()}-${index}.json`).client_id, SPENDER)
}

/** A network makes this server send as many renewals as it may. */
function spendRenewals({ context, clock }: TestServer): void {
  let sent = 0
  while (context.budgets.take('outbound-renewal', SPENDER, clock.now()).isWithin) sent += 1
  assert.equal(sent, RENEWALS)
}

function requestToken(server: TestServer, app: KeyClient, remoteAddress: string): Promise<LightMyRequestResponse> {
  const form = {
    grant_type: 'client_credentials',
    ...authentication(server, app, { header: { kid: app.key.jwk['kid'] } }),
  }
  return server.inject({
    method: 'POST',
    url: '/v2/oauth/token',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    payload: new URLSearchParams(form).toString(),
    remoteAddress,
  })
}

function registerAt(server: TestServer, host: WebHost, query: string): Promise<RegisteredClient> {
  const jwks_uri = `http://localhost:${host.port}/jwks${query}`
  return registerClient(server, { token_endpoint_auth_method: 'private_key_jwt', jwks_uri })
}

function assertOwnLimit(answer: LightMyRequestResponse): void {
  assertError(answer, 503, 'temporarily_unavailable')
  assert.ok(Number(answer.headers['retry-after']) >= 1)
}

for (const [moment, laterMs] of [
  ['is no longer fresh', HOUR_MS],
  ['is fresh', 31_000],
] as const) {
  test(`OUT-15: a key that a client removed does not count again for a network above its rate (the copy ${moment})`, async (t) => {
    const { server, strangers } = await open(t)
    let keys = [withdrawnKey]
    const host = await openWebHost(t, {}, (request, response) =>
      sendJson({ keys: keys.map(({ jwk }) => jwk) }, { 'cache-control': 'max-age=3600' })(request, response),
    )
    const client = await registerAt(server, host, '')
    assert.equal((await requestToken(server, { client, key: withdrawnKey }, OTHER)).statusCode, 200)
    keys = [newKey]
    server.clock.advance(laterMs)
    await spend(server, strangers)
    const { length } = host.requests
    // At the same time, too: no request answers from the copy while another one waits.
    const key = moment === 'is fresh' ? newKey : withdrawnKey
    const answers = await Promise.all([1, 2, 3].map(() => requestToken(server, { client, key }, SPENDER)))
    answers.forEach(assertOwnLimit)
    assert.equal(host.requests.length, moment === 'is fresh' ? length : length + 1)
    assert.match(server.log(), /"reason":"own_limit"/)
    assert.equal((await requestToken(server, { client, key: newKey }, OTHER)).statusCode, 200)
    server.clock.advance(31_000)
    assertError(await requestToken(server, { client, key: withdrawnKey }, OTHER), 401, 'invalid_client')
    assertOwnLimit(await requestToken(server, { client, key: withdrawnKey }, SPENDER))
  })
}

test('OUT-15: a redirect URI that a document no longer has does not count again for a network above its rate', async (t) => {
  const { server, strangers } = await open(t)
  const host = await openDocumentHost(t)
  const { client_id: id } = host.client()
  assert.equal((await authorize(server, id, OTHER)).statusCode, 303)
  host.publish({ redirect_uris: ['https://app.example/other'] })
  server.clock.advance(HOUR_MS)
  await spend(server, strangers)
  const refused = await assertStoreUnchanged(server, () =>
    authorize(server, host.client('/new.json').client_id, SPENDER),
  )
  assert.equal(refused.statusCode, 503)
  assert.ok(Number(refused.headers['retry-after']) >= 1)
  assert.match(refused.body, /<h1>/)
  assert.equal((await authorize(server, id, SPENDER)).statusCode, 400)
  assert.equal((await authorize(server, id, OTHER)).statusCode, 400)
  assert.equal((await authorize(server, id, OTHER, 'https://app.example/other')).statusCode, 303)
})

test('OUT-15: the keys of a document that was changed do not count again for a network above its rate', async (t) => {
  const { server, strangers } = await open(t)
  const host = await openDocumentHost(t)
  const publish = (key: typeof newKey): void =>
    host.publish({
      token_endpoint_auth_method: 'private_key_jwt',
      grant_types: ['client_credentials'],
      jwks: { keys: [key.jwk] },
    })
  publish(withdrawnKey)
  const client = host.client()
  assert.equal((await requestToken(server, { client, key: withdrawnKey }, OTHER)).statusCode, 200)
  publish(newKey)
  server.clock.advance(HOUR_MS)
  await spend(server, strangers)
  assertError(await requestToken(server, { client, key: withdrawnKey }, SPENDER), 401, 'invalid_client')
})

test('OUT-15: keys that a limit keeps from being renewed serve for ten minutes past their freshness, then the answer is 503', async (t) => {
  const server = await openTestServer(t, { clock: openStillClock() })
  const host = await openWebHost(t, {}, sendJson({ keys: [newKey.jwk] }, { 'cache-control': 'max-age=600' }))
  const app = { client: await registerAt(server, host, ''), key: newKey }
  assert.equal((await requestToken(server, app, OTHER)).statusCode, 200)
  server.clock.advance(19 * MINUTE_MS)
  spendRenewals(server)
  assert.equal((await requestToken(server, app, SPENDER)).statusCode, 200)
  server.clock.advance(2 * MINUTE_MS)
  spendRenewals(server)
  assertOwnLimit(await requestToken(server, app, SPENDER))
  assert.equal(host.requests.length, 1)
  assert.equal((await requestToken(server, app, OTHER)).statusCode, 200)
  assert.equal(host.requests.length, 2)
})

test('OUT-15: a document that a limit keeps from being renewed serves for ten minutes past its freshness, unless it was gone', async (t) => {
  const server = await openTestServer(t, { clock: openStillClock() })
  const host = await openDocumentHost(t)
  const [{ client_id: id }, { client_id: gone }] = [host.client(), host.client('/gone.json')]
  for (const one of [id, gone]) assert.equal((await authorize(server, one, OTHER)).statusCode, 303)
  server.clock.advance(HOUR_MS + 9 * MINUTE_MS)
  host.answer((_request, response) => void response.writeHead(404).end())
  assert.notEqual((await authorize(server, gone, OTHER)).statusCode, 303)
  spendRenewals(server)
  while (server.context.budgets.take('outbound', SPENDER, server.clock.now()).isWithin);
  assert.equal((await authorize(server, gone, SPENDER)).statusCode, 503)
  assert.equal((await authorize(server, id, SPENDER)).statusCode, 303)
  server.clock.advance(2 * MINUTE_MS)
  spendRenewals(server)
  assert.equal((await authorize(server, id, SPENDER)).statusCode, 503)
  assert.equal(host.requests.length, 3)
})

test('OUT-13: wrong signatures for other keys at a host lock out no client whose keys are there', async (t) => {
  const server = await openTestServer(t, { clock: openStillClock() })
  const host = await openWebHost(t, {}, sendJson({ keys: [newKey.jwk] }))
  const honest = { client: await registerAt(server, host, ''), key: newKey }
  const others: { readonly app: KeyClient; readonly from: string }[] = []
  for (let index = 0; index < 40; index += 1) {
    const app = { client: await registerAt(server, host, `?${index}`), key: withdrawnKey }
    others.push({ app, from: `198.${index % 24}.0.1` })
  }
  const attack = async () => {
    for (const { app, from } of others) await requestToken(server, app, from)
  }
  assert.equal((await requestToken(server, honest, OTHER)).statusCode, 200)
  for (let minute = 0; minute < 12; minute += 1) {
    server.clock.advance(31_000)
    await attack()
    server.clock.advance(31_000)
    await attack()
    assert.equal((await requestToken(server, honest, OTHER)).statusCode, 200, String(minute))
  }
})

test('OUT-13: a hundred clients with keys at one host and behind one address are all served', async (t) => {
  const server = await openTestServer(t, { clock: openStillClock() })
  const host = await openWebHost(t, {}, sendJson({ keys: [newKey.jwk] }))
  const apps: KeyClient[] = []
  for (let index = 0; index < 100; index += 1) {
    if (index % 20 === 0) server.clock.advance(MINUTE_MS)
    const app = { client: await registerAt(server, host, `?${index}`), key: newKey }
    assert.equal((await requestToken(server, app, OTHER)).statusCode, 200)
    apps.push(app)
  }
  server.clock.advance(HOUR_MS)
  const statuses: number[] = []
  for (const app of apps) statuses.push((await requestToken(server, app, OTHER)).statusCode)
  assert.deepEqual(new Set(statuses), new Set([200]))
  assert.equal(host.requests.length, 200)
})
