import assert from 'node:assert/strict'
import type { RequestListener } from 'node:http'
import { test, type TestContext } from 'node:test'
import { openResolver } from '../../../src/outbound/resolve.ts'
import { makeClientKey, type ClientKey } from '../../../tools/client-assertion.ts'
import { obtainCode, postForm, postJson, redeem, registerClient } from '../../../tools/flow.ts'
import { createAda } from '../../support/accounts.ts'
import { assertError, problemsOf } from '../../support/error-answer.ts'
import { authentication, type KeyClient } from '../../support/key-clients.ts'
import { openNameServer } from '../../support/hosts/name-server.ts'
import { openTestServer, type TestServer, type TestServerOptions } from '../../support/server.ts'
import { openStillClocks } from '../../support/clocks.ts'
import { openWebHost, type WebHost } from '../../support/hosts/web-host.ts'

const TOKEN = '/v2/oauth/token'
const SECOND = 1000
const HOUR = 3600 * SECOND

interface ServerWithKeyHost {
  readonly server: TestServer
  readonly app: KeyClient
  readonly host: WebHost
  /** What the host answers from now on. */
  readonly serve: (handle: RequestListener) => void
  readonly advance: (ms: number) => void
  /** Requests a token with an assertion of this key, and returns the status. */
  readonly ask: (key?: ClientKey) => Promise<number>
}

/** A client whose keys are at a host of this machine, which the server may request because its issuer is a loopback address. */
async function openServerWithKeyHost(t: TestContext, options: TestServerOptions = {}): Promise<ServerWithKeyHost> {
  const [clock] = openStillClocks([0])
  const server = await openTestServer(t, { clock, ...options })
  const key = makeClientKey('ES256', { kid: 'one' })
  let handle = keySet([key])
  const host = await openWebHost(t, {}, (request, response) => handle(request, response))
  const app = { client: await registerAt(server, `http://localhost:${host.port}/jwks`), key }
  return {
    server,
    app,
    host,
    serve: (next) => void (handle = next),
    advance: clock.advance,
    ask: async (own = key) => (await askWith(server, { ...app, key: own })).statusCode,
  }
}

function registerAt(server: TestServer, uri: string) {
  return registerClient(server, { token_endpoint_auth_method: 'private_key_jwt', jwks_uri: uri })
}

function askWith(server: TestServer, app: KeyClient, changes: Parameters<typeof authentication>[2] = {}) {
  return postForm(server, TOKEN, { grant_type: 'client_credentials', ...authentication(server, app, changes) })
}

function keySet(keys: readonly ClientKey[], headers: Readonly<Record<string, string>> = {}): RequestListener {
  return (request, response) => {
    const etag = `"${keys.map(({ jwk }) => String(jwk['x'])).join()}"`
    const isKnown = headers['etag'] === 'yes' && request.headers['if-none-match'] === etag
    const own = headers['etag'] === 'yes' ? { ...headers, etag } : headers
    response.writeHead(isKnown ? 304 : 200, { 'content-type': 'application/jwk-set+json', ...own })
    response.end(isKnown ? undefined : JSON.stringify({ keys: keys.map(({ jwk }) => jwk) }))
  }
}

function status(code: number): RequestListener {
  return (_request, response) => void response.writeHead(code, { 'content-type': 'application/json' }).end('{}')
}

test('CA-12, REG-13: keys are requested when the client authenticates, and not at registration, authorization and consent', async (t) => {
  const { server, app, host, ask } = await openServerWithKeyHost(t)
  await createAda(server)
  const code = await obtainCode(server, app.client)
  assert.equal(host.connections(), 0)
  assert.equal((await redeem(server, app.client, code, authentication(server, app))).statusCode, 200)
  assert.equal(host.connections(), 1)
  assert.equal(await ask(), 200)
  assert.equal(host.connections(), 1)
  const [request] = host.requests
  assert.deepEqual(
    [request?.url, request?.headers.cookie, request?.headers.authorization],
    ['/jwks', undefined, undefined],
  )
})

