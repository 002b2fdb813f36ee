import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Response as LightMyRequestResponse } from 'light-my-request'
import { createInitialToken } from '../../../src/admin/client/initial-token.ts'
import type { ClientId } from '../../../src/protocol/ids.ts'
import { DEFAULT_TEMPLATE, type RegistrationTemplate } from '../../../src/protocol/client/registration-template.ts'
import type { Scope } from '../../../src/protocol/token/scope.ts'
import { postJson, requestToken, type RegisteredClient } from '../../../tools/flow.ts'
import { WHOLE_FILE } from '../../support/authorize-answers.ts'
import { assertError, problemsOf } from '../../support/error-answer.ts'
import { openTestServer, type TestServer } from '../../support/server.ts'
import { openStillClock } from '../../support/clocks.ts'
import { assertStoreUnchanged } from '../../support/store/dump.ts'

const server = await openTestServer(WHOLE_FILE, {
  env: { GRANTOR_REGISTRATION: 'token', GRANTOR_CLIENT_FAILURE_RATE: '1000' },
})
const DAY_MS = 86_400_000
const CHALLENGE = 'Bearer realm="grantor"'
const MACHINE = { grant_types: ['client_credentials'] }

test('IAT-01: a token for one client registers one client, however many requests present it at once', async () => {
  const token = await issue()
  const answers = await Promise.all(Array.from({ length: 100 }, () => register(token)))
  assert.equal(answers.filter(({ statusCode }) => statusCode === 201).length, 1)
  for (const answer of answers.filter(({ statusCode }) => statusCode !== 201)) assertRejected(answer)
})

test('RFC 6750 §3: without a token the answer is 401, and its challenge has no error', async () => {
  for (const headers of [{}, { authorization: 'Basic Z2NpXzpnY3Nf' }, { authorization: 'Bearer' }]) {
    const answer = await assertStoreUnchanged(server, () => post(server, MACHINE, headers))
    assertError(answer, 401, 'invalid_token')
    assert.equal(answer.headers['www-authenticate'], CHALLENGE)
  }
  assert.match(server.log(), /"reason":"initial_token_missing"/)
})

test('IAT-02: a token is valid until its time, and no longer', async (t) => {
  const own = await openTestServer(t, { env: { GRANTOR_REGISTRATION: 'token' } })
  const token = await issue({}, { uses: 2, days: 1, at: own })
  own.clock.advance(DAY_MS - 60_000)
  assert.equal((await register(token, MACHINE, own)).statusCode, 201)
  own.clock.advance(60_000)
  assertRejected(await register(token, MACHINE, own))
})

test('IAT-05: a wrong, spent, revoked, expired or foreign token gets one answer, and registers nothing', async (t) => {
  const other = await openTestServer(t)
  const spent = await issue()
  // Tokens of one millisecond have no order.
  server.clock.advance(1)
  const revoked = await issue()
  assert.equal((await register(spent)).statusCode, 201)
  const listed = await server.context.store.listInitialTokens({ before: undefined, limit: 1 })
  await server.context.store.revokeInitialToken({ id: listed[0]?.id ?? assert.fail(), now: server.context.clock() })
  const client = await registered(await issue())
  const wrong = [
    spent,
    revoked,
    await issue({}, { at: other }),
    `${await issue()}A`,
    'git_',
    'anything at all',
    String(client['registration_access_token']),
    client.client_secret ?? assert.fail(),
  ]
  const bodies = new Set<string>()
  for (const token of wrong) {
    const answer = await assertStoreUnchanged(server, () => register(token))
    assertRejected(answer)
    bodies.add(answer.body)
  }
  assert.equal(bodies.size, 1)
})

test('IAT-05: failures are counted, so that a caller with wrong tokens gets 429', async (t) => {
  const own = await openTestServer(t, {
    clock: openStillClock(),
    env: { GRANTOR_REGISTRATION: 'token', GRANTOR_CLIENT_FAILURE_RATE: '3' },
  })
  const answers = []
  for (const token of Array(5).fill('git_wrong') as string[])
    answers.push((await register(token, MACHINE, own)).statusCode)
  assert.deepEqual(answers, [401, 401, 401, 429, 429])
  assert.equal((await post(own, MACHINE, {})).statusCode, 401)
})

test('IAT-03: the body cannot register more than the scope of the template, and no scope is that scope', async () => {
  const template = { scope: 'read write' as Scope }
  for (const [sent, expected] of [
    ['read admin', 'read'],
    ['admin', ''],
    [undefined, 'read write'],
    [null, 'read write'],
  ] as const) {
    const client = await registered(await issue(template), { ...MACHINE, scope: sent })
    assert.equal(client['scope'], expected, String(sent))
    const answer = await requestToken(server, client, { grant_type: 'client_credentials', scope: 'admin' })
    assertError(answer, 400, 'invalid_scope')
  }
})

