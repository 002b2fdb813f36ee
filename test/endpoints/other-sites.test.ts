import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { authorizeUrl, registerClient } from '../../tools/flow.ts'
import { PATHS } from '../../src/endpoints/paths.ts'
import { assertionForm, makeClientKey } from '../../tools/client-assertion.ts'
import { openStillClock } from '../support/clocks.ts'
import { openDocumentHost } from '../support/hosts/document-host.ts'
import { assertionOf } from '../support/key-clients.ts'
import { selectAll } from '../support/store/dump.ts'
import { openTestServer, type TestServer } from '../support/server.ts'

/** What a page of any site makes the browser of its visitor send, from the network of the visitor. */

type Headers = Readonly<Record<string, string>>

const CROSS = { 'sec-fetch-site': 'cross-site' }
const LINK = { ...CROSS, 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' }
const FRAME = { ...LINK, 'sec-fetch-dest': 'iframe' }
const IMAGE = { ...CROSS, 'sec-fetch-mode': 'no-cors', 'sec-fetch-dest': 'image' }
const SCRIPT = { ...CROSS, 'sec-fetch-mode': 'no-cors', 'sec-fetch-dest': 'empty', origin: 'https://evil.test' }
/** A program of the network. */
const PROGRAM = {}

async function open(t: TestContext, env: Readonly<Record<string, string>>): Promise<TestServer> {
  return openTestServer(t, { clock: openStillClock(), env })
}

async function statusOf(server: TestServer, url: string, headers: Headers): Promise<number> {
  return (await server.inject({ method: 'GET', url, headers })).statusCode
}

async function post(server: TestServer, url: string, headers: Headers, body: object): Promise<number> {
  const isJson = url === PATHS.register
  const type = isJson ? 'application/json' : 'application/x-www-form-urlencoded'
  const payload = isJson ? JSON.stringify(body) : new URLSearchParams({ ...body }).toString()
  return (await server.inject({ method: 'POST', url, headers: { 'content-type': type, ...headers }, payload }))
    .statusCode
}

function rows(server: TestServer): number {
  return selectAll(server, 'select * from authorizations').length
}

test('BND-07: what a page loads without opening it spends no budget, stores no row and requests no document', async (t) => {
  const server = await open(t, { GRANTOR_AUTHORIZATION_RATE: '3' })
  const host = await openDocumentHost(t)
  const link = authorizeUrl(await registerClient(server))
  const destinations = ['audio', 'embed', 'empty', 'font', 'image', 'manifest', 'object', 'report', 'script', 'style']
  const kinds = [
    ...destinations.map((dest) => ({ ...IMAGE, 'sec-fetch-dest': dest })),
    { ...IMAGE, 'sec-fetch-site': 'same-site' },
    SCRIPT,
    { ...LINK, 'sec-purpose': 'prefetch' },
    { ...LINK, 'sec-purpose': 'prefetch;prerender' },
  ]
  for (const headers of kinds)
    for (const url of [link, authorizeUrl(host.client()), `${PATHS.leave}?authorization=x`])
      assert.equal(await statusOf(server, url, headers), 400, JSON.stringify([headers, url]))
  assert.match(server.log(), /"reason":"not_a_navigation"/)
  assert.deepEqual([rows(server), host.connections()], [0, 0])
  assert.equal(await statusOf(server, link, LINK), 303)
})

test('BND-07: a link, a frame, an own page, a browser without Sec-Fetch and a program open the authorization endpoint', async (t) => {
  const server = await open(t, {})
  const link = authorizeUrl(await registerClient(server))
  const kinds = [
    LINK,
    FRAME,
    { ...FRAME, 'sec-fetch-dest': 'frame' },
    { ...LINK, 'sec-fetch-site': 'same-site' },
    { ...LINK, 'sec-fetch-site': 'none', 'sec-purpose': 'prefetch' },
    { ...IMAGE, 'sec-fetch-site': 'same-origin', 'sec-fetch-dest': 'empty' },
    { 'sec-fetch-mode': 'cors' },
    PROGRAM,
  ]
  for (const headers of kinds) assert.equal(await statusOf(server, link, headers), 303, JSON.stringify(headers))
})

test('BND-07: frames of other sites have a rate of their own, of requests and of documents', async (t) => {
  const server = await open(t, { GRANTOR_AUTHORIZATION_RATE: '40' })
  const host = await openDocumentHost(t)
  const link = authorizeUrl(await registerClient(server))
  const statuses: number[] = []
  for (let index = 0; index < 31; index += 1)
    statuses.push(await statusOf(server, authorizeUrl(host.client(`/${index}.json`)), FRAME))
  assert.deepEqual([statuses.filter((status) => status === 303).length, statuses.at(-1)], [30, 503])
  assert.equal(await statusOf(server, authorizeUrl(host.client('/people.json')), LINK), 303)
  for (let index = 0; index < 10; index += 1) await statusOf(server, link, FRAME)
  assert.deepEqual([await statusOf(server, link, FRAME), await statusOf(server, link, LINK)], [429, 303])
})

test('BND-07: registrations of pages have a rate of their own', async (t) => {
  const server = await open(t, { GRANTOR_REGISTRATION_RATE: '3' })
  const statuses: number[] = []
  for (let index = 0; index < 4; index += 1) {
    const body = { redirect_uris: [`http://127.0.0.1/${index}`] }
    statuses.push(await post(server, PATHS.register, { origin: 'https://evil.test' }, body))
  }
  assert.deepEqual(statuses, [201, 201, 201, 429])
  assert.equal(await post(server, PATHS.register, PROGRAM, { redirect_uris: ['http://127.0.0.1/own'] }), 201)
})

test('BND-07: failures and assertions that a script sends do not count for the programs of the network', async (t) => {
  const server = await open(t, { GRANTOR_CLIENT_FAILURE_RATE: '3' })
  const host = await openDocumentHost(t)
  const key = makeClientKey('ES256')
  host.publish({ token_endpoint_auth_method: 'private_key_jwt', jwks: { keys: [key.jwk] } })
  const wrong = { grant_type: 'client_credentials', client_id: 'unknown', client_secret: 'wrong' }
  for (const path of [PATHS.token, PATHS.introspect, PATHS.revoke, PATHS.par])
    for (let index = 0; index < 4; index += 1) await post(server, path, SCRIPT, wrong)
  assert.equal(await post(server, PATHS.token, SCRIPT, wrong), 429)
  assert.equal(await post(server, PATHS.token, PROGRAM, wrong), 401)
  const assertion = (path: string) => ({
    grant_type: 'client_credentials',
    ...assertionForm(assertionOf(server, { client: host.client(path), key })),
  })
  for (let index = 0; index < 31; index += 1) await post(server, PATHS.token, SCRIPT, assertion(`/${index}.json`))
  assert.equal(host.requests.length, 30)
  await post(server, PATHS.token, PROGRAM, assertion('/program.json'))
  assert.equal(host.requests.length, 31)
})

test('BND-07: what a page sends to the administration does not count for the administrators of the network', async (t) => {
  const server = await open(t, { GRANTOR_CLIENT_FAILURE_RATE: '3' })
  const ask = async (headers: Headers) => (await server.injectAdmin({ url: '/admin/v1/clients', headers })).statusCode
  const statuses: number[] = []
  for (let index = 0; index < 4; index += 1) statuses.push(await ask({ ...SCRIPT, 'sec-fetch-dest': 'image' }))
  assert.deepEqual([...statuses, await ask(PROGRAM)], [401, 401, 401, 429, 401])
})
