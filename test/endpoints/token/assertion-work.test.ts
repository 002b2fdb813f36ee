import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { test } from 'node:test'
import { openStillClock } from '../../support/clocks.ts'
import { makeClientKey, type ClientKey } from '../../../tools/client-assertion.ts'
import { postForm, registerClient } from '../../../tools/flow.ts'
import { assertError, problemsOf } from '../../support/error-answer.ts'
import { authentication, registerKeyClient, type KeyClient } from '../../support/key-clients.ts'
import { openWebHost, sendJson } from '../../support/hosts/web-host.ts'
import { openTestServer, type TestServer } from '../../support/server.ts'

/** CA-15: the work of verifying what a client may have signed, which a caller without its key causes too. */

const FAILURES = 3

async function open(t: Parameters<typeof openTestServer>[0]) {
  const server = await openTestServer(t, {
    clock: openStillClock(),
    env: { GRANTOR_CLIENT_FAILURE_RATE: String(FAILURES) },
  })
  let verified = 0
  const signatures = server.context.clientSignatures as { verify: typeof server.context.clientSignatures.verify }
  const { verify } = signatures
  signatures.verify = (...asked) => {
    verified += 1
    return verify(...asked)
  }
  return { server, verified: () => verified }
}

function ask(server: TestServer, app: KeyClient, header: object = {}) {
  return postForm(server, '/v2/oauth/token', {
    grant_type: 'client_credentials',
    ...authentication(server, app, { header: { ...header } }),
  })
}

function rsaKey(modulusLength: number, members: object = {}): ClientKey {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength })
  return { algorithm: 'RS256', privateKey, jwk: { ...publicKey.export({ format: 'jwk' }), ...members } }
}

test('CA-15: without a failure left an assertion of the client gets 429 before it is verified, and others are answered', async (t) => {
  const { server, verified } = await open(t)
  const app = await registerKeyClient(server)
  const other = await registerKeyClient(server)
  const forged = { ...app, key: makeClientKey('ES256') }
  const statuses: number[] = []
  for (let count = 0; count < 5; count += 1) statuses.push((await ask(server, forged)).statusCode)
  assert.deepEqual([statuses, verified()], [[401, 401, 401, 429, 429], FAILURES])
  const waiting = await ask(server, app)
  assertError(waiting, 429, 'temporarily_unavailable')
  assert.ok(Number(waiting.headers['retry-after']) >= 1)
  assert.equal(verified(), FAILURES)
  assert.equal((await ask(server, other)).statusCode, 200)
  server.clock.advance(60_000 / FAILURES)
  for (let count = 0; count < 5; count += 1) assert.equal((await ask(server, app)).statusCode, 200)
})

test('CA-15: concurrent wrong assertions cause no more verifications than there are failures, after the first', async (t) => {
  const { server, verified } = await open(t)
  const app = await registerKeyClient(server)
  const forged = { ...app, key: makeClientKey('ES256') }
  await ask(server, forged)
  const answers = await Promise.all(Array.from({ length: 40 }, () => ask(server, forged)))
  assert.equal(answers.filter(({ statusCode }) => statusCode === 401).length, FAILURES - 1)
  assert.equal(verified(), FAILURES)
})

test('CA-15: a client that sends many right assertions at once gets no 429', async (t) => {
  const { server } = await open(t)
  const app = await registerKeyClient(server)
  const answers = await Promise.all(Array.from({ length: 40 }, () => ask(server, app)))
  assert.deepEqual(new Set(answers.map(({ statusCode }) => statusCode)), new Set([200]))
})

test('CA-15: an assertion without kid for which more than two keys fit is refused, and the kid of one is enough', async (t) => {
  const { server } = await open(t)
  const keys = ['one', 'two', 'three'].map((kid) => makeClientKey('ES256', { kid }))
  const app = await registerKeyClient(server, { jwks: { keys: keys.map(({ jwk }) => jwk) } }, keys[0])
  assertError(await ask(server, app), 401, 'invalid_client')
  assert.match(server.log(), /"reason":"assertion_key_unnamed"/)
  assert.equal((await ask(server, app, { kid: 'one' })).statusCode, 200)
  const unnamed = [1, 2, 3].map(() => makeClientKey('ES256'))
  const nameless = await registerKeyClient(server, { jwks: { keys: unnamed.map(({ jwk }) => jwk) } }, unnamed[0])
  assertError(await ask(server, nameless, { kid: 'unknown' }), 401, 'invalid_client')
  // A client that replaces its key has two for a while.
  const pair = await registerKeyClient(server, { jwks: { keys: unnamed.slice(1).map(({ jwk }) => jwk) } }, unnamed[2])
  assert.equal((await ask(server, pair)).statusCode, 200)
})

test('CA-15: RSA keys of more than 4,096 bits are refused at registration and update, and ignored at a jwks_uri', async (t) => {
  const { server } = await open(t)
  const [long, fitting] = [rsaKey(4104, { kid: 'long' }), rsaKey(4096, { kid: 'fitting' })]
  const method = { token_endpoint_auth_method: 'private_key_jwt' }
  const app = await registerKeyClient(server, {}, fitting)
  assert.equal((await ask(server, app)).statusCode, 200)
  const metadata = { ...method, jwks: { keys: [fitting.jwk, long.jwk] } }
  const { pathname, search } = new URL(String(app.client['registration_client_uri']))
  const send = (how: 'POST' | 'PUT', url: string, body: object, headers = {}) =>
    server.inject({
      method: how,
      url,
      headers: { 'content-type': 'application/json', ...headers },
      payload: JSON.stringify(body),
    })
  const authorization = `Bearer ${String(app.client['registration_access_token'])}`
  const update = { client_id: app.client.client_id, ...metadata }
  for (const refused of [
    await send('POST', pathname, metadata),
    await send('PUT', pathname + search, update, { authorization }),
  ]) {
    assert.deepEqual(problemsOf(assertError(refused, 400, 'invalid_client_metadata')), ['body.jwks.keys.1:value_error'])
    assert.match(refused.body, /An RSA key must have 2048 to 4096 bits\./)
  }
  const host = await openWebHost(t, {}, sendJson({ keys: [long.jwk, fitting.jwk] }))
  const client = await registerClient(server, { ...method, jwks_uri: `http://localhost:${host.port}/jwks` })
  assert.equal((await ask(server, { client, key: fitting }, { kid: 'fitting' })).statusCode, 200)
  assertError(await ask(server, { client, key: long }, { kid: 'long' }), 401, 'invalid_client')
})