test('IAT-03: an update cannot widen the scope either', async () => {
  const client = await registered(await issue({ scope: 'read' as Scope }), { ...MACHINE, scope: 'read' })
  for (const scope of ['read admin', null, undefined]) {
    const answer = await update(client, { ...MACHINE, scope })
    assert.equal(answer.statusCode, 200, answer.body)
    assert.equal(answer.json<RegisteredClient>()['scope'], 'read')
  }
})

test('IAT-03: every redirect URI has a host of the template, at registration and at an update', async () => {
  const redirectHosts = ['app.example', '*.acme.example', 'localhost', '127.0.0.1']
  const token = await issue({ redirectHosts }, { uses: 100 })
  const right = [
    'https://app.example/cb',
    'https://a.b.acme.example/cb',
    'http://127.0.0.1:4000/cb',
    'http://localhost/cb',
  ]
  const client = await registered(token, { redirect_uris: right })
  for (const wrong of [
    'https://other.example/cb',
    'https://acme.example/cb',
    'https://app.example.evil.example/cb',
    'http://[::1]/cb',
    'com.example.app:/cb',
    'com.example.app://app.example/cb',
  ]) {
    const redirect_uris = [...right, wrong]
    for (const answer of [await register(token, { redirect_uris }), await update(client, { redirect_uris })]) {
      assert.deepEqual(
        problemsOf(assertError(answer, 400, 'invalid_redirect_uri')),
        ['body.redirect_uris.4:value_error'],
        wrong,
      )
    }
  }
  const [stored] = await server.context.store.listInitialTokens({ before: undefined, limit: 1 })
  assert.equal(stored?.usesLeft, 99, 'A registration that is refused uses up nothing.')
})

test('IAT-03: every URI to which the server sends a browser or a notice has a host of the template', async () => {
  const token = await issue({ redirectHosts: ['app.example', 'localhost'], trustLevel: 'verified' }, { uses: 20 })
  const right = {
    redirect_uris: ['https://app.example/cb'],
    post_logout_redirect_uris: ['https://app.example/out', 'http://localhost:4000/out'],
    backchannel_logout_uri: 'https://app.example/notice',
    jwks_uri: 'https://keys.example/jwks',
    token_endpoint_auth_method: 'private_key_jwt',
  }
  const client = await registered(token, right)
  for (const [members, places, code] of [
    [{ post_logout_redirect_uris: ['https://evil.example/out'] }, ['post_logout_redirect_uris.0']],
    [{ post_logout_redirect_uris: ['https://app.example/out', 'com.app:/out'] }, ['post_logout_redirect_uris.1']],
    [{ backchannel_logout_uri: 'https://evil.example/notice' }, ['backchannel_logout_uri']],
    [
      { redirect_uris: ['https://evil.example/cb'], backchannel_logout_uri: 'https://evil.example/notice' },
      ['backchannel_logout_uri', 'redirect_uris.0'],
      'invalid_redirect_uri',
    ],
  ] as const) {
    const body = { ...right, ...members }
    for (const send of [() => register(token, body), () => update(client, body)]) {
      const error = assertError(await assertStoreUnchanged(server, send), 400, code ?? 'invalid_client_metadata')
      assert.deepEqual(
        problemsOf(error),
        places.map((place) => `body.${place}:value_error`),
      )
    }
  }
})

test('IAT-03: members that name a template, a trust level or a token have no effect', async () => {
  const power = {
    trust_level: 'verified',
    template: { trust_level: 'verified' },
    initial_token: 'x',
    unused: 'keep',
    verified: true,
  }
  const client = await registered(await issue({ unused: 'sweep' }), { ...MACHINE, ...power })
  assert.deepEqual(
    Object.keys(power).filter((name) => name in client),
    [],
  )
  const stored = await find(client)
  assert.deepEqual([stored?.verifiedAt, stored?.source, stored?.approvedScope], [undefined, 'registration', ''])
})

test('a template makes verified clients, and a change of the redirect host ends that', async () => {
  const client = await registered(await issue({ trustLevel: 'verified' }), {
    redirect_uris: ['https://app.example/cb'],
  })
  assert.notEqual((await find(client))?.verifiedAt, undefined)
  assert.equal((await update(client, { redirect_uris: ['https://other.example/cb'] })).statusCode, 200)
  assert.equal((await find(client))?.verifiedAt, undefined)
})

test('public clients with equal metadata are not shared, have no secret, and manage themselves', async () => {
  const token = await issue({}, { uses: 2 })
  const body = { token_endpoint_auth_method: 'none', redirect_uris: ['https://app.example/cb'] }
  const [first, second] = [await registered(token, body), await registered(token, body)]
  assert.notEqual(first.client_id, second.client_id)
  assertRejected(await register(token, body))
  assert.ok(!('client_secret' in first))
  assert.equal((await update(first, { ...body, client_name: 'Renamed' })).statusCode, 200)
  for (const token_endpoint_auth_method of ['client_secret_basic', undefined]) {
    const answer = await update(first, { ...body, token_endpoint_auth_method })
    assert.deepEqual(problemsOf(assertError(answer, 400, 'invalid_client_metadata')), [
      'body.token_endpoint_auth_method:literal_error',
    ])
  }
  const secret = await manage(first, 'POST', {}, '/secret')
  assert.deepEqual(problemsOf(assertError(secret, 400, 'invalid_client_metadata')), ['body.client_secret:value_error'])
  assert.equal((await manage(first, 'DELETE')).statusCode, 204)
  assert.notEqual(await find(second), undefined)
})

