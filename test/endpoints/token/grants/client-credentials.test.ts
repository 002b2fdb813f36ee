import assert from 'node:assert/strict'
import { test } from 'node:test'
import { postForm, registerClient, requestToken, type RegisteredClient } from '../../../../tools/flow.ts'
import { assertError, problemsOf } from '../../../support/error-answer.ts'
import { execute, assertStoreUnchanged } from '../../../support/store/dump.ts'
import { openTestServer, type TestServer, type TestServerOptions } from '../../../support/server.ts'
import { declareApi } from '../../../support/apis.ts'

const PUBLIC_ISSUER = { GRANTOR_ISSUER: 'https://auth.example', GRANTOR_HOST: '127.0.0.1' }
const API = 'https://api.example'
const OTHER = 'https://other.example'

/** A server with two APIs: one gives `read` to machines and `write` to people only, the other gives `admin` to machines. */
async function openWithApis(
  t: Parameters<typeof openTestServer>[0],
  options: TestServerOptions = {},
): Promise<TestServer> {
  const server = await openTestServer(t, options)
  await declareApi(server, API, {}, [
    { name: 'read', sentence: 'Read', grantedTo: 'users-and-machines' },
    { name: 'write', sentence: 'Write', grantedTo: 'users' },
  ])
  await declareApi(server, OTHER, {}, [{ name: 'admin', sentence: 'Administer', grantedTo: 'users-and-machines' }])
  server.clock.advance(2000)
  return server
}

function ask(server: TestServer, client: RegisteredClient, form: Record<string, string> = {}) {
  return requestToken(server, client, { grant_type: 'client_credentials', ...form })
}

function claimsOf(body: string): Record<string, unknown> {
  const [, claims = ''] = (JSON.parse(body) as { access_token: string }).access_token.split('.')
  return JSON.parse(Buffer.from(claims, 'base64url').toString()) as Record<string, unknown>
}

test('CC-01: a public client gets no token by client credentials', async (t) => {
  const server = await openTestServer(t)
  const client = await registerClient(server, { token_endpoint_auth_method: 'none' })
  assert.deepEqual(client['grant_types'], ['authorization_code', 'refresh_token'])
  assertError(await ask(server, client), 400, 'unauthorized_client')
  assertError(await ask(server, { ...client, client_secret: 'x' }), 401, 'invalid_client')
})

test('CC-01: a public client gets no token even if its record has the grant type', async (t) => {
  const server = await openTestServer(t)
  const client = await registerClient(server, { token_endpoint_auth_method: 'none' })
  const widened = `update clients set metadata = json_replace(metadata, '$.grant_types', json('["client_credentials"]')) where client_id = ?`
  execute(server, widened, client.client_id)
  assertError(await assertStoreUnchanged(server, () => ask(server, client), 'public'), 400, 'unauthorized_client')
  assert.match(server.log(), /"reason":"client_public"/)
})

test('CC-02: a scope outside the registration is never granted, and without scope the registered one is', async (t) => {
  const server = await openTestServer(t)
  const client = await registerClient(server, { scope: 'read write' })
  for (const scope of ['admin', '*', 'READ', 'read,write', 'readwrite']) {
    const answer = await assertStoreUnchanged(server, () => ask(server, client, { scope }), scope)
    assert.deepEqual(problemsOf(assertError(answer, 400, 'invalid_scope')), ['body.scope:value_error'])
  }
  assert.equal((await ask(server, client)).json().scope, 'read write')
  assert.equal((await ask(server, client, { scope: 'read admin' })).json().scope, 'read')
  const narrow = await ask(server, client, { scope: 'write  write' })
  assert.equal(narrow.json().scope, 'write')
  assert.equal(claimsOf(narrow.body)['scope'], 'write')
})

test('CC-02: a client whose requested scopes were all dropped at registration gets no scope', async (t) => {
  const server = await openWithApis(t)
  const client = await registerClient(server, { scope: 'nonsense' })
  assert.equal(client['scope'], '')
  assertError(await ask(server, client, { scope: 'read' }), 400, 'invalid_scope')
  assert.ok(!('scope' in (await ask(server, client)).json()))
})

