import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { InjectOptions } from 'light-my-request'
import { readConfig } from '../../src/config/config.ts'
import { openTestServer, type TestServer } from '../support/server.ts'
import { openStillClock } from '../support/clocks.ts'
import { assertError } from '../support/error-answer.ts'
import { assertStoreUnchanged } from '../support/store/dump.ts'

const ISSUER = { GRANTOR_ISSUER: 'https://auth.example' }
const PROXIED = { ...ISSUER, GRANTOR_TRUST_PROXY: '10.0.0.0/8, 2001:db8::/32' }
const DIRECT = { ...ISSUER, GRANTOR_HOST: '127.0.0.1' }

function register(server: TestServer, remoteAddress: string, headers: NonNullable<InjectOptions['headers']> = {}) {
  return server.inject({
    method: 'POST',
    url: '/v2/oauth/register',
    remoteAddress,
    headers: { 'content-type': 'application/json', ...headers },
    payload: '{}',
  })
}

test('NET-01: for an https issuer plain http from another machine is refused, without a redirect and without any effect', async (t) => {
  for (const env of [PROXIED, DIRECT]) {
    const server = await openTestServer(t, { env })
    for (const remoteAddress of ['192.0.2.1', '2001:db9::1', '::ffff:192.0.2.1', 'fe80::1%eth0'])
      for (const headers of [{}, { 'x-forwarded-proto': 'https' }, { forwarded: 'proto=https' }]) {
        const answer = await assertStoreUnchanged(server, () => register(server, remoteAddress, headers), remoteAddress)
        assertError(answer, 400, 'invalid_request')
        assert.equal(answer.headers.location, undefined)
      }
  }
})

test('NET-01: X-Forwarded-Proto of a trusted proxy decides whether the request came over TLS', async (t) => {
  const server = await openTestServer(t, { env: PROXIED })
  for (const peer of ['10.1.2.3', '::ffff:10.1.2.3', '2001:db8::7']) {
    const table = [
      [201, { 'x-forwarded-proto': 'https' }],
      [201, { 'x-forwarded-proto': 'https', 'x-forwarded-for': '192.0.2.1' }],
      [201, { 'x-forwarded-proto': 'http, https' }],
      [400, {}],
      [400, { 'x-forwarded-proto': 'http' }],
      [400, { 'x-forwarded-proto': 'https, http' }],
      [400, { 'x-forwarded-proto': '' }],
      [400, { 'x-forwarded-proto': 'httpsx' }],
      [400, { 'x-forwarded-for': '127.0.0.1' }],
    ] as const
    for (const [status, headers] of table)
      assert.equal((await register(server, peer, headers)).statusCode, status, `${peer} ${JSON.stringify(headers)}`)
  }
})

test('NET-01: a process on this machine may use plain http', async (t) => {
  const server = await openTestServer(t, { env: DIRECT })
  for (const peer of ['127.0.0.1', '127.1.2.3', '::1', '::ffff:127.0.0.1'])
    assert.equal((await register(server, peer)).statusCode, 201, peer)
  // The peer is not a trusted proxy, so its forwarding headers are ignored.
  assert.equal((await register(server, '127.0.0.1', { 'x-forwarded-proto': 'http' })).statusCode, 201)
})

test('NET-01: over plain http a page answers with an error page, and health checks are answered', async (t) => {
  const server = await openTestServer(t, { env: DIRECT })
  const get = (url: string) => server.inject({ method: 'GET', url, remoteAddress: '192.0.2.1' })
  const page = await get('/v2/oauth/authorize')
  assert.equal(page.statusCode, 400)
  assert.match(String(page.headers['content-type']), /^text\/html/)
  assert.equal(page.headers.location, undefined)
  // What GRANTOR_TRUST_PROXY has to name, if it is a proxy.
  assert.match(server.log(), /"network":"192\.0\.2\.1","reason":"insecure_transport"/)
  for (const url of ['/health/alive', '/health/ready', '/version']) assert.equal((await get(url)).statusCode, 200, url)
})

test('NET-01: every kind of answer has Strict-Transport-Security for an https issuer, and none for an http issuer', async (t) => {
  for (const env of [DIRECT, {}]) {
    const server = await openTestServer(t, { env })
    const answers = [
      await register(server, '127.0.0.1'),
      await server.inject({ method: 'GET', url: '/v2/oauth/jwks' }),
      await server.inject({ method: 'GET', url: '/v2/oauth/authorize' }),
      await server.inject({ method: 'GET', url: '/v2/oauth/token' }),
      await server.inject({ method: 'GET', url: '/nothing' }),
    ]
    const expected = env === DIRECT ? 'max-age=31536000' : undefined
    for (const { headers } of answers) {
      assert.equal(headers['strict-transport-security'], expected)
      assert.equal(headers['x-content-type-options'], 'nosniff')
    }
  }
})

