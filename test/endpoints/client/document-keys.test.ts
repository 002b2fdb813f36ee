import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { decodeJwt } from 'jose'
import { makeClientKey } from '../../../tools/client-assertion.ts'
import {
  authorizeUrl,
  obtainCode,
  postForm,
  REDIRECT_URI,
  requestToken,
  VERIFIER,
  type Tokens,
} from '../../../tools/flow.ts'
import { createAda } from '../../support/accounts.ts'
import { declareApi, JWT_API, knowApis } from '../../support/apis.ts'
import { authentication, type Differing, type KeyClient } from '../../support/key-clients.ts'
import { openDocumentHost, type DocumentHost } from '../../support/hosts/document-host.ts'
import { evaluateDomain } from '../../support/domains.ts'
import { assertError } from '../../support/error-answer.ts'
import { openTestServer, type TestServer } from '../../support/server.ts'
import { assertStoreUnchanged } from '../../support/store/dump.ts'
import { isActive } from '../../support/token-questions.ts'

const HOUR_MS = 3_600_000
const key = makeClientKey('ES256')
const WITH_KEYS = {
  token_endpoint_auth_method: 'private_key_jwt',
  jwks: { keys: [key.jwk] },
  grant_types: ['authorization_code', 'refresh_token', 'client_credentials'],
}

async function open(t: TestContext) {
  const server = await openTestServer(t)
  await createAda(server)
  const host = await openDocumentHost(t)
  host.publish(WITH_KEYS)
  return { server, host, client: { client: host.client(), key } }
}

function ask(server: TestServer, client: KeyClient, form: Record<string, string>, differing?: Differing) {
  return postForm(server, '/v2/oauth/token', { ...form, ...authentication(server, client, differing) })
}

const MACHINE = { grant_type: 'client_credentials' }

function isDown(host: DocumentHost, status: number): void {
  host.answer((_request, response) => void response.writeHead(status).end())
}

test('RFC 7523 §3, CIMD-13: a client with keys in its document gets a token for itself, whose subject is the URL', async (t) => {
  const { server, host, client } = await open(t)
  const url = client.client.client_id
  const token = (await ask(server, client, MACHINE)).json<Tokens>().access_token
  assert.deepEqual([decodeJwt(token).sub, decodeJwt(token)['client_id']], [url, url])
  const answer = await postForm(server, '/v2/oauth/introspect', { token, ...authentication(server, client) })
  assert.partialDeepStrictEqual(answer.json(), { active: true, sub: url, client_id: url })
  assert.equal((await ask(server, client, MACHINE)).statusCode, 200)
  assert.equal(host.requests.length, 1)
})

test('a token request without an assertion, or with one that is not acceptable, fetches nothing', async (t) => {
  const { server, host, client } = await open(t)
  const { client_id } = client.client
  const requests = [
    () => requestToken(server, client.client, MACHINE),
    () => requestToken(server, { client_id, client_secret: 'x' }, MACHINE),
    () => ask(server, client, MACHINE, { claims: { aud: 'https://other.example' } }),
    () => ask(server, client, MACHINE, { claims: { exp: 1 } }),
    () => ask(server, client, MACHINE, { claims: { sub: 'https://other.example/client.json' } }),
    () => ask(server, client, MACHINE, { header: { alg: 'HS256' } }),
  ]
  for (const request of requests) assertError(await assertStoreUnchanged(server, request), 401, 'invalid_client')
  assert.equal(host.connections(), 0)
})

test('CIMD-05: new keys of a document are used as soon as the stored copy is no longer fresh', async (t) => {
  const { server, host, client } = await open(t)
  assert.equal((await ask(server, client, MACHINE)).statusCode, 200)
  const next = makeClientKey('EdDSA')
  host.publish({ ...WITH_KEYS, jwks: { keys: [next.jwk] } })
  const renewed = { client: client.client, key: next }
  assertError(await ask(server, renewed, MACHINE), 401, 'invalid_client')
  server.clock.advance(HOUR_MS)
  assert.equal((await ask(server, renewed, MACHINE)).statusCode, 200)
  assertError(await ask(server, client, MACHINE), 401, 'invalid_client')
  assert.equal(host.requests.length, 2)
})

test('CIMD-11: while the host is down the stored keys are used for a day, and then the client gets 503 and keeps its tokens', async (t) => {
  const { server, host, client } = await open(t)
  const tokens = await obtainTokens(server, client)
  isDown(host, 503)
  server.clock.advance(20 * HOUR_MS)
  const refreshed = await ask(server, client, refreshWith(tokens))
  assert.equal(refreshed.statusCode, 200)
  server.clock.advance(6 * HOUR_MS)
  const token = refreshWith(refreshed.json<Tokens>())
  assertError(await assertStoreUnchanged(server, () => ask(server, client, token)), 503, 'temporarily_unavailable')
  isDown(host, 404)
  assertError(await assertStoreUnchanged(server, () => ask(server, client, token)), 503, 'temporarily_unavailable')
  host.publish(WITH_KEYS)
  assert.equal((await ask(server, client, token)).statusCode, 200)
})

test('CIMD-12: a client that publishes that it no longer has keys loses its tokens', async (t) => {
  const { server, host, client } = await open(t)
  host.publish(WITH_KEYS, { 'cache-control': 'max-age=1' })
  const api = await declareApi(server, JWT_API)
  knowApis(server)
  const tokens = await obtainTokens(server, client, { resource: JWT_API, scope: 'read' })
  const machine = (await ask(server, client, { ...MACHINE, resource: JWT_API })).json<Tokens>()
  const active = () => Promise.all([tokens, machine].map((one) => isActive(server, api, one.access_token)))
  assert.deepEqual(await active(), [true, true])
  host.publish({})
  server.clock.advance(301_000)
  await server.inject({ method: 'GET', url: authorizeUrl(client.client) })
  assert.deepEqual(await active(), [false, false])
  assertError(await requestToken(server, client.client, refreshWith(tokens)), 400, 'invalid_grant')
})

test('CIMD-14: a client of a blocked domain gets no tokens, even while its document is fresh', async (t) => {
  const { server, host } = await open(t)
  const client = { client: { client_id: `http://127.0.0.1:${host.port}/client.json` }, key }
  assert.equal((await ask(server, client, MACHINE)).statusCode, 200)
  await evaluateDomain(server, '127.0.0.1', 'blocked')
  for (const later of [0, HOUR_MS]) {
    server.clock.advance(later)
    assertError(await assertStoreUnchanged(server, () => ask(server, client, MACHINE)), 401, 'invalid_client')
  }
  assert.match(server.log(), /"reason":"client_not_allowed"/)
  assert.equal(host.requests.length, 1)
})

function refreshWith({ refresh_token = '' }: Tokens): Record<string, string> {
  return { grant_type: 'refresh_token', refresh_token }
}

async function obtainTokens(server: TestServer, client: KeyClient, parameters: Record<string, string> = {}) {
  const code = await obtainCode(server, client.client, parameters)
  const form = { grant_type: 'authorization_code', code, redirect_uri: REDIRECT_URI, code_verifier: VERIFIER }
  const response = await ask(server, client, form)
  assert.equal(response.statusCode, 200, response.body)
  return response.json<Tokens>()
}
