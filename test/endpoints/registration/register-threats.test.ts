import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  authorizeUrl,
  obtainCode,
  PlainBrowser,
  postJson,
  redeem,
  registerClient,
  requestToken,
} from '../../../tools/flow.ts'
import { createAda } from '../../support/accounts.ts'
import { assertError, problemsOf } from '../../support/error-answer.ts'
import { ask } from '../../support/hosts/raw-socket.ts'
import { assertStoreUnchanged, dumpStore } from '../../support/store/dump.ts'
import { openTestServer, type TestServer } from '../../support/server.ts'
import { declareApi } from '../../support/apis.ts'

const PATH = '/v2/oauth/register'
const SOUND = 'https://app.example/cb'

/** Asserts that each redirect URI is rejected, alone and beside a valid one, and that nothing is stored. */
async function assertRefused(server: TestServer, uris: readonly string[]): Promise<void> {
  for (const uri of uris)
    for (const redirect_uris of [[uri], [SOUND, uri]]) {
      const answer = await assertStoreUnchanged(server, () => postJson(server, PATH, { redirect_uris }), uri)
      assertError(answer, 400, 'invalid_redirect_uri')
    }
}

async function assertAccepted(server: TestServer, uris: readonly string[]): Promise<void> {
  for (const uri of uris) {
    const answer = await postJson(server, PATH, { redirect_uris: [uri] })
    assert.equal(answer.statusCode, 201, `${uri}: ${answer.body}`)
    assert.deepEqual(answer.json().redirect_uris, [uri])
  }
}

test('REG-01: a redirect URI with javascript: or another scheme that browsers execute rejects the whole registration', async (t) => {
  const server = await openTestServer(t)
  await assertRefused(server, [
    'javascript:alert(1)',
    'JaVaScRiPt:alert(1)',
    '\tjavascript:alert(1)',
    'java\nscript:alert(1)',
    '%6aavascript:alert(1)',
    'data:text/html,x',
    'vbscript:x',
    'blob:https://a.test/x',
    'file:///etc/passwd',
    'about:blank',
    'view-source:https://a.test',
  ])
})

test('REG-02: http is rejected for hosts other than loopback', async (t) => {
  const server = await openTestServer(t)
  await assertRefused(server, ['http://app.example/cb', 'http://192.168.0.1/cb'])
})

test('REG-03: a fragment is rejected', async (t) => {
  const server = await openTestServer(t)
  await assertRefused(server, ['https://a.test/cb#x', 'https://a.test/cb#'])
})

test('REG-04: userinfo, backslashes, spaces and control characters are rejected', async (t) => {
  const server = await openTestServer(t)
  await assertRefused(server, [
    'https://good.test@evil.test/',
    'https://good.test%25@evil.test',
    'https://good.test\\@evil.test',
    'https:\\\\evil',
    'https:/evil',
    ' https://a.test/',
    'https://a.test/ ',
    'https://a.test/\t',
    'https://a.test/\r\nSet-Cookie: x=1',
    'https://a.test/\u0000',
    'https://bücher.example/',
  ])
})

test('REG-05: wildcards are rejected', async (t) => {
  const server = await openTestServer(t)
  await assertRefused(server, ['https://*.a.test/', 'https://a.test/*'])
})

test('REG-06: dot segments, encoded slashes and path parameters are rejected', async (t) => {
  const server = await openTestServer(t)
  await assertRefused(
    server,
    ['a/../b', '%2e%2e/b', 'a%2fb', 'a%252fb', '..;/b', 'a;x'].map((path) => `https://a.test/${path}`),
  )
})

test('REG-07: only the supported redirect URIs of a registration can be used', async (t) => {
  const server = await openTestServer(t)
  const redirect_uris = ['odd://callback', SOUND, 'http://127.0.0.1:1/cb']
  const client = await registerClient(server, { redirect_uris })
  const visit = (redirect_uri: string) => new PlainBrowser(server).get(authorizeUrl(client, { redirect_uri }))
  const refused = await visit('odd://callback')
  assert.equal(refused.statusCode, 400)
  assert.equal(refused.headers.location, undefined)
  for (const uri of redirect_uris.slice(1)) assert.equal((await visit(uri)).statusCode, 303, uri)
})

