import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DatabaseSync } from 'node:sqlite'
import { join } from 'node:path'
import type { InjectOptions, Response as LightMyRequestResponse } from 'light-my-request'
import { assertError, problemsOf } from '../../support/error-answer.ts'
import { postJson } from '../../../tools/flow.ts'
import { assertStoreUnchanged } from '../../support/store/dump.ts'
import { openTestServer, type TestServer } from '../../support/server.ts'
import { openStillClock } from '../../support/clocks.ts'

const PATH = '/v2/oauth/register'

function post(
  server: TestServer,
  payload: string | Buffer,
  headers: NonNullable<InjectOptions['headers']> = {},
): Promise<LightMyRequestResponse> {
  return server.inject({
    method: 'POST',
    url: PATH,
    headers: { 'content-type': 'application/json', ...headers },
    payload,
  })
}

test('decision 0005: a registration returns 201 with the client and must not be cached', async (t) => {
  const server = await openTestServer(t)
  const answer = await post(server, '{}')
  assert.equal(answer.statusCode, 201)
  assert.equal(answer.headers['content-type'], 'application/json')
  assert.equal(answer.headers['cache-control'], 'no-store')
  assert.equal(answer.headers['pragma'], 'no-cache')
})

test('decision 0005: a body that is not JSON is a 422 in both error formats', async (t) => {
  const server = await openTestServer(t)
  for (const body of [
    '',
    '{',
    '{"a":1,}',
    'redirect_uris=x',
    "{'a':1}",
    '\ufeff\ufeff{}',
    '{}{}',
    'NaN',
    Buffer.from([0xff]),
    '{"a":"\n"}',
  ]) {
    const seen = assertError(await post(server, body), 422, 'invalid_client_metadata')
    assert.deepEqual(problemsOf(seen), ['body:json_invalid'])
  }
})

test('RFC 8259 §8.1: a byte order mark before a registration is ignored', async (t) => {
  const server = await openTestServer(t)
  const answer = await post(server, '\ufeff{"client_name":"Marked"}')
  assert.equal(answer.statusCode, 201, answer.body)
  assert.equal(answer.json().client_name, 'Marked')
})

test('decision 0005: a body that is not an object is a 422', async (t) => {
  const server = await openTestServer(t)
  for (const body of ['[]', 'null', '"x"', '5', 'true']) {
    const seen = assertError(await post(server, body), 422, 'invalid_client_metadata')
    assert.deepEqual(problemsOf(seen), ['body:object_type'])
  }
})

test('decision 0005: all problems are listed at once, of policy and of syntax', async (t) => {
  const server = await openTestServer(t)
  const body = {
    redirect_uris: ['https://a.test/#x', 7, 'javascript:alert(1)'],
    client_name: {},
    logo_uri: 'http://a.test/',
    grant_types: 'authorization_code',
    contacts: ['nobody'],
  }
  const seen = assertError(await postJson(server, PATH, body), 422, 'invalid_client_metadata')
  assert.deepEqual(problemsOf(seen), [
    'body.client_name:string_type',
    'body.contacts.0:value_error',
    'body.grant_types:list_type',
    'body.logo_uri:url_scheme',
    'body.redirect_uris.0:value_error',
    'body.redirect_uris.1:string_type',
    'body.redirect_uris.2:value_error',
  ])
})

test('decision 0005: well-formed metadata that is not allowed is a 400 that names every field', async (t) => {
  const server = await openTestServer(t)
  const body = { token_endpoint_auth_method: 'tls_client_auth', tos_uri: 'data:x', software_id: 'x'.repeat(257) }
  const seen = assertError(await postJson(server, PATH, body), 400, 'invalid_client_metadata')
  assert.deepEqual(problemsOf(seen), [
    'body.software_id:too_long',
    'body.token_endpoint_auth_method:literal_error',
    'body.tos_uri:url_scheme',
  ])
  const redirect = { ...body, redirect_uris: ['http://a.test/'] }
  const other = assertError(await postJson(server, PATH, redirect), 400, 'invalid_redirect_uri')
  assert.deepEqual(problemsOf(other), [...problemsOf(seen), 'body.redirect_uris.0:value_error'].toSorted())
})

test('RFC 7591 §3.2.2: a fault of a redirect URI has its own error code', async (t) => {
  const server = await openTestServer(t)
  for (const [uri, code] of [
    ['data:x', 'invalid_redirect_uri'],
    ['https://a.test', 'invalid_client_metadata'],
  ] as const)
    assertError(await postJson(server, '/v2/oauth/register', { redirect_uris: [uri], scope: '"' }), 400, code)
})

test('decision 0005: the error repeats the offending value, truncated to 200 characters', async (t) => {
  const server = await openTestServer(t)
  const long = `https://a.test/#${'x'.repeat(300)}`
  const answer = await postJson(server, PATH, { redirect_uris: [long, 'data:x'], client_name: 5, contacts: { a: [1] } })
  const { detail = [] } = assertError(answer, 422, 'invalid_client_metadata')
  const inputs = Object.fromEntries(detail.map(({ loc, input }) => [loc.slice(1).join('.'), input]))
  assert.deepEqual(inputs, {
    'redirect_uris.0': long.slice(0, 200),
    'redirect_uris.1': 'data:x',
    client_name: 5,
    contacts: '{"a":[1]}',
  })
})