test('NET-05: trusted proxies are given as networks; the server does not start with a number, a host name or a keyword', () => {
  for (const value of [
    '1',
    '2',
    'true',
    'false',
    'loopback',
    '*',
    '0',
    '10.0.0.0/33',
    '10.0.0/8',
    '::1/129',
    'proxy.example',
    '10.0.0.1/',
  ])
    assert.throws(() => readConfig({ ...ISSUER, GRANTOR_TRUST_PROXY: value }), /GRANTOR_TRUST_PROXY/, value)
  for (const value of ['10.0.0.0/8', '10.0.0.1', '::1', '10.0.0.0/8,2001:db8::/32', '10.0.0.1 10.0.0.2'])
    assert.ok(readConfig({ ...ISSUER, GRANTOR_TRUST_PROXY: value }).trustedProxies.length > 0, value)
})

test('NET-05: addresses that an untrusted peer forwards are ignored', async (t) => {
  const server = await openTestServer(t, { clock: openStillClock(), env: { GRANTOR_REGISTRATION_RATE: '3' } })
  const headersOf = (index: number) => ({
    'x-forwarded-for': `198.51.100.${index}`,
    forwarded: `for=198.51.100.${index}`,
    'x-real-ip': `198.51.100.${index}`,
  })
  const statuses: number[] = []
  for (let index = 0; index < 5; index += 1)
    statuses.push((await register(server, '192.0.2.1', headersOf(index))).statusCode)
  assert.deepEqual(statuses, [201, 201, 201, 429, 429])
})

test('NET-05: behind a trusted proxy each caller has a budget, by the last address that is not a trusted proxy', async (t) => {
  const env = { ...PROXIED, GRANTOR_REGISTRATION_RATE: '1' }
  const server = await openTestServer(t, { env })
  const via = async (forwarded: string) =>
    (await register(server, '10.0.0.1', { 'x-forwarded-proto': 'https', 'x-forwarded-for': forwarded })).statusCode
  assert.equal(await via('198.51.100.1'), 201)
  assert.equal(await via('198.51.100.1'), 429)
  assert.equal(await via('198.51.100.2'), 201)
  // The addresses before it may be invented by the caller.
  assert.equal(await via('203.0.113.1, 198.51.100.1'), 429)
  assert.equal(await via('203.0.113.2, 198.51.100.1, 10.0.0.9'), 429)
  assert.equal(await via('2001:db9:0:1::1'), 201)
  assert.equal(await via('2001:DB9:0:1:ffff::2'), 429)
})

test('NET-07: a method override is ignored', async (t) => {
  const server = await openTestServer(t)
  const headers = { 'x-http-method-override': 'POST', 'x-http-method': 'POST', 'x-method-override': 'POST' }
  const answer = await server.inject({ method: 'GET', url: '/v2/oauth/token?_method=POST', headers })
  assertError(answer, 405, 'invalid_request')
})

test('NET-07: every other method answers 405 with Allow, with any body', async (t) => {
  const server = await openTestServer(t)
  const bodies = [
    {},
    { headers: { 'content-type': 'garbage' }, payload: '{}' },
    { headers: { 'content-type': 'application/json' }, payload: 'x'.repeat(20_000) },
  ]
  for (const method of ['PUT', 'PATCH', 'DELETE'] as const)
    for (const url of ['/v2/oauth/revoke', '/v2/oauth/token'])
      for (const body of bodies) {
        const answer = await server.inject({ method, url, ...body })
        assertError(answer, 405, 'invalid_request')
        assert.equal(answer.json().error_description, 'The path does not have this method.')
        assert.equal(answer.headers['allow'], 'POST, OPTIONS')
      }
  for (const body of bodies) {
    const answer = await server.inject({ method: 'PATCH', url: '/v2/oauth/register', ...body })
    assertError(answer, 405, 'invalid_request')
    assert.equal(answer.headers['allow'], 'POST, GET, HEAD, PUT, DELETE, OPTIONS')
  }
  for (const method of ['POST', 'PUT', 'DELETE'] as const)
    for (const url of ['/v2/oauth/jwks', '/.well-known/oauth-authorization-server', '/health/ready']) {
      const answer = await server.inject({ method, url, payload: 'x', headers: { 'content-type': 'x' } })
      assert.equal(answer.statusCode, 405)
      assert.match(String(answer.headers['allow']), /^GET, HEAD/)
    }
})