test('REG-08: only localhost, 127.0.0.1 and [::1] are loopback', async (t) => {
  const server = await openTestServer(t)
  await assertAccepted(server, ['http://127.0.0.1/cb', 'http://[::1]/cb', 'http://localhost/cb'])
  await assertRefused(
    server,
    [
      'localhost.evil.test',
      '127.0.0.1.evil.test',
      '127.0.0.1@evil.test',
      '0.0.0.0',
      '[::ffff:7f00:1]',
      '2130706433',
      '0x7f.1',
      '127.1',
    ].map((host) => `http://${host}/cb`),
  )
})

test('REG-09: long lists, long addresses, long names, deep nesting and unexpected members are rejected', async (t) => {
  const server = await openTestServer(t)
  const post = (payload: string) =>
    server.inject({ method: 'POST', url: PATH, headers: { 'content-type': 'application/json' }, payload })
  const table: readonly (readonly [status: number, payload: string])[] = [
    [400, JSON.stringify({ redirect_uris: Array.from({ length: 11 }, (_, index) => `${SOUND}${index}`) })],
    [400, JSON.stringify({ redirect_uris: [SOUND + 'x'.repeat(2048)] })],
    [400, JSON.stringify({ client_name: 'x'.repeat(129) })],
    [400, '{"x":[[[[[1]]]]]}'],
    [400, '['.repeat(8000) + ']'.repeat(8000)],
    [400, `{${Array.from({ length: 1000 }, (_, index) => `"k${index}":1`).join()}}`],
    [400, '{"__proto__":{"admin":true}}'],
    [400, '{"constructor":{"prototype":{"admin":true}}}'],
    [400, '{"x":[{"__proto__":1}]}'],
    [413, `{${Array.from({ length: 10_000 }, (_, index) => `"k${index}":1`).join()}}`],
  ]
  for (const [status, payload] of table) {
    const answer = await assertStoreUnchanged(server, () => post(payload), payload.slice(0, 60))
    assert.equal(answer.statusCode, status, payload.slice(0, 60))
    assert.match(answer.json().error, /^invalid_(client_metadata|redirect_uri)$/)
  }
  assert.equal(({} as { admin?: unknown }).admin, undefined)
  assert.equal((await post('{"x":[[[[1]]]]}')).statusCode, 201)
})

test('REG-09: hostile registrations are rejected quickly', async (t) => {
  const server = await openTestServer(t)
  const payloads = [
    '['.repeat(16_000),
    `{"redirect_uris":["https://a.test/${'%2'.repeat(8000)}"]}`,
    `{"contacts":["${'a@'.repeat(8000)}"]}`,
    `{"scope":"${'a '.repeat(8000)}"}`,
  ]
  const startedAt = performance.now()
  for (let round = 0; round < 10; round += 1)
    for (const payload of payloads)
      await server.inject({ method: 'POST', url: PATH, headers: { 'content-type': 'application/json' }, payload })
  const each = (performance.now() - startedAt) / (10 * payloads.length)
  assert.ok(each < 50, `${each} ms for each`)
})

test('REG-10: members that would give authority are neither stored nor echoed', async (t) => {
  const server = await openTestServer(t)
  const power = {
    client_id: 'gci_mine',
    client_secret: 'mine',
    client_secret_expires_at: 5,
    client_id_issued_at: 5,
    org_id: 'x',
    user_id: 'x',
    trusted: true,
    verified_at: 5,
    verifiedAt: 5,
    disabledAt: 5,
    usedAt: 5,
    secretHash: 'x',
    skip_consent: true,
    first_party: true,
    require_pkce: false,
    audience: 'x',
    created_by: 'x',
    registration_access_token: 'x',
    registration_client_uri: 'x',
    managementHash: 'x',
    authMethod: 'none',
    grantTypes: ['client_credentials'],
  }
  const plain = (await postJson(server, PATH, { client_name: 'A' })).json<Record<string, unknown>>()
  const powerful = (await postJson(server, PATH, { client_name: 'A', ...power })).json<Record<string, unknown>>()
  assert.deepEqual(Object.keys(powerful), Object.keys(plain))
  assert.notEqual(powerful['client_id'], 'gci_mine')
  const [first, second] = (dumpStore(server)['clients'] ?? []) as Record<string, unknown>[]
  const own = ['slot', 'client_id', 'secret_hash', 'management_hash', 'issued_at']
  for (const [column, value] of Object.entries(first ?? {}))
    if (!own.includes(column)) assert.deepEqual(second?.[column], value, column)
  assert.notEqual(second?.['secret_hash'], 'x')
})