test('CA-12: a hundred requests of a client at once cause one request for its keys', async (t) => {
  const { server, app, host } = await openServerWithKeyHost(t)
  const answers = await Promise.all(Array.from({ length: 100 }, () => askWith(server, app)))
  assert.deepEqual(new Set(answers.map(({ statusCode }) => statusCode)), new Set([200]))
  assert.equal(host.requests.length, 1)
})

test('CA-11: a key that replaced another is accepted at once, and again at the earliest thirty seconds later', async (t) => {
  const { app, host, serve, advance, ask } = await openServerWithKeyHost(t)
  const [two, three] = [makeClientKey('ES256', { kid: 'two' }), makeClientKey('ES256')]
  assert.equal(await ask(), 200)
  serve(keySet([two]))
  assert.deepEqual([await ask(two), await ask(), host.requests.length], [200, 401, 2])
  serve(keySet([three]))
  advance(29 * SECOND)
  assert.deepEqual([await ask(three), await ask(two), host.requests.length], [401, 200, 2])
  advance(2 * SECOND)
  const answers = await Promise.all([ask(three), ask(three), ask(three)])
  assert.deepEqual([...answers, host.requests.length], [200, 200, 200, 3])
  assert.equal(await ask(app.key), 401)
})

test('CA-11: an unknown key whose signature came a moment after another one gets 503, and a known one with a wrong signature 401', async (t) => {
  const { server, app, host, serve, advance } = await openServerWithKeyHost(t)
  const keyOf = (kid: string): ClientKey => makeClientKey('ES256', { kid })
  const next = keyOf('two')
  const askNamed = (key: ClientKey) => askWith(server, { ...app, key }, { header: { kid: key.jwk['kid'] } })
  const statusOf = async (key: ClientKey) => (await askNamed(key)).statusCode
  assert.deepEqual([await statusOf(app.key), await statusOf(keyOf('x')), host.requests.length], [200, 401, 2])
  serve(keySet([next]))
  advance(10 * SECOND)
  const answer = await askNamed(next)
  assertError(answer, 503, 'temporarily_unavailable')
  assert.equal(answer.headers['retry-after'], '20')
  const nameless = (await askWith(server, { ...app, key: makeClientKey('ES256') })).statusCode
  assert.deepEqual([await statusOf(keyOf('one')), nameless, host.requests.length], [401, 401, 2])
  advance(20 * SECOND)
  assert.deepEqual([await statusOf(next), host.requests.length], [200, 3])
  serve(status(503))
  advance(31 * SECOND)
  // The host could not say whether it has the key.
  assert.deepEqual([await statusOf(app.key), host.requests.length], [503, 4])
  assert.deepEqual([await statusOf(keyOf('two')), await statusOf(next)], [401, 200])
})

test('RFC 9111 §4.2: a copy of the keys is fresh for as long as the host says, from a minute to an hour', async (t) => {
  const { app, host, serve, advance, ask } = await openServerWithKeyHost(t)
  for (const [control, freshMs] of [
    ['max-age=600', 600 * SECOND],
    ['max-age=5', 60 * SECOND],
    ['no-store', 60 * SECOND],
    ['max-age=86400', HOUR],
    ['', 300 * SECOND],
  ] as const) {
    serve(keySet([app.key], control === '' ? {} : { 'cache-control': control, etag: 'yes' }))
    advance(HOUR)
    await ask()
    const { length } = host.requests
    advance(freshMs - SECOND)
    assert.deepEqual([await ask(), host.requests.length], [200, length], control)
    advance(SECOND)
    assert.deepEqual([await ask(), host.requests.length], [200, length + 1], control)
  }
})

