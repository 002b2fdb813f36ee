import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decodeJwt } from 'jose'
import { createApi, createApiCredentials } from '../../../src/admin/api/api.ts'
import { createAda } from '../../support/accounts.ts'
import {
  EMAIL,
  obtainTokens,
  postForm,
  refresh,
  registerClient,
  requestToken,
  type RegisteredClient,
} from '../../../tools/flow.ts'
import { openTestServer, type TestServer } from '../../support/server.ts'
import { assertStoreUnchanged } from '../../support/store/dump.ts'
import { WHOLE_FILE } from '../../support/authorize-answers.ts'
import { introspect, isActive, revoke } from '../../support/token-questions.ts'
import { anApiDeclaration } from '../../support/records.ts'
import { perform, performOnUser } from '../../support/tasks.ts'

const API = 'https://api.example'
const OTHER_API = 'https://other.example'
const INACTIVE = '{"active":false}'

async function openWithApis(): Promise<{ server: TestServer; api: RegisteredClient; otherApi: RegisteredClient }> {
  const server = await openTestServer(WHOLE_FILE)
  await createAda(server)
  const scopes = [{ name: 'read', sentence: 'Read', grantedTo: 'users-and-machines' } as const]
  const credentials: RegisteredClient[] = []
  for (const resource of [API, OTHER_API]) {
    await createApi(server.context, anApiDeclaration(resource, { scopes }))
    const { id, secret } = await createApiCredentials(server.context, resource)
    credentials.push({ client_id: id, client_secret: secret })
  }
  server.clock.advance(2000)
  const [api, otherApi] = credentials
  assert.ok(api && otherApi)
  return { server, api, otherApi }
}

const { server, api, otherApi } = await openWithApis()

async function aGrantFor(resource: string) {
  const client = await registerClient(server, { scope: 'read' })
  const tokens = await obtainTokens(server, client, { scope: 'read', resource })
  return { client, access: tokens.access_token, refreshToken: tokens.refresh_token ?? '' }
}

test('RFC 7662 §2.2: an API reads the claims of an active token of its audience, and nothing that the token does not have', async () => {
  const { access } = await aGrantFor(API)
  const answer = await introspect(server, api, access)
  assert.equal(answer.statusCode, 200)
  const { grant_id: _, ...claims } = decodeJwt(access)
  assert.deepEqual(answer.json(), { active: true, token_type: 'Bearer', ...claims })
})

test('RFC 7662 §2.2: a client reads its own access and refresh tokens', async () => {
  const { client, access, refreshToken } = await aGrantFor(API)
  assert.equal(await isActive(server, client, access), true)
  const {
    refresh_token_timeout: left,
    authorization_expires_in: end,
    ...about
  } = (await introspect(server, client, refreshToken)).json()
  assert.ok(left > 29 * 86_400 && left <= 30 * 86_400 && end > left)
  const { sub, iat } = decodeJwt(access)
  assert.deepEqual(about, {
    active: true,
    iss: server.origin,
    sub,
    client_id: client.client_id,
    iat,
    exp: (iat ?? 0) + 30 * 86_400,
    scope: 'read',
  })
})

test('INT-01: the caller must authenticate', async () => {
  const { access } = await aGrantFor(API)
  const attempts: Readonly<Record<string, string>>[] = [
    {},
    { client_id: api.client_id },
    { client_id: api.client_id, client_secret: '' },
    { client_id: api.client_id, client_secret: 'wrong' },
    { client_id: api.client_id, client_secret: otherApi.client_secret ?? '' },
    { client_id: `gap_${'0'.repeat(34)}`, client_secret: api.client_secret ?? '' },
    { client_id: 'gci_unknown', client_secret: 'wrong' },
  ]
  for (const credentials of attempts) {
    const answer = await postForm(server, '/v2/oauth/introspect', { token: access, ...credentials })
    assert.deepEqual([answer.statusCode, answer.json().error], [401, 'invalid_client'], JSON.stringify(credentials))
  }
  const basic = Buffer.from(`${api.client_id}:wrong`).toString('base64')
  const answer = await postForm(server, '/v2/oauth/introspect', { token: access }, { authorization: `Basic ${basic}` })
  assert.match(String(answer.headers['www-authenticate']), /^Basic /)
})