test('REG-11: a scope that was dropped cannot be obtained later', async (t) => {
  const server = await openTestServer(t)
  await declareApi(server, 'https://api.example')
  server.clock.advance(2000)
  const client = await registerClient(server, { scope: 'admin read' })
  assert.equal(client['scope'], 'read')
  const asked = { grant_type: 'client_credentials', scope: 'admin' }
  assertError(await requestToken(server, client, asked), 400, 'invalid_scope')
  const page = await new PlainBrowser(server).get(authorizeUrl(client, { scope: 'admin' }))
  assert.equal(page.statusCode, 400)
  assert.match(page.body, /error=invalid_scope/)
})

test('REG-12: grant types and response types that do not fit together are rejected', async (t) => {
  const server = await openTestServer(t)
  for (const metadata of [
    { grant_types: ['password'] },
    { grant_types: ['implicit'] },
    { response_types: ['token'] },
    { grant_types: ['authorization_code'], response_types: ['token'] },
    { grant_types: ['implicit'], response_types: ['code'] },
    { grant_types: ['client_credentials'], token_endpoint_auth_method: 'none' },
    { token_endpoint_auth_method: 'client_secret_jwt' },
  ]) {
    const answer = await assertStoreUnchanged(server, () => postJson(server, PATH, metadata), JSON.stringify(metadata))
    assert.equal(assertError(answer, 400, 'invalid_client_metadata').detail?.length, 1)
  }
})

test('REG-12: a self-registered machine client gets a token without scope', async (t) => {
  const env = { GRANTOR_ISSUER: 'https://auth.example', GRANTOR_HOST: '127.0.0.1' }
  const server = await openTestServer(t, { env })
  const client = await registerClient(server, { grant_types: ['client_credentials'], scope: 'admin' })
  const answer = await requestToken(server, client, { grant_type: 'client_credentials' })
  assert.equal(answer.statusCode, 200)
  const [, claims = ''] = answer.json<{ access_token: string }>().access_token.split('.')
  const { sub, scope, org_id, user_id } = JSON.parse(Buffer.from(claims, 'base64url').toString()) as Record<
    string,
    unknown
  >
  assert.deepEqual(
    { sub, scope, org_id, user_id },
    { sub: client.client_id, scope: undefined, org_id: undefined, user_id: undefined },
  )
})

test('REG-15: a descriptive URI other than https is rejected', async (t) => {
  const server = await openTestServer(t)
  for (const field of ['client_uri', 'logo_uri', 'tos_uri', 'policy_uri'])
    for (const uri of ['javascript:alert(1)', 'data:text/html,x', 'http://a.test/', 'x', 'https://u:p@a.test/']) {
      const answer = await assertStoreUnchanged(server, () => postJson(server, PATH, { [field]: uri }), uri)
      const [problem = ''] = problemsOf(assertError(answer, 400, 'invalid_client_metadata'))
      assert.match(problem, new RegExp(`^body.${field}:`))
    }
})

test('REG-22: secrets are returned once, and ids are random', async (t) => {
  const server = await openTestServer(t)
  const ids = new Set<string>()
  for (let index = 0; index < 50; index += 1) {
    const answer = await postJson(server, PATH, {})
    assert.equal(answer.headers['cache-control'], 'no-store')
    const client = answer.json<Record<string, unknown>>()
    for (const secret of ['client_secret', 'registration_access_token'])
      assert.equal(answer.body.split(String(client[secret])).length, 2)
    assert.equal(client['client_secret_expires_at'], 0)
    const [, random = ''] = /^gci_[0-9a-f]{12}([A-Za-z0-9_-]{22})$/.exec(String(client['client_id'])) ?? []
    assert.equal(Buffer.from(random, 'base64url').length, 16)
    ids.add(random)
  }
  assert.equal(ids.size, 50)
})

