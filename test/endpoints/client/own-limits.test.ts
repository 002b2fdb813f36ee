import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import type { Response as LightMyRequestResponse } from 'light-my-request'
import { makeClientKey } from '../../../tools/client-assertion.ts'
import { authorizeUrl, REDIRECT_URI, registerClient } from '../../../tools/flow.ts'
import { assertError } from '../../support/error-answer.ts'
import { openStillClock } from '../../support/clocks.ts'
import { authentication, type KeyClient } from '../../support/key-clients.ts'
import { openDocumentHost, type DocumentHost } from '../../support/hosts/document-host.ts'
import { openWebHost, sendJson } from '../../support/hosts/web-host.ts'
import { openTestServer, type TestServer } from '../../support/server.ts'
import { assertStoreUnchanged } from '../../support/store/dump.ts'

const HOUR_MS = 3_600_000
/** What this server sends in a minute because of one network. */
const RATE = 30
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
    const method = { token_endpoint_auth_method: 'private_key_jwt', jwks_uri: `http://localhost:${host.port}/jwks` }
    const client = await registerClient(server, method)
    assert.equal((await requestToken(server, { client, key: withdrawnKey }, OTHER)).statusCode, 200)
    keys = [newKey]
    server.clock.advance(laterMs)
    await spend(server, strangers)
    const { length } = host.requests
    // At the same time, too: no request answers from the copy while another one waits.
    const key = moment === 'is fresh' ? newKey : withdrawnKey
    const answers = await Promise.all([1, 2, 3].map(() => requestToken(server, { client, key }, SPENDER)))
    answers.forEach(assertOwnLimit)
    assert.equal(host.requests.length, length)
    assert.match(server.log(), /"reason":"own_limit"/)
    assert.equal((await requestToken(server, { client, key: newKey }, OTHER)).statusCode, 200)
    assertError(await requestToken(server, { client, key: withdrawnKey }, OTHER), 401, 'invalid_client')
    assertError(await requestToken(server, { client, key: withdrawnKey }, SPENDER), 401, 'invalid_client')
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
  const { length } = host.requests
  const refused = await assertStoreUnchanged(server, () => authorize(server, id, SPENDER))
  assert.equal(refused.statusCode, 503)
  assert.ok(Number(refused.headers['retry-after']) >= 1)
  assert.match(refused.body, /<h1>/)
  assert.equal(host.requests.length, length)
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
  assertOwnLimit(await requestToken(server, { client, key: withdrawnKey }, SPENDER))
  assertError(await requestToken(server, { client, key: withdrawnKey }, OTHER), 401, 'invalid_client')
})
