import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import type { RequestListener } from 'node:http'
import { findClient } from '../../../src/clients/find-client.ts'
import { documentClientId } from '../../../src/protocol/client/identifier.ts'
import {
  authorizeUrl,
  EMAIL,
  locationOf,
  obtainCode,
  obtainTokens,
  PASSWORD,
  PlainBrowser,
  redeem,
  refresh,
  type RegisteredClient,
} from '../../../tools/flow.ts'
import { createAda } from '../../support/accounts.ts'
import { declareApi, JWT_API, knowApis } from '../../support/apis.ts'
import { assertLocalPage } from '../../support/authorize-answers.ts'
import { openDocumentHost } from '../../support/hosts/document-host.ts'
import { openTestServer, type TestServer, type TestServerOptions } from '../../support/server.ts'
import { openStillClocks } from '../../support/clocks.ts'
import { assertStoreUnchanged } from '../../support/store/dump.ts'
import { isActive } from '../../support/token-questions.ts'
import { sendJson } from '../../support/hosts/web-host.ts'
import { sentence } from '../../texts/page-texts.ts'

const HOUR_MS = 3_600_000

async function open(t: TestContext, options: TestServerOptions = {}) {
  // A document is fresh for a time, which must not pass while a busy machine runs the test.
  const [clock] = openStillClocks([0])
  const server = await openTestServer(t, { clock, ...options })
  await createAda(server)
  return { server, host: await openDocumentHost(t) }
}

function authorize(server: TestServer, client: RegisteredClient) {
  return server.inject({ method: 'GET', url: authorizeUrl(client) })
}

/** Nothing is allowed in the millisecond in which a document is loaded: the user would have seen no page of the client. */
async function load(server: TestServer, client: RegisteredClient): Promise<void> {
  await authorize(server, client)
  server.clock.advance(1)
}

function isPageOf(body: string, heading: string): boolean {
  return body.includes(`<h1>${heading}</h1>`)
}

const UNIDENTIFIED = sentence('errors.client-unidentified.heading')

test('a client whose id is the URL of its document gets tokens without a registration', async (t) => {
  const { server, host } = await open(t)
  const client = host.client()
  await load(server, client)
  const tokens = await obtainTokens(server, client)
  assert.equal((await refresh(server, client, tokens.refresh_token ?? '')).statusCode, 200)
  assert.equal(host.requests.length, 1)
  const record = await server.context.store.findClient(documentClientId(client.client_id))
  assert.equal(record?.document?.url, client.client_id)
  assert.deepEqual([record?.secretHash, record?.managementHash, record?.dedupeKey], [undefined, undefined, undefined])
})

test('OUT-13: a network above its rate does not delay the fetch of the same document for another network', async (t) => {
  const { server, host } = await open(t)
  const find = (path: string, network: string) => findClient(server.context, host.client(path).client_id, network)
  for (let index = 0; index < 40; index += 1) await find(`/${index}`, '203.0.113.9')
  const lookups = await Promise.all(['203.0.113.9', '192.0.2.1', '192.0.2.2'].map((network) => find('/new', network)))
  assert.deepEqual(
    lookups.map(({ kind }) => kind),
    ['limited', 'found', 'found'],
  )
})

test('CIMD-01: an id from which no document may be fetched causes no connection and no change, and gets a page', async (t) => {
  const { server, host } = await open(t)
  const { port } = host
  const ids = [
    `http://localhost:${port}`,
    `http://localhost:${port}/`,
    `http://localhost:${port}/?client.json`,
    `http://localhost:${port}/a/../client.json`,
    `http://localhost:${port}/a/%2e%2e/client.json`,
    `http://localhost:${port}/client.json#x`,
    `http://ada@localhost:${port}/client.json`,
    `http://LOCALHOST:${port}/client.json`,
    `http://127.1:${port}/client.json`,
    `http://[::ffff:127.0.0.1]:${port}/client.json`,
    `http://127.0.0.2:${port}/client.json`,
    `ftp://localhost:${port}/client.json`,
    `http://localhost:${port}/${'x'.repeat(512)}`,
    'http://localhost:3000/v2/oauth/authorize',
    'http://localhost:3001/metrics',
    'http://app.example/client.json',
    'https://127.0.0.1:443/client.json',
    'https://10.0.0.1/client.json',
    'https://[fe80::1]/client.json',
    'https://app.example:22/client.json',
    'https://intranet/client.json',
  ]
  for (const client_id of ids) {
    const response = await assertStoreUnchanged(server, () => authorize(server, { client_id }), client_id)
    assertLocalPage(response)
    assert.ok(isPageOf(response.body, sentence('errors.client-unknown.heading')), client_id)
  }
  assert.equal(host.connections(), 0)
})