test('CA-13: while the host is down the last keys are used for a day, and then the answer is 503 instead of invalid_client', async (t) => {
  const { server, app, serve, advance, ask } = await openServerWithKeyHost(t)
  assert.equal(await ask(), 200)
  serve(status(503))
  advance(23 * HOUR)
  assert.deepEqual([await ask(), await ask()], [200, 200])
  advance(HOUR)
  const answer = await askWith(server, app)
  assertError(answer, 503, 'temporarily_unavailable')
  assert.equal(answer.headers['retry-after'], '5')
  const lines = server
    .log()
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>)
  const line = lines.find(({ event }) => event === 'client.keys-unavailable')
  assert.partialDeepStrictEqual(line, { client: app.client.client_id, reason: 'status' })
  assert.match(String(line?.['uri']), /^https?:/)
  const refused = lines.find(({ reason }) => reason === 'keys_unavailable')
  assert.deepEqual([refused?.['client'], refused?.['request_id']], [app.client.client_id, line?.['request_id']])
  serve(keySet([app.key]))
  assert.equal(await ask(), 200)
})

test('CA-13: a host that is down is asked once in thirty seconds while its last keys are used', async (t) => {
  const { host, serve, advance, ask } = await openServerWithKeyHost(t)
  await ask()
  serve(status(503))
  advance(HOUR)
  const { length } = host.requests
  for (let count = 0; count < 5; count += 1) assert.equal(await ask(), 200)
  assert.equal(host.requests.length, length + 1)
  advance(31 * SECOND)
  assert.deepEqual([await ask(), host.requests.length], [200, length + 2])
})

test('CA-13: keys that the host has removed, and an answer that is not a key set, are not used', async (t) => {
  const { app, serve, advance, ask } = await openServerWithKeyHost(t)
  const notKeys: RequestListener = (_request, response) => {
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end('{"keys":[{"kty":"oct","k":"AAAA"}]}')
  }
  const page: RequestListener = (_request, response) => {
    response.writeHead(200, { 'content-type': 'text/html' })
    response.end('<title>')
  }
  const moved: RequestListener = (_request, response) => void response.writeHead(302, { location: '/other' }).end()
  for (const handle of [status(404), notKeys, page, moved]) {
    serve(keySet([app.key]))
    assert.equal(await ask(), 200)
    serve(handle)
    advance(HOUR)
    assert.equal(await ask(), 503)
  }
})

test('GRANTOR_OUTBOUND=off: a jwks_uri is refused, and the keys of a client that has one cannot be fetched', async (t) => {
  const { server, app, host } = await openServerWithKeyHost(t)
  await server.close()
  const off = await openTestServer(t, { folder: server.folder, clock: server.clock, env: { GRANTOR_OUTBOUND: 'off' } })
  const answer = await postJson(off, '/v2/oauth/register', {
    token_endpoint_auth_method: 'private_key_jwt',
    jwks_uri: 'https://app.example/jwks',
  })
  assert.deepEqual(problemsOf(assertError(answer, 400, 'invalid_client_metadata')), ['body.jwks_uri:value_error'])
  assert.equal((await askWith(off, app)).statusCode, 503)
  assert.equal(host.connections(), 0)
})

test('a blocked host is refused at registration, and is not asked for the keys of a client that has registered before', async (t) => {
  const { address, questions } = await openNameServer(t, () => [])
  const network = { resolve: openResolver([address]), isPublicAddress: () => true }
  const { server, app } = await openServerWithKeyHost(t, { network })
  const uri = 'https://keys.example.test/jwks'
  const client = { ...app, client: await registerAt(server, uri) }
  assert.equal((await askWith(server, client)).statusCode, 503)
  const asked = questions.length
  assert.ok(asked > 0)
  const changedAt = server.clock.now()
  await server.context.store.setDomainRule({
    pattern: '*.example.test',
    verdict: 'blocked',
    note: undefined,
    changedAt,
  })
  server.clock.advance(2 * SECOND)
  assert.equal((await askWith(server, client)).statusCode, 503)
  assert.equal(questions.length, asked)
  const body = { token_endpoint_auth_method: 'private_key_jwt', jwks_uri: uri }
  const refused = await postJson(server, '/v2/oauth/register', body)
  assert.deepEqual(problemsOf(assertError(refused, 400, 'invalid_client_metadata')), ['body.jwks_uri:value_error'])
})
