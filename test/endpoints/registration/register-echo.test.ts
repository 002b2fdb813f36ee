import assert from 'node:assert/strict'
import { test } from 'node:test'
import { postJson } from '../../../tools/flow.ts'
import { assertError, problemsOf } from '../../support/error-answer.ts'
import { openTestServer, type TestServer } from '../../support/server.ts'
import { declareApi } from '../../support/apis.ts'

const ADDED = ['client_id', 'client_secret', 'client_id_issued_at', 'client_secret_expires_at']
/** RFC 7592 §3: extra members, which clients ignore. */
const MANAGEMENT = ['registration_client_uri', 'registration_access_token']
const DEFAULTS = {
  redirect_uris: [],
  token_endpoint_auth_method: 'client_secret_post',
  grant_types: ['authorization_code'],
  response_types: ['code'],
}
const EVERYTHING = {
  redirect_uris: ['https://app.example/cb', 'http://127.0.0.1:33418/'],
  token_endpoint_auth_method: 'client_secret_basic',
  grant_types: ['refresh_token', 'authorization_code', 'client_credentials'],
  response_types: ['code'],
  client_name: 'Ünïcode 😀',
  client_uri: 'https://app.example',
  logo_uri: 'https://app.example/logo.png?x=1#y',
  scope: 'write read',
  contacts: ['ada@app.example', 'b@app.example'],
  tos_uri: 'https://app.example/tos',
  policy_uri: 'https://app.example/privacy',
  software_id: '4NRB1-0XZABZI9E6-5SM3R',
  software_version: '1.2.3-beta+5',
}
const NULLABLE = {
  client_name: null,
  client_uri: null,
  logo_uri: null,
  scope: null,
  contacts: null,
  tos_uri: null,
  policy_uri: null,
  software_id: null,
  software_version: null,
}

/** The echoed members, and the members that the server added. */
async function register(server: TestServer, body: object): Promise<{ echo: object; added: Record<string, unknown> }> {
  const answer = await postJson(server, '/v2/oauth/register', body)
  assert.equal(answer.statusCode, 201, answer.body)
  const members = Object.entries(answer.json<Record<string, unknown>>())
  return {
    echo: Object.fromEntries(members.filter(([name]) => ![...ADDED, ...MANAGEMENT].includes(name))),
    added: Object.fromEntries(members.filter(([name]) => [...ADDED, ...MANAGEMENT].includes(name))),
  }
}

test('The spec: {} returns the four defaults, the four added fields, and the registration access token with its URI', async (t) => {
  const server = await openTestServer(t)
  const { echo, added } = await register(server, {})
  assert.deepEqual(echo, DEFAULTS)
  assert.deepEqual(Object.keys(added).toSorted(), [...ADDED, ...MANAGEMENT].toSorted())
})

test('The spec: every field of the request is echoed under the same name', async (t) => {
  const server = await openTestServer(t)
  const { echo } = await register(server, EVERYTHING)
  assert.deepEqual(echo, EVERYTHING)
})

test('The spec: each single field is echoed beside the defaults', async (t) => {
  const server = await openTestServer(t)
  for (const [field, value] of Object.entries(EVERYTHING)) {
    const { echo } = await register(server, { [field]: value })
    assert.deepEqual(echo, { ...DEFAULTS, [field]: value }, field)
  }
})

test('decision 0005: a field that was not sent is omitted, and an empty text counts as not sent', async (t) => {
  const server = await openTestServer(t)
  const texts = Object.keys(NULLABLE).filter((field) => field !== 'contacts')
  const { echo } = await register(server, Object.fromEntries(texts.map((field) => [field, ''])))
  assert.deepEqual(echo, DEFAULTS)
  assert.deepEqual((await register(server, { contacts: [] })).echo, { ...DEFAULTS, contacts: [] })
})

test('decision 0005: null is echoed in a nullable field, and replaced by the default in the others', async (t) => {
  const server = await openTestServer(t)
  const nulls = Object.fromEntries(Object.keys(DEFAULTS).map((field) => [field, null]))
  const { echo, added } = await register(server, { ...nulls, ...NULLABLE })
  assert.deepEqual(echo, { ...DEFAULTS, ...NULLABLE })
  assert.ok(Object.values(added).every((value) => value !== null))
})

test('decision 0005: times are in seconds, and 0 means that the secret does not expire', async (t) => {
  const server = await openTestServer(t)
  const before = Math.floor(server.clock.now() / 1000)
  const { added } = await register(server, {})
  const issuedAt = Number(added['client_id_issued_at'])
  assert.ok(Number.isInteger(issuedAt) && issuedAt >= before && issuedAt <= Math.floor(server.clock.now() / 1000))
  assert.equal(added['client_secret_expires_at'], 0)
})