test('CIMD-02, CIMD-03, CIMD-04, CIMD-05: a document that is not acceptable starts nothing, and the failure is not remembered', async (t) => {
  const { server, host } = await open(t)
  const client = host.client()
  const members: Readonly<Record<string, object>> = {
    'more than 5 KiB': { x: 'x'.repeat(5000) },
    'another client_id': { client_id: 'https://other.example/client.json' },
    'a client_id with another spelling': { client_id: `${client.client_id}/` },
    'no client_id': { client_id: undefined },
    'a secret': { client_secret: 'x' },
    'an expiry of a secret': { client_secret_expires_at: 0 },
    'a method with a secret': { token_endpoint_auth_method: 'client_secret_basic' },
    'a method with a shared key': { token_endpoint_auth_method: 'client_secret_jwt' },
    'a list with such a method': {
      token_endpoint_auth_method: undefined,
      token_endpoint_auth_methods_supported: ['none', 'client_secret_post'],
    },
    'a method that is no text': { token_endpoint_auth_method: { toString: 1 } },
    'an unknown method': { token_endpoint_auth_method: 'tls_client_auth' },
    'no name': { client_name: undefined },
    'no redirect URI': { redirect_uris: undefined },
    'a dangerous redirect URI': { redirect_uris: ['javascript:alert(1)'] },
    'a redirect URI on this server': { redirect_uris: ['http://localhost:3000/cb'] },
    'no grant of this server': { grant_types: ['password'] },
    'a redirect URI of another type': { redirect_uris: 'https://app.example/cb' },
  }
  const answers: Readonly<Record<string, RequestListener>> = {
    'a redirect': (_request, response) => void response.writeHead(302, { location: '/other.json' }).end(),
    'a missing page': (_request, response) => void response.writeHead(404).end(),
    HTML: (_request, response) => void response.writeHead(200, { 'content-type': 'text/html' }).end('{}'),
    'no JSON': (_request, response) => void response.writeHead(200, { 'content-type': 'application/json' }).end('{'),
    'a list': sendJson([]),
    null: sendJson(null),
  }
  const cases = [
    ...Object.entries(members).map(([what, changed]) => [what, () => host.publish(changed)] as const),
    ...Object.entries(answers).map(([what, listener]) => [what, () => host.answer(listener)] as const),
  ]
  for (const [what, prepare] of cases) {
    prepare()
    const before = host.requests.length
    const response = await assertStoreUnchanged(server, () => authorize(server, client), what)
    assertLocalPage(response)
    assert.ok(isPageOf(response.body, UNIDENTIFIED), what)
    assert.equal(host.requests.length, before + 1, what)
  }
  host.publish({})
  assert.equal((await authorize(server, client)).statusCode, 303, 'the next request fetches it again')
})

test('CIMD-05: a document is fetched again when it is no longer fresh, within five minutes and a day', async (t) => {
  const { server, host } = await open(t)
  const client = host.client()
  const lifetimes: readonly (readonly [header: Record<string, string>, seconds: number])[] = [
    [{}, 3600],
    [{ 'cache-control': 'max-age=1200' }, 1200],
    [{ 'cache-control': 'max-age=1' }, 300],
    [{ 'cache-control': 'no-store' }, 300],
    [{ 'cache-control': 'max-age=9999999' }, 86_400],
  ]
  for (const [header, seconds] of lifetimes) {
    host.publish({}, header)
    server.clock.advance(2 * 86_400_000)
    const before = host.requests.length
    for (const [wait, fetches] of [
      [0, 1],
      [seconds - 1, 1],
      [1, 2],
    ] as const) {
      server.clock.advance(wait * 1000)
      assert.equal((await authorize(server, client)).statusCode, 303)
      assert.equal(host.requests.length - before, fetches, `${JSON.stringify(header)} after ${wait} s`)
    }
  }
})

