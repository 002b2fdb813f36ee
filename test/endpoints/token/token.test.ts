import assert from 'node:assert/strict'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import type { Response as LightMyRequestResponse } from 'light-my-request'
import { createAda } from '../../support/accounts.ts'
import {
  obtainCode,
  obtainTokens,
  postForm,
  redeem,
  refresh,
  registerClient,
  requestToken,
  VERIFIER,
  type RegisteredClient,
} from '../../../tools/flow.ts'
import { assertError, problemsOf } from '../../support/error-answer.ts'
import { assertStoreUnchanged } from '../../support/store/dump.ts'
import { openTestServer, type TestServer } from '../../support/server.ts'

const PATH = '/v2/oauth/token'
const FORM = 'application/x-www-form-urlencoded'

function post(server: TestServer, payload: string | Buffer, type = FORM): Promise<LightMyRequestResponse> {
  return server.inject({ method: 'POST', url: PATH, headers: { 'content-type': type }, payload })
}

function credentials(client: RegisteredClient): string {
  return new URLSearchParams({ client_id: client.client_id, client_secret: client.client_secret ?? '' }).toString()
}

test('decision 0005: a token response has status 200 and must not be cached', async (t) => {
  const server = await openTestServer(t)
  const client = await registerClient(server)
  const answer = await requestToken(server, client, { grant_type: 'client_credentials' })
  assert.equal(answer.statusCode, 200)
  assert.equal(answer.headers['content-type'], 'application/json')
  assert.equal(answer.headers['cache-control'], 'no-store')
  assert.equal(answer.headers['pragma'], 'no-cache')
  assert.equal(answer.headers['access-control-allow-origin'], '*')
})

test('decision 0005: the response has a token, its type and its lifetime, and no null', async (t) => {
  const server = await openTestServer(t)
  await createAda(server)
  const client = await registerClient(server, { grant_types: ['authorization_code'] })
  const answer = await redeem(server, client, await obtainCode(server, client))
  const { access_token, ...rest } = answer.json<Record<string, unknown>>()
  assert.match(String(access_token), /^[\w-]+\.[\w-]+\.[\w-]+$/)
  assert.deepEqual(rest, { token_type: 'Bearer', expires_in: 900 })
})

test('decision 0005: the response has scope and refresh_token if there are any', async (t) => {
  const server = await openTestServer(t)
  await createAda(server)
  const client = await registerClient(server, { scope: 'read write' })
  const tokens = await obtainTokens(server, client, { scope: 'write' })
  assert.deepEqual(Object.keys(tokens).toSorted(), [
    'access_token',
    'authorization_expires_in',
    'expires_in',
    'refresh_token',
    'refresh_token_timeout',
    'scope',
    'token_type',
  ])
  assert.equal(tokens.scope, 'write')
})

test('decision 0005: a missing or empty grant_type is a 422 invalid_request', async (t) => {
  const server = await openTestServer(t)
  for (const body of ['', 'grant_type=', 'grant_type', 'GRANT_TYPE=client_credentials', 'client_id=x']) {
    const seen = assertError(await post(server, body), 422, 'invalid_request')
    assert.deepEqual(problemsOf(seen), ['body.grant_type:missing'])
  }
})

test('decision 0005: an unknown grant_type is a 422 unsupported_grant_type that lists the supported ones', async (t) => {
  const server = await openTestServer(t)
  for (const grantType of [
    'password',
    'implicit',
    'urn:ietf:params:oauth:grant-type:device_code',
    'Refresh_Token',
    ' ',
  ]) {
    const answer = await postForm(server, PATH, { grant_type: grantType })
    const { detail } = assertError(answer, 422, 'unsupported_grant_type')
    assert.deepEqual(detail, [
      {
        loc: ['body', 'grant_type'],
        msg: 'This grant type is not supported.',
        type: 'literal_error',
        input: grantType,
        ctx: { expected: server.context.settings.grantTypes },
      },
    ])
  }
})

test('decision 0005: another content type is a 415', async (t) => {
  const server = await openTestServer(t)
  for (const type of ['application/json', 'text/plain', 'multipart/form-data; boundary=x', `${FORM}, ${FORM}`]) {
    const seen = assertError(await post(server, 'grant_type=client_credentials', type), 415, 'invalid_request')
    assert.deepEqual(problemsOf(seen), ['header.content-type:media_type'])
  }
  const missing = await server.inject({ method: 'POST', url: PATH })
  assert.equal(assertError(missing, 415, 'invalid_request').detail?.[0]?.input, null)
})

test('decision 0005: a body of more than 16 KiB is a 413', async (t) => {
  const server = await openTestServer(t)
  const seen = assertError(await post(server, `code=${'x'.repeat(16 * 1024)}`), 413, 'invalid_request')
  assert.deepEqual(problemsOf(seen), ['body:too_large'])
  assertError(await post(server, `code=${'x'.repeat(16 * 1024 - 5)}`), 422, 'invalid_request')
})