test('INT-01: the caller authenticates by Basic or by post', async () => {
  const { access } = await aGrantFor(API)
  const basic = Buffer.from(`${api.client_id}:${api.client_secret}`).toString('base64')
  const answer = await postForm(server, '/v2/oauth/introspect', { token: access }, { authorization: `Basic ${basic}` })
  assert.equal(answer.json().active, true)
})

test('INT-02: a public client may not introspect tokens, and a client sees no token of another client', async () => {
  const { access, refreshToken } = await aGrantFor(API)
  const open = await registerClient(server, {
    token_endpoint_auth_method: 'none',
    grant_types: ['authorization_code', 'refresh_token'],
  })
  const refused = await introspect(server, open, access)
  assert.deepEqual([refused.statusCode, refused.json().error], [403, 'unauthorized_client'])
  const other = await registerClient(server)
  for (const token of [access, refreshToken]) assert.equal((await introspect(server, other, token)).body, INACTIVE)
})

test('INT-03: the response for an unknown, malformed, expired, replaced or revoked token is only active: false', async () => {
  const { client, access, refreshToken } = await aGrantFor(API)
  await refresh(server, client, refreshToken)
  for (const token of ['x', 'grt_x', 'a.b.c', `${access}x`, access.slice(0, -1), 'x'.repeat(10_000), refreshToken]) {
    const answer = await assertStoreUnchanged(server, () => introspect(server, client, token))
    assert.deepEqual([answer.statusCode, answer.body], [200, INACTIVE], token.slice(0, 40))
  }
  assert.equal(await isActive(server, client, access), true)
  server.clock.advance(901_000)
  assert.equal((await introspect(server, client, access)).body, INACTIVE)
})

test('INT-04: an API that is not in the audience of a token gets only active: false', async () => {
  const { access } = await aGrantFor(API)
  assert.equal((await introspect(server, otherApi, access)).body, INACTIVE)
  const client = await registerClient(server, { scope: 'read' })
  const issuerOnly = (await requestToken(server, client, { grant_type: 'client_credentials' })).json().access_token
  assert.equal((await introspect(server, api, issuerOnly)).body, INACTIVE)
})

test('INT-05: an API cannot introspect a refresh token', async () => {
  const { refreshToken } = await aGrantFor(API)
  assert.equal((await introspect(server, api, refreshToken)).body, INACTIVE)
})

test('INT-06: deleting the client or disabling the user makes every older token inactive, even after the user is enabled again', async () => {
  const { client, access } = await aGrantFor(API)
  await server.context.store.deleteClient(client.client_id as never)
  assert.equal((await introspect(server, api, access)).body, INACTIVE)
  const second = await aGrantFor(API)
  await performOnUser(server.context, 'user.disable', EMAIL)
  assert.equal((await introspect(server, api, second.access)).body, INACTIVE)
  await server.context.store.enableUser({ id: decodeJwt(second.access).sub as never, now: server.clock.now() })
  assert.equal((await introspect(server, api, second.access)).body, INACTIVE)
})

test('INT-06: the tokens of a disabled client are inactive and it cannot introspect or revoke, until it is enabled again', async () => {
  const { client, access } = await aGrantFor(API)
  await perform(server.context, 'client.disable', { client_id: client.client_id })
  assert.equal((await introspect(server, api, access)).body, INACTIVE)
  assert.equal((await introspect(server, client, access)).json().error, 'invalid_client')
  assert.equal((await revoke(server, client, access)).json().error, 'invalid_client')
  await perform(server.context, 'client.enable', { client_id: client.client_id })
  assert.equal(await isActive(server, api, access), true)
  assert.equal(await isActive(server, client, access), true)
})

test('a response must not be cached, and scripts of other origins cannot read it', async () => {
  const { headers } = await introspect(server, api, 'x')
  assert.equal(headers['cache-control'], 'no-store')
  assert.equal(headers['access-control-allow-origin'], undefined)
})

test('new credentials of an API invalidate the old ones', async () => {
  const { id, secret } = await createApiCredentials(server.context, OTHER_API)
  server.clock.advance(2000)
  assert.equal((await introspect(server, otherApi, 'x')).statusCode, 401)
  assert.equal((await introspect(server, { client_id: id, client_secret: secret }, 'x')).statusCode, 200)
})