test('REG-22: a deleted client is unknown, and its id is not reused', async (t) => {
  const server = await openTestServer(t)
  const client = await registerClient(server)
  assert.equal(await server.context.store.deleteClient(client.client_id as never), 'deleted')
  assertError(await requestToken(server, client, { grant_type: 'client_credentials' }), 401, 'invalid_client')
  assert.notEqual((await registerClient(server)).client_id, client.client_id)
})

test('REG-24: any origin may register, and cookies have no effect', async (t) => {
  const server = await openTestServer(t)
  const headers = { 'content-type': 'application/json', origin: 'https://evil.test', cookie: 'grantor-session-3000=x' }
  for (const payload of ['{}', '{']) {
    const answer = await server.inject({ method: 'POST', url: PATH, headers, payload })
    assert.equal(answer.headers['access-control-allow-origin'], '*')
    assert.equal(answer.headers['access-control-allow-credentials'], undefined)
    assert.equal(answer.headers['set-cookie'], undefined)
    assert.equal(answer.headers['vary'], undefined)
  }
})

test('REG-25: a content type that is not exactly JSON does not reach the endpoint, over a raw connection', async (t) => {
  const server = await openTestServer(t, { listen: true })
  const register = (...headers: string[]) => ask(server, { target: PATH, headers, body: '{}' })
  const before = dumpStore(server)
  for (const type of [
    'application/json\ta',
    'application/json garbage',
    'text/plain',
    'application/jsonx',
    'application/json,text/plain',
    'application/json;charset=utf-7',
    '',
  ])
    assert.equal((await register(`Content-Type: ${type}`)).status, 415, type)
  assert.equal((await register()).status, 415)
  assert.equal((await register('Content-Type: application/json', 'Content-Type: application/json')).status, 415)
  assert.equal((await register('Content-Type: text/plain', 'content-type: application/json')).status, 415)
  assert.deepEqual(dumpStore(server), before)
  // RFC 9110 §5.5: white space around a value is not part of it.
  assert.equal((await register('Content-Type:  application/json  ')).status, 201)
})

test('REG-26: a public client with a secret is rejected, and so is a confidential client without one', async (t) => {
  const server = await openTestServer(t)
  await createAda(server)
  const open = await registerClient(server, { token_endpoint_auth_method: 'none', grant_types: ['authorization_code'] })
  assert.equal(open.client_secret, undefined)
  const code = await obtainCode(server, open)
  const brought = () => redeem(server, open, code, { client_secret: 'x' })
  assertError(await assertStoreUnchanged(server, brought, 'secret of a public client'), 401, 'invalid_client')
  assert.equal((await redeem(server, open, code)).statusCode, 200)

  const closed = await registerClient(server, { token_endpoint_auth_method: 'client_secret_basic' })
  const bare = { client_id: closed.client_id }
  assertError(await requestToken(server, bare, { grant_type: 'client_credentials' }), 401, 'invalid_client')
})

test('REG-27: a redirect to the server itself is rejected, another loopback port is accepted', async (t) => {
  const server = await openTestServer(t)
  await assertRefused(server, [
    'http://localhost:3000/cb',
    'http://127.0.0.1:3000/cb',
    'http://[::1]:3000/v2/oauth/consent',
  ])
  await assertAccepted(server, ['http://localhost:3001/cb', 'http://127.0.0.1/cb'])
})

test('REG-28: a redirect URI that already has a response parameter is rejected', async (t) => {
  const server = await openTestServer(t)
  await assertRefused(
    server,
    ['code=x', 'state=x', 'iss=x', 'error=x', 'a=1&error_description=x'].map((query) => `${SOUND}?${query}`),
  )
  await assertAccepted(server, [`${SOUND}?tenant=1`])
})