test('decision 0005: a missing parameter of a grant is a 400 invalid_request for that parameter', async (t) => {
  const server = await openTestServer(t)
  const client = await registerClient(server)
  const table = [
    [{ grant_type: 'authorization_code' }, 'code'],
    [{ grant_type: 'authorization_code', code: '', code_verifier: VERIFIER }, 'code'],
    [{ grant_type: 'refresh_token' }, 'refresh_token'],
    [{ grant_type: 'refresh_token', refresh_token: '' }, 'refresh_token'],
  ] as const
  for (const [form, field] of table) {
    const seen = assertError(await requestToken(server, client, form), 400, 'invalid_request')
    assert.deepEqual(problemsOf(seen), [`body.${field}:missing`])
  }
})

test('decision 0005: repeated parameters are a 400 invalid_request that names all of them', async (t) => {
  const server = await openTestServer(t)
  const client = await registerClient(server)
  const body = `grant_type=client_credentials&${credentials(client)}&scope=a&scope=a&x=1&x=`
  const seen = assertError(await post(server, body), 400, 'invalid_request')
  assert.deepEqual(problemsOf(seen), ['body.scope:repeated', 'body.x:repeated'])
})

test('decision 0005: a client that did not register the grant type gets 400 unauthorized_client', async (t) => {
  const server = await openTestServer(t)
  const client = await registerClient(server, { grant_types: ['authorization_code'] })
  for (const grant_type of ['client_credentials', 'refresh_token'])
    assertError(await requestToken(server, client, { grant_type }), 400, 'unauthorized_client')
})

test('decision 0005: an org_id or user_id other than the grant’s is a 400 invalid_request for that parameter', async (t) => {
  const server = await openTestServer(t)
  await createAda(server)
  const client = await registerClient(server)
  const code = await obtainCode(server, client)
  const { refresh_token = '' } = await obtainTokens(server, client, { prompt: 'consent' })
  for (const field of ['org_id', 'user_id'])
    for (const value of ['unknown', client.client_id, 'gus_0123456789abAAAAAAAAAAAAAAAAAAAAAA']) {
      const form = { [field]: value }
      const attempts = [
        () => redeem(server, client, code, form),
        () => refresh(server, client, refresh_token, form),
        () => requestToken(server, client, { grant_type: 'client_credentials', ...form }),
      ]
      for (const attempt of attempts) {
        const answer = await assertStoreUnchanged(server, attempt, `${field}=${value}`)
        const { detail } = assertError(answer, 400, 'invalid_request')
        assert.deepEqual(
          detail?.map(({ loc, input }) => [loc, input]),
          [[['body', field], value]],
        )
      }
    }
  assert.equal((await redeem(server, client, code)).statusCode, 200)
})

test('decision 0005: the user_id of the grant is accepted', async (t) => {
  const server = await openTestServer(t)
  await createAda(server)
  const client = await registerClient(server)
  const user = await server.context.store.findUserByEmail('ada@acme.test')
  const form = { user_id: user?.id ?? '' }
  const answer = await redeem(server, client, await obtainCode(server, client), form)
  assert.equal(answer.statusCode, 200)
  const { refresh_token = '' } = answer.json<{ refresh_token?: string }>()
  assert.equal((await refresh(server, client, refresh_token, form)).statusCode, 200)
})

test('decision 0005: a scope or resource that is not allowed is invalid_scope or invalid_target for that parameter', async (t) => {
  const server = await openTestServer(t)
  await createAda(server)
  const client = await registerClient(server, { scope: 'read' })
  const code = await obtainCode(server, client, { resource: 'https://api.example' })
  const { refresh_token = '' } = await obtainTokens(server, client, {
    resource: 'https://api.example',
    prompt: 'consent',
  })
  const machine = (form: Record<string, string>) =>
    requestToken(server, client, { grant_type: 'client_credentials', ...form })
  const table: readonly (readonly [string, string, () => Promise<LightMyRequestResponse>])[] = [
    ['invalid_scope', 'scope', () => machine({ scope: 'write' })],
    ['invalid_scope', 'scope', () => machine({ scope: 'a"b' })],
    ['invalid_scope', 'scope', () => refresh(server, client, refresh_token, { scope: 'read write' })],
    ['invalid_scope', 'scope', () => refresh(server, client, refresh_token, { scope: '\u0000' })],
    ['invalid_target', 'resource', () => machine({ resource: 'x' })],
    ['invalid_target', 'resource', () => machine({ resource: 'https://a.test/#x' })],
    ['invalid_target', 'resource', () => refresh(server, client, refresh_token, { resource: 'https://b.test' })],
    ['invalid_target', 'resource', () => redeem(server, client, code, { resource: 'https://b.test' })],
    ['invalid_target', 'resource', () => redeem(server, client, code, { resource: '/x' })],
  ]
  for (const [error, field, attempt] of table) {
    const answer = await assertStoreUnchanged(server, attempt, error)
    assert.deepEqual(problemsOf(assertError(answer, 400, error)), [`body.${field}:value_error`])
  }
  assert.equal((await redeem(server, client, code, { resource: 'https://api.example/' })).statusCode, 200)
})