test('decision 0005: a public client gets neither secret nor expiry', async (t) => {
  const server = await openTestServer(t)
  const { echo, added } = await register(server, { token_endpoint_auth_method: 'none' })
  assert.deepEqual(Object.keys(added).toSorted(), ['client_id', 'client_id_issued_at'])
  assert.deepEqual(echo, { ...DEFAULTS, token_endpoint_auth_method: 'none' })
})

test('decision 0005: unsupported values are dropped, and the response has the remaining ones', async (t) => {
  const server = await openTestServer(t)
  const table = [
    [{ grant_types: ['authorization_code', 'urn:ietf:params:oauth:grant-type:device_code'] }, {}],
    [{ grant_types: ['implicit', 'client_credentials'] }, { grant_types: ['client_credentials'] }],
    [{ response_types: ['token', 'code'] }, {}],
    [
      { grant_types: ['client_credentials'], response_types: ['code'] },
      { grant_types: ['client_credentials'], response_types: [] },
    ],
    [
      { grant_types: ['authorization_code', 'refresh_token'], response_types: ['code', 'id_token'] },
      {
        grant_types: ['authorization_code', 'refresh_token'],
      },
    ],
  ] as const
  for (const [sent, kept] of table)
    assert.deepEqual((await register(server, sent)).echo, { ...DEFAULTS, ...kept }, JSON.stringify(sent))
})

test('REG-11: a scope is reduced to what the declared APIs declare, and the response has the result', async (t) => {
  const server = await openTestServer(t)
  await declareApi(server, 'https://api.example', {}, [{ name: 'read', sentence: 'Read', grantedTo: 'users' }])
  server.clock.advance(2000)
  assert.deepEqual((await register(server, { scope: 'admin read *' })).echo, { ...DEFAULTS, scope: 'read' })
  assert.deepEqual((await register(server, { scope: 'admin *' })).echo, { ...DEFAULTS, scope: '' })
})

test('REG-11: an undeclared scope is dropped if the issuer is not a loopback address, even if no API is declared', async (t) => {
  const env = { GRANTOR_ISSUER: 'https://auth.example', GRANTOR_HOST: '127.0.0.1' }
  const server = await openTestServer(t, { env })
  assert.deepEqual((await register(server, { scope: 'admin' })).echo, { ...DEFAULTS, scope: '' })
})

test('REG-07: a registration with an unsupported redirect URI is accepted, and one with a dangerous redirect URI is rejected', async (t) => {
  const server = await openTestServer(t)
  const redirect_uris = [
    'cursor://anysphere.cursor-mcp/oauth/callback',
    'odd://x',
    'https://a.test/cb',
    'http://127.0.0.1:1/cb',
  ]
  assert.deepEqual((await register(server, { redirect_uris })).echo, { ...DEFAULTS, redirect_uris })
  const dangerous = { redirect_uris: [...redirect_uris, 'javascript:alert(1)'] }
  const answer = assertError(await postJson(server, '/v2/oauth/register', dangerous), 400, 'invalid_redirect_uri')
  assert.deepEqual(problemsOf(answer), ['body.redirect_uris.4:value_error'])
})

test('decision 0005: the registration of VS Code is accepted', async (t) => {
  const server = await openTestServer(t)
  const sent = {
    client_name: 'Visual Studio Code',
    client_uri: 'https://code.visualstudio.com',
    grant_types: ['authorization_code', 'refresh_token', 'urn:ietf:params:oauth:grant-type:device_code'],
    response_types: ['code'],
    redirect_uris: [
      'https://insiders.vscode.dev/redirect',
      'https://vscode.dev/redirect',
      'http://127.0.0.1/',
      'http://127.0.0.1:33418/',
    ],
    token_endpoint_auth_method: 'none',
    application_type: 'native',
  }
  const { application_type: _ignored, ...rest } = sent
  const { echo } = await register(server, sent)
  assert.deepEqual(echo, { ...rest, grant_types: ['authorization_code', 'refresh_token'] })
})

test('RFC 7591 §2, RFC 9449 §5.2: a registration that requests DPoP-bound tokens gets them, and false is the default', async (t) => {
  const server = await openTestServer(t)
  for (const method of ['client_secret_post', 'none']) {
    const body = { ...DEFAULTS, token_endpoint_auth_method: method }
    const bound = { ...body, dpop_bound_access_tokens: true }
    assert.deepEqual((await register(server, bound)).echo, bound)
    for (const sent of [{}, { dpop_bound_access_tokens: null }, { dpop_bound_access_tokens: false }])
      assert.deepEqual((await register(server, { ...body, ...sent })).echo, body)
  }
})