test('an open server needs no token, applies the template of one that is presented, and refuses a wrong one', async (t) => {
  const open = await openTestServer(t)
  assert.equal((await post(open, MACHINE, {})).statusCode, 201)
  assert.equal((await post(open, MACHINE, { authorization: 'Basic abc' })).statusCode, 201)
  const token = await issue({ trustLevel: 'verified' }, { at: open })
  const client = (await register(token, MACHINE, open)).json<RegisteredClient>()
  assert.notEqual((await find(client, open))?.verifiedAt, undefined)
  assertRejected(await register(token, MACHINE, open))
})

test('WAY-04: a closed server answers 404, also with a token, and does not use it up', async (t) => {
  const closed = await openTestServer(t, { env: { GRANTOR_REGISTRATION: 'closed' } })
  const token = await issue({}, { at: closed })
  assertError(await assertStoreUnchanged(closed, () => register(token, MACHINE, closed)), 404, 'invalid_request')
})

test('a server that requires a token advertises its registration endpoint', async () => {
  const answer = await server.inject({ url: '/.well-known/oauth-authorization-server' })
  assert.equal(answer.json<Record<string, unknown>>()['registration_endpoint'], `${server.origin}/v2/oauth/register`)
})

test('a template keeps unused clients, or lets them be swept', async (t) => {
  const own = await openTestServer(t)
  const [kept, gone] = await Promise.all(
    (['keep', 'sweep'] as const).map(async (unused) =>
      (await register(await issue({ unused }, { at: own }), MACHINE, own)).json<RegisteredClient>(),
    ),
  )
  const later = own.context.clock() + 2 * DAY_MS
  const { sweepExpired } = own.context.store
  const sweep = {
    now: later,
    unusedSince: later,
    limit: 10,
    authorizationsAfter: '',
    removedTo: {},
  } as const
  const never = {
    revocationsBefore: 0,
    authorizationsBefore: 0,
    evidenceBefore: 0,
    initialTokensBefore: 0,
    logoutNoticesBefore: 0,
    auditBefore: 0,
    figuresBefore: { '5m': 0, '1h': 0, '1d': 0 },
  }
  assert.equal((await sweepExpired({ ...sweep, ...never } as never)).clients, 1)
  assert.notEqual(await find(kept ?? assert.fail(), own), undefined)
  assert.equal(await find(gone ?? assert.fail(), own), undefined)
})

interface Issue {
  readonly uses?: number
  readonly days?: number
  readonly at?: TestServer
}

async function issue(
  template: Partial<RegistrationTemplate> = {},
  { uses = 1, days = 30, at = server }: Issue = {},
): Promise<string> {
  const input = { name: 'A pipeline', uses, days, template: { ...DEFAULT_TEMPLATE, ...template } }
  return (await createInitialToken(at.context, input)).token
}

function post(
  at: TestServer,
  body: object,
  headers: Readonly<Record<string, string>>,
): Promise<LightMyRequestResponse> {
  const inject: TestServer['inject'] = (request) =>
    at.inject({ ...request, headers: { ...request.headers, ...headers } })
  return postJson({ inject }, '/v2/oauth/register', body)
}

function register(token: string, body: object = MACHINE, at = server): Promise<LightMyRequestResponse> {
  return post(at, body, { authorization: `Bearer ${token}` })
}

async function registered(token: string, body: object = MACHINE): Promise<RegisteredClient> {
  const answer = await register(token, body)
  assert.equal(answer.statusCode, 201, answer.body)
  return answer.json<RegisteredClient>()
}

function assertRejected(answer: LightMyRequestResponse): void {
  assertError(answer, 401, 'invalid_token')
  assert.equal(answer.headers['www-authenticate'], `${CHALLENGE}, error="invalid_token"`)
}

function find({ client_id }: RegisteredClient, at = server) {
  return at.context.store.findClient(client_id as ClientId)
}

function update(
  { client_id, client_secret, ...client }: RegisteredClient,
  members: object,
): Promise<LightMyRequestResponse> {
  return manage({ client_id, ...client }, 'PUT', { client_id, client_secret, ...members })
}

function manage(
  client: RegisteredClient,
  method: 'PUT' | 'POST' | 'DELETE',
  payload?: object,
  suffix = '',
): Promise<LightMyRequestResponse> {
  const { pathname, search } = new URL(String(client['registration_client_uri']))
  const authorization = `Bearer ${String(client['registration_access_token'])}`
  const body = payload === undefined ? {} : { payload: JSON.stringify(payload) }
  const headers = { authorization, ...(payload === undefined ? {} : { 'content-type': 'application/json' }) }
  return server.inject({ method, url: pathname + suffix + search, headers, ...body })
}