test('decision 0006: an undeclared resource is invalid_target if the issuer is not a loopback address', async (t) => {
  const env = { GRANTOR_ISSUER: 'https://auth.example', GRANTOR_HOST: '127.0.0.1' }
  const server = await openTestServer(t, { env })
  const client = await registerClient(server)
  const form = { grant_type: 'client_credentials', resource: 'https://api.example' }
  assertError(await requestToken(server, client, form), 400, 'invalid_target')
})

test('decision 0005: errors repeat input values, but no secrets', async (t) => {
  const server = await openTestServer(t)
  const client = await registerClient(server)
  const short = { grant_type: 'authorization_code', code: 'the-code-value', code_verifier: 'the-verifier-value' }
  const malformed = await requestToken(server, client, short)
  const { detail } = assertError(malformed, 400, 'invalid_request')
  assert.deepEqual(
    detail?.map(({ loc, input }) => [loc.join('.'), input]),
    [['body.code_verifier', null]],
  )
  assert.doesNotMatch(malformed.body, /the-(code|verifier)-value/)
  const basic = { authorization: `Basic ${btoa(`${client.client_id}:${client.client_secret}`)}` }
  const twice = await postForm(server, PATH, { grant_type: 'client_credentials', client_secret: 'the-secret' }, basic)
  assert.deepEqual(assertError(twice, 400, 'invalid_request').detail?.[0]?.input, null)
  assert.doesNotMatch(twice.body, /the-secret/)
})

test('decision 0005: a missing verifier is invalid_grant and does not redeem the code', async (t) => {
  const server = await openTestServer(t)
  await createAda(server)
  const client = await registerClient(server)
  const code = await obtainCode(server, client)
  const attempt = () => requestToken(server, client, { grant_type: 'authorization_code', code })
  assertError(await assertStoreUnchanged(server, attempt, 'no verifier'), 400, 'invalid_grant')
  assert.equal((await redeem(server, client, code)).statusCode, 200)
})

test('decision 0005: checks run in order: content type, size, syntax, repeated parameters, client, grant type, parameters', async (t) => {
  const server = await openTestServer(t, { env: { GRANTOR_CLIENT_FAILURE_RATE: '1000' } })
  const client = await registerClient(server, { grant_types: ['authorization_code'] })
  const who = credentials(client)
  const big = '&x='.repeat(10_000)
  const table: readonly (readonly [status: number, error: string, body: string, type?: string])[] = [
    [415, 'invalid_request', `a&a${big}`, 'text/plain'],
    [413, 'invalid_request', `a&a${big}`],
    [422, 'unsupported_grant_type', 'grant_type=x&grant_type=y&a&a'],
    [422, 'invalid_request', `scope=a&scope=b&${who}x`],
    [400, 'invalid_request', `grant_type=refresh_token&a&a&${who}x`],
    [401, 'invalid_client', `grant_type=refresh_token&${who}x`],
    [400, 'unauthorized_client', `grant_type=refresh_token&${who}`],
    [400, 'invalid_request', `grant_type=authorization_code&${who}`],
    [400, 'invalid_grant', `grant_type=authorization_code&${who}&code=x&code_verifier=${VERIFIER}&resource=x`],
  ]
  for (const [status, error, body, type] of table) assertError(await post(server, body, type), status, error)
})

test('decision 0005: unknown form fields are ignored', async (t) => {
  const server = await openTestServer(t)
  const client = await registerClient(server)
  const form = { grant_type: 'client_credentials', audience: 'x', username: 'x', code: 'x', '': 'x', 'a[b]': 'x' }
  assert.equal((await requestToken(server, client, form)).statusCode, 200)
})

test('decision 0005: empty form values count as omitted', async (t) => {
  const server = await openTestServer(t)
  const client = await registerClient(server, { scope: 'read' })
  const empty = { scope: '', resource: '', org_id: '', user_id: '', code: '', redirect_uri: '' }
  const answer = await requestToken(server, client, { grant_type: 'client_credentials', ...empty })
  assert.equal(answer.json().scope, 'read')
})

test('decision 0005: a busy store causes a 503 and changes no token', async (t) => {
  const server = await openTestServer(t)
  await createAda(server)
  const client = await registerClient(server)
  const code = await obtainCode(server, client)
  const { refresh_token = '' } = await obtainTokens(server, client, { prompt: 'consent' })
  const other = new DatabaseSync(join(server.folder, 'grantor.db'))
  other.exec('begin immediate')
  for (const attempt of [() => redeem(server, client, code), () => refresh(server, client, refresh_token)]) {
    const answer = await attempt()
    assertError(answer, 503, 'temporarily_unavailable')
    assert.equal(answer.headers['retry-after'], '1')
  }
  other.exec('rollback')
  other.close()
  assert.equal((await redeem(server, client, code)).statusCode, 200)
  assert.equal((await refresh(server, client, refresh_token)).statusCode, 200)
})