test('CIMD-08: an id that differs in any character is another client', async (t) => {
  const { server, host } = await open(t)
  const { port } = host
  const ids = [
    `http://localhost:${port}/client.json`,
    `http://localhost:${port}/client.json/`,
    `http://localhost:${port}/client.json?x=1`,
    `http://localhost:${port}/Client.json`,
    `http://127.0.0.1:${port}/client.json`,
  ]
  for (const client_id of ids) assert.equal((await authorize(server, { client_id })).statusCode, 303, client_id)
  const stored = await server.context.store.listClients({ before: undefined, limit: 100 })
  assert.deepEqual(new Set(stored.map(({ document }) => document?.url)), new Set(ids))
  const aliases = stored.map(({ id }) => id)
  for (const client_id of aliases) assertLocalPage(await authorize(server, { client_id }))
})

for (const [what, change] of [
  ['the redirect host', { redirect_uris: ['https://other.example/callback'] }],
  ['the name', { client_name: 'Another' }],
] as const) {
  test(`CIMD-10: a document that changes ${what} ends what was requested and allowed under the former one`, async (t) => {
    const { server, host } = await open(t, { env: { GRANTOR_CODE_LIFETIME: '600' } })
    host.publish({}, { 'cache-control': 'max-age=1' })
    const client = host.client()
    const undecided = new PlainBrowser(server)
    const consentPage = await openConsentPage(undecided, client)
    const code = await obtainCode(server, client)
    server.clock.advance(301_000)
    host.publish(change)
    await authorize(server, client)
    const late = await undecided.submit(consentPage, { decision: 'allow' })
    assert.ok(isPageOf(late.body, sentence('errors.expired.heading')))
    const response = await redeem(server, client, code)
    assert.deepEqual([response.statusCode, response.json().error], [400, 'invalid_grant'])
    assert.match(server.log(), /"reason":"client_changed"/)
  })
}

test('CIMD-11: a host that is down ends nothing for a day, and a document that is gone starts nothing', async (t) => {
  const { server, host } = await open(t)
  const client = host.client()
  await load(server, client)
  const { refresh_token: token = '' } = await obtainTokens(server, client)
  const down: RequestListener = (_request, response) => void response.writeHead(503).end()
  host.answer(down)
  server.clock.advance(HOUR_MS)
  assert.equal((await authorize(server, client)).statusCode, 303, 'the stored document serves')
  server.clock.advance(23 * HOUR_MS)
  assert.equal((await authorize(server, client)).statusCode, 303)
  server.clock.advance(HOUR_MS)
  assert.ok(isPageOf((await authorize(server, client)).body, UNIDENTIFIED))
  const refreshed = await refresh(server, client, token)
  assert.equal(refreshed.statusCode, 200, 'a refresh reads only what is stored')
  assert.equal(host.requests.length, 4)

  host.publish({})
  assert.equal((await authorize(server, client)).statusCode, 303)
  host.answer((_request, response) => void response.writeHead(404).end())
  server.clock.advance(HOUR_MS)
  assert.ok(isPageOf((await authorize(server, client)).body, UNIDENTIFIED), 'the stored document does not serve')
  assert.equal(
    (await refresh(server, client, refreshed.json<{ refresh_token: string }>().refresh_token)).statusCode,
    200,
  )
  assert.match(server.log(), /"event":"client.document-unavailable"[^\n]*"reason":"status"[^\n]*"description":"503"/)
  assert.match(server.log(), /"event":"client.document-unacceptable"[^\n]*"reason":"status 404"/)
})