test('decision 0005: the offending value is as sent, even in a list with entries of another type', async (t) => {
  const server = await openTestServer(t)
  const answer = await postJson(server, PATH, { grant_types: [5, 'password'] })
  const { detail = [] } = assertError(answer, 422, 'invalid_client_metadata')
  assert.deepEqual(
    detail.map(({ loc, input }) => [loc.join('.'), input]),
    [
      ['body.grant_types.0', 5],
      ['body.grant_types', '[5,"password"]'],
    ],
  )
})

test('decision 0005: ctx has the expected values', async (t) => {
  const server = await openTestServer(t)
  const answer = await postJson(server, PATH, { token_endpoint_auth_method: 'x', client_name: 'x'.repeat(129) })
  const { detail = [] } = assertError(answer, 400, 'invalid_client_metadata')
  assert.deepEqual(
    detail.map(({ ctx }) => ctx),
    [{ expected: ['client_secret_post', 'client_secret_basic', 'none', 'private_key_jwt'] }, { max_length: 128 }],
  )
})

test('decision 0005: another content type is a 415 before the body is parsed', async (t) => {
  const server = await openTestServer(t)
  for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'application/json\ta', 'application/jsonx']) {
    for (const body of ['{}', '{', 'x'.repeat(20_000)]) {
      const seen = assertError(await post(server, body, { 'content-type': type }), 415, 'invalid_client_metadata')
      assert.deepEqual(problemsOf(seen), ['header.content-type:media_type'])
    }
  }
  const missing = await server.inject({ method: 'POST', url: PATH })
  assert.equal(assertError(missing, 415, 'invalid_client_metadata').detail?.[0]?.input, null)
})

test('decision 0005: a body of more than 16 KiB is a 413 before it is parsed, one of 16 KiB is accepted', async (t) => {
  const server = await openTestServer(t)
  const fit = `{"x":"${'x'.repeat(16 * 1024 - 8)}"}`
  assert.equal(fit.length, 16 * 1024)
  assert.equal((await post(server, fit)).statusCode, 201)
  for (const body of [`${fit} `, '{'.repeat(20_000)]) {
    const seen = assertError(await post(server, body), 413, 'invalid_client_metadata')
    assert.deepEqual(problemsOf(seen), ['body:too_large'])
  }
})

test('decision 0005: too many requests are a 429 with Retry-After and RateLimit headers, as JSON', async (t) => {
  const server = await openTestServer(t, { clock: openStillClock(), env: { GRANTOR_REGISTRATION_RATE: '2' } })
  assert.equal((await post(server, '{}')).statusCode, 201)
  assert.equal((await post(server, '{')).statusCode, 422)
  const answer = await assertStoreUnchanged(server, () => post(server, '{}'), '429')
  assertError(answer, 429, 'temporarily_unavailable')
  assert.equal(answer.headers['retry-after'], '30')
  assert.equal(answer.headers['ratelimit-policy'], '"registration";q=2;w=60')
  assert.equal(answer.headers['ratelimit'], '"registration";r=0;t=30')
  server.clock.advance(30_000)
  assert.equal((await post(server, '{}')).statusCode, 201)
})

test('decision 0005: a busy store causes a 503 with Retry-After, and the next request succeeds', async (t) => {
  const server = await openTestServer(t)
  const other = new DatabaseSync(join(server.folder, 'grantor.db'))
  other.exec('begin immediate')
  const answer = await post(server, '{}')
  assertError(answer, 503, 'temporarily_unavailable')
  assert.equal(answer.headers['retry-after'], '1')
  other.exec('rollback')
  other.close()
  assert.equal((await post(server, '{}')).statusCode, 201)
})

test('decision 0005: unknown members are ignored, and of a duplicate name the last value is used', async (t) => {
  const server = await openTestServer(t)
  const answer = await post(server, '{"client_name":5,"x":{"y":[1]},"client_name":"A","client_name":"B"}')
  assert.equal(answer.statusCode, 201)
  assert.equal(answer.json().client_name, 'B')
  assert.ok(!('x' in answer.json()))
})

test('decision 0005: a rejected registration changes nothing', async (t) => {
  const server = await openTestServer(t)
  await post(server, '{}')
  for (const body of [
    '{',
    '[]',
    '{"client_name":5}',
    '{"redirect_uris":["data:x"]}',
    '{"scope":"\\""}',
    '{"__proto__":1}',
  ])
    await assertStoreUnchanged(server, async () => assert.notEqual((await post(server, body)).statusCode, 201), body)
})

test('decision 0005: the query of a registration request is ignored', async (t) => {
  const server = await openTestServer(t)
  for (const query of ['?client_name=x', '?%zz', '?a&a&a'])
    assert.equal((await server.inject({ ...request(), url: PATH + query })).statusCode, 201, query)
})

test('decision 0005: a preflight allows what browser clients send, for any origin and without credentials', async (t) => {
  const server = await openTestServer(t)
  const headers = { origin: 'https://evil.test', 'access-control-request-method': 'POST' }
  const answer = await server.inject({ method: 'OPTIONS', url: PATH, headers })
  assert.equal(answer.statusCode, 204)
  assert.equal(answer.headers['access-control-allow-origin'], '*')
  assert.equal(answer.headers['access-control-allow-methods'], 'POST, GET, HEAD, PUT, DELETE, OPTIONS')
  const allowed = String(answer.headers['access-control-allow-headers']).toLowerCase().split(', ')
  for (const name of ['authorization', 'content-type', 'mcp-protocol-version', 'traceparent', 'tracestate'])
    assert.ok(allowed.includes(name))
  assert.equal(answer.headers['access-control-allow-credentials'], undefined)
})

function request(): InjectOptions {
  return { method: 'POST', headers: { 'content-type': 'application/json' }, payload: '{}' }
}