test('CC-03: there is no refresh token, even for a client that registered refresh_token', async (t) => {
  const server = await openTestServer(t)
  const client = await registerClient(server, { scope: 'read offline_access' })
  for (const form of [{}, { scope: 'read offline_access' }]) {
    const answer = await ask(server, client, form)
    assert.equal(answer.statusCode, 200)
    assert.ok(!('refresh_token' in answer.json()))
  }
})

test('CC-05: registration gives no authority: a machine gets a scope only if its API gives it to machines', async (t) => {
  for (const env of [PUBLIC_ISSUER, {}]) {
    const server = await openWithApis(t, { env })
    const client = await registerClient(server, { scope: 'read write admin' })
    assert.equal((await ask(server, client)).json().scope, 'read admin')
    assertError(await ask(server, client, { scope: 'write' }), 400, 'invalid_scope')
    for (const scope of ['read', 'read write'])
      assert.equal((await ask(server, client, { scope })).json().scope, 'read')
  }
})

test('CC-05: a client that registered no scope is limited to scopes for machines', async (t) => {
  const server = await openWithApis(t, { env: PUBLIC_ISSUER })
  const client = await registerClient(server)
  assert.ok(!('scope' in (await ask(server, client)).json()))
  assert.equal((await ask(server, client, { scope: 'read' })).json().scope, 'read')
  assertError(await ask(server, client, { scope: 'write' }), 400, 'invalid_scope')
  assertError(await ask(server, client, { scope: 'undeclared' }), 400, 'invalid_scope')
})

test('CC-05: a scope that is requested with the resource of another API is rejected', async (t) => {
  const server = await openWithApis(t)
  const client = await registerClient(server)
  assert.equal((await ask(server, client, { scope: 'admin', resource: OTHER })).statusCode, 200)
  assertError(await ask(server, client, { scope: 'admin', resource: API }), 400, 'invalid_scope')
  const refused = await ask(server, client, { scope: 'read', resource: 'https://unknown.example/x?secret' })
  const { error_description: description } = assertError(refused, 400, 'invalid_target')
  assert.match(
    description,
    /^No API is declared for https:\/\/unknown\.example\/x \(written differently, or with parts [^()]*\)\.$/,
  )
})

test('CC-05: the token of a self-registered machine has no subject other than the client', async (t) => {
  const server = await openWithApis(t, { env: PUBLIC_ISSUER })
  const client = await registerClient(server, { org_id: 'x', user_id: 'x' })
  const { iat, exp, jti, ...claims } = claimsOf(
    (await ask(server, client, { scope: 'read', resource: `${API}/` })).body,
  )
  assert.deepEqual(claims, {
    iss: 'https://auth.example',
    aud: API,
    sub: client.client_id,
    client_id: client.client_id,
    scope: 'read',
  })
  assert.equal(Number(exp) - Number(iat), 900)
  assert.equal(typeof jti, 'string')
})

test('decision 0005: without a resource the audience is the issuer', async (t) => {
  const server = await openTestServer(t)
  const client = await registerClient(server)
  assert.equal(claimsOf((await ask(server, client)).body)['aud'], server.origin)
})

test('RFC 9068 §2.2: each token has its own id', async (t) => {
  const server = await openTestServer(t)
  const client = await registerClient(server)
  const answers = await Promise.all(Array.from({ length: 20 }, () => ask(server, client)))
  assert.equal(new Set(answers.map(({ body }) => claimsOf(body)['jti'])).size, 20)
})

test('decision 0021: the first token marks the client as used, and later ones change nothing', async (t) => {
  const server = await openTestServer(t)
  const client = await registerClient(server)
  assert.equal((await server.context.store.findClient(client.client_id as never))?.usedAt, undefined)
  await ask(server, client)
  const used = await server.context.store.findClient(client.client_id as never)
  assert.ok(used?.usedAt !== undefined)
  server.clock.advance(5000)
  await assertStoreUnchanged(server, () => ask(server, client), 'second token')
})

test('RFC 6749 §4.4.2: the client may authenticate with only the Basic header', async (t) => {
  const server = await openTestServer(t)
  const { client_id, client_secret } = await registerClient(server, {
    token_endpoint_auth_method: 'client_secret_basic',
  })
  const headers = { authorization: `Basic ${btoa(`${client_id}:${client_secret}`)}` }
  const answer = await postForm(server, '/v2/oauth/token', { grant_type: 'client_credentials' }, headers)
  assert.equal(claimsOf(answer.body)['client_id'], client_id)
})