test('CIMD-11: a network that used up its rate of fetches waits until the next one, and ends nothing', async (t) => {
  const { server, host } = await open(t)
  const client = host.client()
  assert.equal((await authorize(server, client)).statusCode, 303)
  // One after the other: requests that wait for each other could reach the deadline on a busy machine.
  const statuses: number[] = []
  for (let index = 0; index < 40; index += 1)
    statuses.push((await authorize(server, host.client(`/${index}.json`))).statusCode)
  assert.deepEqual([statuses.filter((status) => status === 303).length, host.requests.length], [29, 30])
  server.clock.advance(HOUR_MS)
  for (let index = 0; index < 40; index += 1) await authorize(server, host.client(`/again-${index}.json`))
  assert.equal(host.requests.length, 60)
  const other = host.client('/other.json')
  const refused = await assertStoreUnchanged(server, () => authorize(server, other))
  assert.deepEqual([refused.statusCode, refused.headers['retry-after']], [503, '2'])
  assert.equal((await authorize(server, client)).statusCode, 303, 'renewals have a rate of their own')
  server.clock.advance(2000)
  assert.equal((await authorize(server, other)).statusCode, 303)
})

test('CIMD-11: a host that is down is asked once in thirty seconds, and no limit keeps the stored document from being used', async (t) => {
  const { server, host } = await open(t)
  const client = host.client()
  await load(server, client)
  server.clock.advance(2 * HOUR_MS)
  host.answer((_request, response) => void response.writeHead(503).end())
  const statuses = new Set<number>()
  for (let index = 0; index < 70; index += 1) statuses.add((await authorize(server, client)).statusCode)
  assert.deepEqual([...statuses, host.requests.length], [303, 2])
  server.clock.advance(31_000)
  const { budgets } = server.context
  const now = server.clock.now()
  while (budgets.take('outbound-renewal', '127.0.0.1', now).isWithin);
  assert.deepEqual([(await authorize(server, client)).statusCode, host.requests.length], [303, 2])
  server.clock.advance(31_000)
  assert.deepEqual([(await authorize(server, client)).statusCode, host.requests.length], [303, 3])
  host.publish({ redirect_uris: ['https://app.example/other'] })
  server.clock.advance(31_000)
  assert.deepEqual([(await authorize(server, client)).statusCode, host.requests.length], [400, 4])
})

test('OUT-13: a document that is gone or not acceptable, or whose host was down for a day, is not requested at the rate of renewals', async (t) => {
  const answers: readonly (readonly [string, RequestListener])[] = [
    ['gone', (_request, response) => void response.writeHead(404).end()],
    ['wrong', sendJson({})],
    ['down', (_request, response) => void response.writeHead(503).end()],
  ]
  for (const [what, answer] of answers) {
    const { server, host } = await open(t)
    const client = host.client()
    await load(server, client)
    await obtainTokens(server, client)
    host.answer(answer)
    server.clock.advance(26 * HOUR_MS)
    for (let index = 0; index < 60; index += 1) await authorize(server, client)
    // The first one, at the rate of renewals, and those of a minute.
    assert.equal(host.requests.length, 1 + 1 + 30, what)
  }
})

test('CIMD-15: a client that was deleted and comes back has no tokens and no consents from before', async (t) => {
  const { server, host } = await open(t)
  const api = await declareApi(server, JWT_API)
  knowApis(server)
  const client = host.client()
  await load(server, client)
  const parameters = { scope: 'read', resource: JWT_API }
  const { refresh_token: token = '', access_token: access } = await obtainTokens(server, client, parameters)
  assert.equal(await isActive(server, api, access), true)
  await server.context.store.deleteClient(documentClientId(client.client_id))
  server.clock.advance(1000)
  const browser = new PlainBrowser(server)
  await openConsentPage(browser, client)
  assert.equal((await refresh(server, client, token)).json().error, 'invalid_grant')
  assert.equal(await isActive(server, api, access), false)
})

test('CIMD-15: a disabled client stays disabled, and its document is not fetched', async (t) => {
  const { server, host } = await open(t)
  const client = host.client()
  await authorize(server, client)
  await server.context.store.disableClient({ id: documentClientId(client.client_id), now: server.clock.now() })
  server.clock.advance(2 * HOUR_MS)
  assert.ok(isPageOf((await authorize(server, client)).body, sentence('errors.client-unknown.heading')))
  assert.equal(host.requests.length, 1)
})

async function openConsentPage(browser: PlainBrowser, client: RegisteredClient) {
  const signInPage = await browser.get(locationOf(await browser.get(authorizeUrl(client))))
  const signedIn = await browser.submit(signInPage, { email: EMAIL, password: PASSWORD })
  const page = await browser.get(locationOf(signedIn))
  assert.match(page.body, /name="decision"/)
  return page
}
