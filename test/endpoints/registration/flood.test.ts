import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import type { Response as LightMyRequestResponse } from 'light-my-request'
import { createInitialToken } from '../../../src/admin/client/initial-token.ts'
import { DEFAULT_TEMPLATE } from '../../../src/protocol/client/registration-template.ts'
import { postJson } from '../../../tools/flow.ts'
import { assertError } from '../../support/error-answer.ts'
import { openTestServer, type TestServer } from '../../support/server.ts'
import { openStillClock } from '../../support/clocks.ts'
import { assertStoreUnchanged } from '../../support/store/dump.ts'

/** A rate of 2 for each network: 20 new clients a minute for a host, 200 for the server, half of both divided fairly. */
const ENV = { GRANTOR_REGISTRATION_RATE: '2', GRANTOR_TRUST_PROXY: '127.0.0.1' }
const HOSTILE = { redirect_uris: ['https://evil.example/cb'] }
const SHARED = { token_endpoint_auth_method: 'none', redirect_uris: ['https://app.example/cb'] }

function open(t: TestContext): Promise<TestServer> {
  return openTestServer(t, { clock: openStillClock(), env: ENV })
}

function register(
  server: TestServer,
  network: string,
  body: object,
  headers: Readonly<Record<string, string>> = {},
): Promise<LightMyRequestResponse> {
  const inject: TestServer['inject'] = (request) =>
    server.inject({ ...request, headers: { ...request.headers, 'x-forwarded-for': network, ...headers } })
  return postJson({ inject }, '/v2/oauth/register', body)
}

/** Registrations from `count` networks of one /16. Returns the last answer. */
async function flood(server: TestServer, count: number, bodyOf: (index: number) => object) {
  let last: LightMyRequestResponse | undefined
  for (let index = 0; index < count; index += 1) last = await register(server, `198.51.${index % 250}.7`, bodyOf(index))
  return last ?? assert.fail()
}

test('FLOOD-01: when the budget of a redirect host is used up, clients with another host still register', async (t) => {
  const server = await open(t)
  await flood(server, 30, () => HOSTILE)
  const refused = await assertStoreUnchanged(server, () => register(server, '198.51.99.8', HOSTILE))
  assertError(refused, 429, 'temporarily_unavailable')
  assert.match(String(refused.headers['ratelimit-policy']), /^"registration-host";q=10;w=60$/)
  const both = { redirect_uris: ['https://app.example/cb', 'https://evil.example/cb'] }
  assertError(await register(server, '198.51.99.9', both), 429, 'temporarily_unavailable')
  assert.equal((await register(server, '198.51.99.9', { redirect_uris: ['https://app.example/cb'] })).statusCode, 201)
  assert.equal((await register(server, '203.0.113.1', HOSTILE)).statusCode, 201, 'A network outside the flood.')
  server.clock.advance(120_000)
  assert.equal((await register(server, '198.51.99.8', HOSTILE)).statusCode, 201)
})

test('FLOOD-03: loopback and private-use redirect URIs have no budget of a host', async (t) => {
  const server = await open(t)
  for (const [place, uri] of ['http://127.0.0.1:4000/cb', 'http://localhost/cb', 'com.example.app:/cb'].entries()) {
    for (let index = 0; index < 25; index += 1) {
      const answer = await register(server, `192.${place}.${index}.1`, { redirect_uris: [uri] })
      assert.equal(answer.statusCode, 201, answer.body)
    }
  }
})

test('FLOOD-03: a program whose shared client is stored registers while the budgets are used up', async (t) => {
  const server = await open(t)
  const first = await register(server, '192.0.2.1', SHARED)
  const last = await flood(server, 240, (index) => ({ redirect_uris: [`https://h${index}.example/cb`] }))
  assertError(last, 429, 'temporarily_unavailable')
  const again = await register(server, '198.51.99.9', SHARED)
  assert.equal(again.statusCode, 201)
  assert.equal(again.json().client_id, first.json().client_id)
  assertError(
    await register(server, '198.51.99.9', { ...SHARED, client_name: 'Another' }),
    429,
    'temporarily_unavailable',
  )
})

test('FLOOD-03: repeated registrations of a shared client use up nothing', async (t) => {
  const server = await open(t)
  for (let index = 0; index < 300; index += 1)
    assert.equal((await register(server, `192.0.${index % 250}.${index % 199}`, SHARED)).statusCode, 201)
  assert.equal((await register(server, '203.0.113.9', { redirect_uris: ['https://app.example/cb'] })).statusCode, 201)
})

test('FLOOD-03: a client with an initial access token registers while the budgets are used up', async (t) => {
  const server = await open(t)
  await flood(server, 30, () => HOSTILE)
  const input = { name: 'A pipeline', uses: 1, days: 1, template: DEFAULT_TEMPLATE }
  const { token } = await createInitialToken(server.context, input)
  const answer = await register(server, '198.51.99.9', HOSTILE, { authorization: `Bearer ${token}` })
  assert.equal(answer.statusCode, 201, answer.body)
})