test('NET-07: a wrong method is logged without the request target', async (t) => {
  const server = await openTestServer(t)
  await server.inject({ method: 'GET', url: '/v2/oauth/token?client_secret=marked' })
  assert.match(server.log(), /"reason":"method_wrong","description":"[^"]+","status":405/)
  assert.doesNotMatch(server.log(), /marked/)
})

test('NET-08: no answer is compressed, because answers contain secrets beside values that the caller chose', async (t) => {
  const server = await openTestServer(t)
  const headers = { 'accept-encoding': 'gzip, deflate, br, zstd', 'content-type': 'application/json' }
  const payload = JSON.stringify({ client_name: 'x'.repeat(128), software_id: 'x'.repeat(256) })
  for (const request of [
    { method: 'POST', url: '/v2/oauth/register', payload },
    { method: 'GET', url: '/.well-known/oauth-authorization-server' },
    { method: 'GET', url: '/v2/oauth/authorize' },
  ] as const) {
    const answer = await server.inject({ ...request, headers })
    assert.equal(answer.headers['content-encoding'], undefined)
    assert.equal(Number(answer.headers['content-length']), Buffer.byteLength(answer.body))
  }
})

test('NET-12: prototype names in a query, a form or JSON have no effect', async (t) => {
  const server = await openTestServer(t)
  const form = { 'content-type': 'application/x-www-form-urlencoded' }
  const token = await server.inject({
    method: 'POST',
    url: '/v2/oauth/token',
    headers: form,
    payload: '__proto__[polluted]=1&__proto__=2&constructor.prototype.polluted=1',
  })
  assertError(token, 422, 'invalid_request')
  const query = '/v2/oauth/authorize?__proto__[polluted]=1&constructor[prototype][polluted]=1&__proto__.polluted=1'
  assert.equal((await server.inject({ method: 'GET', url: query })).statusCode, 400)
  for (const payload of [
    '{"__proto__":{"polluted":1}}',
    '{"a":{"__proto__":{"polluted":1}}}',
    '{"constructor":{"prototype":{"polluted":1}}}',
    '{"__pr\\u006fto__":{"polluted":1}}',
  ]) {
    const answer = await server.inject({
      method: 'POST',
      url: '/v2/oauth/register',
      headers: { 'content-type': 'application/json' },
      payload,
    })
    assertError(answer, 400, 'invalid_client_metadata')
  }
  assert.equal(({} as { polluted?: unknown }).polluted, undefined)
})

test('RFC 9110 §15.5.5: an unknown path answers 404 as JSON to callers that do not ask for a page, without a redirect', async (t) => {
  const server = await openTestServer(t)
  for (const url of ['/', '/admin', '/v2', '/v2/oauth', '/v1/oauth/token', '/.git/config', '/v2/oauth/token/x']) {
    const answer = await server.inject({ method: 'GET', url })
    assert.equal(answer.statusCode, 404, url)
    // A client in a browser must be able to read that there is no metadata here, so that it tries the next address.
    assert.equal(answer.headers['access-control-allow-origin'], '*')
    assert.equal(answer.json().error, 'invalid_request')
    assert.equal(answer.headers['cache-control'], 'no-store')
    assert.equal(answer.headers.location, undefined)
  }
})

test('Fetch §3.2.3: a script of any origin reads the headers of an answer; other callers do not get the list of them', async (t) => {
  const server = await openTestServer(t)
  const registration = { method: 'POST', url: '/v2/oauth/register', payload: '{}' } as const
  const json = { 'content-type': 'application/json' }
  const forScript = await server.inject({ ...registration, headers: { ...json, origin: 'https://app.example' } })
  assert.match(String(forScript.headers['access-control-expose-headers']), /X-Request-Id/)
  const plain = await server.inject({ ...registration, headers: json })
  assert.deepEqual([plain.statusCode, plain.headers['access-control-expose-headers']], [201, undefined])
  assert.equal(plain.headers['access-control-allow-origin'], '*')
  // A cache may return this answer to a script.
  const metadata = await server.inject({ method: 'GET', url: '/.well-known/oauth-authorization-server' })
  assert.match(String(metadata.headers['access-control-expose-headers']), /X-Request-Id/)
})
