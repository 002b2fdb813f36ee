import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Response as LightMyRequestResponse } from 'light-my-request'
import { MAXIMA } from '../../../src/base/maxima.ts'
import { createAda } from '../../support/accounts.ts'
import {
  EMAIL,
  obtainCode,
  obtainTokens,
  redeem,
  refresh,
  registerClient,
  requestToken,
  VERIFIER,
} from '../../../tools/flow.ts'
import { assertError, problemsOf } from '../../support/error-answer.ts'
import { execute, assertStoreUnchanged } from '../../support/store/dump.ts'
import { openTestServer, type TestServer } from '../../support/server.ts'
import { perform, performOnUser } from '../../support/tasks.ts'

const PATH = '/v2/oauth/token'
const FORM = 'application/x-www-form-urlencoded'
const MACHINE = { grant_type: 'client_credentials' }
const GRANT_TYPES = ['authorization_code', 'client_credentials', 'refresh_token']
const PATIENT = { env: { GRANTOR_CLIENT_FAILURE_RATE: '1000000' } }

function post(server: TestServer, payload: string | Buffer, type = FORM): Promise<LightMyRequestResponse> {
  return server.inject({ method: 'POST', url: PATH, headers: { 'content-type': type }, payload })
}

test('TOK-01: the token endpoint accepts only POST', async (t) => {
  const server = await openTestServer(t)
  for (const method of ['GET', 'PUT', 'DELETE', 'PATCH'] as const) {
    const answer = await server.inject({ method, url: `${PATH}?grant_type=client_credentials` })
    assertError(answer, 405, 'invalid_request')
    assert.equal(answer.headers['allow'], 'POST, OPTIONS')
  }
})

test('TOK-01: parameters in the query are rejected and not logged', async (t) => {
  const server = await openTestServer(t)
  const client = await registerClient(server)
  const all = new URLSearchParams({
    ...MACHINE,
    client_id: client.client_id,
    client_secret: client.client_secret ?? '',
  })
  const inside = all.toString()
  for (const [query, body] of [
    [inside, ''],
    [inside, inside],
    ['client_secret=marked-secret', inside],
    ['%zz=marked-secret', inside],
  ] as const) {
    const url = `${PATH}?${query}`
    const answer = await server.inject({ method: 'POST', url, headers: { 'content-type': FORM }, payload: body })
    for (const problem of problemsOf(assertError(answer, 400, 'invalid_request'))) assert.match(problem, /^query/)
    assert.doesNotMatch(answer.body, /marked-secret/)
  }
  assert.doesNotMatch(server.log(), /marked-secret/)
  assert.ok(!server.log().includes(client.client_secret ?? '-'))
  assert.equal(
    (await server.inject({ method: 'POST', url: `${PATH}?`, headers: { 'content-type': FORM }, payload: inside }))
      .statusCode,
    200,
  )
})

/** Every parameter that an endpoint reads from a form. */
const FORM_PARAMETERS: Readonly<Record<string, readonly string[]>> = {
  '/v2/oauth/token': ['grant_type', 'client_id', 'client_secret', 'client_assertion', 'client_assertion_type', 'code'],
  '/v2/oauth/introspect': ['token', 'token_type_hint', 'client_id', 'client_secret'],
  '/v2/oauth/revoke': ['token', 'token_type_hint', 'client_id', 'client_secret'],
  '/v2/oauth/userinfo': ['access_token', 'token'],
}
const OF_GRANTS = ['code_verifier', 'redirect_uri', 'refresh_token', 'scope', 'resource', 'org_id', 'user_id']

test('TOK-01, RFC 6749 §3.2: a form parameter in the query is rejected; an unrecognized one is neither used nor logged', async (t) => {
  const server = await openTestServer(t)
  await createAda(server)
  const client = await registerClient(server, { grant_types: ['authorization_code', 'client_credentials'] })
  const tokens = await obtainTokens(server, client, { scope: 'openid' })
  const bearer = { authorization: `Bearer ${tokens.access_token}` }
  const credentials = { client_id: client.client_id, client_secret: client.client_secret ?? '' }
  const form = (fields: Readonly<Record<string, string>>) => ({
    headers: { 'content-type': FORM },
    payload: new URLSearchParams({ ...credentials, ...fields }).toString(),
  })
  const inspected = form({ token: tokens.access_token })
  const requests = [
    { method: 'POST', url: PATH, ...form(MACHINE) },
    { method: 'POST', url: '/v2/oauth/introspect', ...inspected },
    { method: 'GET', url: '/v2/oauth/userinfo', headers: bearer },
    { method: 'POST', url: '/v2/oauth/userinfo', headers: { ...bearer, 'content-type': FORM } },
    { method: 'POST', url: '/v2/oauth/revoke', ...inspected },
  ] as const
  for (const request of requests) {
    for (const name of [...(FORM_PARAMETERS[request.url] ?? []), ...OF_GRANTS]) {
      const answer = await server.inject({ ...request, url: `${request.url}?schema=openid&${name}=marked-secret` })
      assert.equal(answer.statusCode, 400, answer.body)
      assert.deepEqual(problemsOf(answer.json()), [`query.${name}:value_error`])
    }
    const ignored = await server.inject({ ...request, url: `${request.url}?schema=openid&x=marked-secret&x=2&login=` })
    assert.equal(ignored.statusCode, 200, `${request.url} ${ignored.body}`)
    assert.doesNotMatch(ignored.body, /marked-secret/)
  }
  assert.doesNotMatch(server.log(), /marked-secret|schema/)
})

test('TOK-02: malformed bodies and content types are a 4xx and never a 5xx', async (t) => {
  const server = await openTestServer(t)
  const table: readonly (readonly [status: number, body: string | Buffer, type: string])[] = [
    [415, 'grant_type=x', 'application/json, application/x-www-form-urlencoded'],
    [415, '{}', 'application/json'],
    [415, '--x', 'multipart/form-data; boundary=x'],
    [415, 'grant_type=x', `${FORM}; charset=utf-16`],
    [415, 'grant_type=x', `${FORM}; charset`],
    [415, 'grant_type=x', `;${FORM}`],
    [415, 'grant_type=x', '/'],
    [400, 'grant_type=%', FORM],
    [400, 'grant_type=%c3', FORM],
    [400, 'a=%zz', FORM],
    [400, Buffer.from([0x61, 0x3d, 0xff]), FORM],
    [422, '&&&=&=', FORM],
    [422, '\u0000=\u0000', FORM],
    [422, '{"grant_type":"client_credentials"}', FORM],
  ]
  for (const [status, body, type] of table) assertError(await post(server, body, type), status, 'invalid_request')
})

test('TOK-03: a repeated parameter is rejected, even with the same or an empty value', async (t) => {
  const server = await openTestServer(t)
  await createAda(server)
  const client = await registerClient(server)
  const code = await obtainCode(server, client)
  const form = {
    grant_type: 'authorization_code',
    client_id: client.client_id,
    client_secret: client.client_secret ?? '',
    code,
    code_verifier: VERIFIER,
  }
  const body = new URLSearchParams(form).toString()
  for (const [name, value] of [...Object.entries(form), ['unknown', 'x'] as const])
    for (const again of [value, 'x', '']) {
      const twice = `${body}&${name === 'unknown' ? 'unknown=x&' : ''}${name}=${encodeURIComponent(again)}`
      const answer = await assertStoreUnchanged(server, () => post(server, twice), twice)
      assert.deepEqual(problemsOf(assertError(answer, 400, 'invalid_request')), [`body.${name}:repeated`])
    }
  assert.equal((await post(server, body)).statusCode, 200)
})

test('TOK-09: a client can use exactly the grant types that it registered', async (t) => {
  const server = await openTestServer(t)
  for (let mask = 1; mask < 1 << GRANT_TYPES.length; mask += 1) {
    const grant_types = GRANT_TYPES.filter((_, index) => (mask & (1 << index)) !== 0)
    if (grant_types.join() === 'refresh_token') continue // Not registered alone: REG-12.
    const client = await registerClient(server, { grant_types })
    const registered = client['grant_types'] as readonly string[]
    for (const grant_type of GRANT_TYPES) {
      const answer = await requestToken(server, client, { grant_type })
      const { error } = answer.json<{ error?: string }>()
      const seen = `${registered.join('+')}: ${grant_type}`
      if (!registered.includes(grant_type)) assert.equal(error, 'unauthorized_client', seen)
      else assert.equal(error, grant_type === 'client_credentials' ? undefined : 'invalid_request', seen)
    }
  }
})

test('TOK-09: a client that removes a grant type can no longer use its refresh token', async (t) => {
  const server = await openTestServer(t)
  await createAda(server)
  const client = await registerClient(server)
  const { refresh_token = '' } = await obtainTokens(server, client)
  const narrowed = `update clients set metadata = json_replace(metadata, '$.grant_types', json('["authorization_code"]')) where client_id = ?`
  execute(server, narrowed, client.client_id)
  const attempt = () => refresh(server, client, refresh_token)
  assertError(await assertStoreUnchanged(server, attempt, 'lost grant type'), 400, 'unauthorized_client')
})

test('TOK-10: an unknown or empty grant type is rejected before client authentication', async (t) => {
  const server = await openTestServer(t)
  const client = await registerClient(server)
  for (const grant_type of [
    'password',
    'implicit',
    'urn:ietf:params:oauth:grant-type:device_code',
    '__proto__',
    'toString',
  ])
    assertError(await requestToken(server, client, { grant_type }), 422, 'unsupported_grant_type')
  assertError(await requestToken(server, client, { grant_type: '' }), 422, 'invalid_request')
})

test('TOK-11: no response of the token endpoint may be cached, sets a cookie or allows credentials', async (t) => {
  const server = await openTestServer(t)
  await createAda(server)
  const client = await registerClient(server)
  const code = await obtainCode(server, client)
  const answers = [
    await redeem(server, client, code),
    await redeem(server, client, code),
    await requestToken(server, client, MACHINE),
    await requestToken(server, { client_id: 'x' }, MACHINE),
    await post(server, ''),
    await post(server, '', 'text/plain'),
    await post(server, 'x'.repeat(20_000)),
    await server.inject({ method: 'GET', url: PATH }),
  ]
  assert.deepEqual(
    answers.map(({ statusCode }) => statusCode),
    [200, 400, 200, 401, 422, 415, 413, 405],
  )
  for (const { headers, statusCode } of answers) {
    assert.equal(headers['cache-control'], 'no-store', String(statusCode))
    assert.equal(headers['pragma'], 'no-cache')
    assert.match(String(headers['content-type']), /^application\/json/)
    assert.equal(headers['set-cookie'], undefined)
    assert.equal(headers['access-control-allow-origin'], '*')
    assert.equal(headers['access-control-allow-credentials'], undefined)
  }
})

test('TOK-12: errors contain no secrets, SQL, paths or stack traces', async (t) => {
  const server = await openTestServer(t, PATIENT)
  await createAda(server)
  const client = await registerClient(server)
  const { refresh_token = '', access_token } = await obtainTokens(server, client)
  const code = await obtainCode(server, client, { prompt: 'consent' })
  const secrets = [client.client_secret ?? '', refresh_token, access_token, code, VERIFIER]
  const values = [
    ...secrets,
    ...secrets.map((one) => one.slice(1)),
    "' or 1=1 --",
    '\u0000',
    '{{7*7}}',
    '../../etc',
    '%s%n',
    'x'.repeat(300),
  ]
  const fields = [
    'client_id',
    'client_secret',
    'code',
    'code_verifier',
    'redirect_uri',
    'refresh_token',
    'scope',
    'org_id',
  ]
  for (const grant_type of GRANT_TYPES)
    for (const field of fields)
      for (const value of values) {
        const hidden = ['client_secret', 'code', 'code_verifier', 'refresh_token'].includes(field)
        const good = { code: 'x', code_verifier: VERIFIER, refresh_token: 'x' }
        const { body, statusCode } = await requestToken(server, client, { grant_type, ...good, [field]: value })
        assert.ok(statusCode < 500, body)
        if (statusCode === 200) continue
        assert.doesNotMatch(body, /sqlite|select |insert |node_modules|\.ts\b|\bat \w+ \(|\/src\/|grantor\.db/i)
        // A caller who puts a secret into a public field sees what it sent, and nothing else.
        for (const secret of hidden ? [...secrets, value] : secrets.filter((one) => one !== value))
          assert.ok(secret.length < 20 || !body.includes(secret), body)
      }
})

test('TOK-15: oversized requests are rejected with little work', async (t) => {
  const server = await openTestServer(t, { listen: true })
  const client = await registerClient(server)
  const table: readonly (readonly [statuses: readonly number[], body: string, headers: Record<string, string>])[] = [
    // Of a larger body the server closes the connection, perhaps before the caller has read the answer.
    [[413], `grant_type=authorization_code&code=${'x'.repeat(MAXIMA.bodyRead.most / 2)}`, {}],
    [[413], Array.from({ length: 10_000 }, (_, index) => `p${index}=1`).join('&'), {}],
    [[400], '&'.repeat(16_000), {}],
    [[400], 'a=1&'.repeat(4000), {}],
    [[400], '%'.repeat(16_000), {}],
    [[431], 'grant_type=client_credentials', { authorization: `Basic ${'A'.repeat(64 * 1024)}` }],
    [[401], 'grant_type=client_credentials', { authorization: `Basic ${'A'.repeat(12 * 1024)}` }],
    [[401], `grant_type=client_credentials&client_id=${'x'.repeat(15_000)}`, {}],
  ]
  for (const [statuses, body, headers] of table) {
    // The processor time of this process, which other processes do not lengthen.
    const before = process.cpuUsage()
    const answer = await fetch(server.origin + PATH, {
      method: 'POST',
      body,
      headers: { 'content-type': FORM, ...headers },
    })
    await answer.text()
    assert.ok(statuses.includes(answer.status), `${answer.status}: ${body.slice(0, 40)}`)
    const { user, system } = process.cpuUsage(before)
    assert.ok(user + system < 1_000_000, `${user + system} µs: ${body.slice(0, 40)}`)
  }
  assert.equal((await requestToken(server, client, MACHINE)).statusCode, 200)
})

test('TOK-16: the subject of a client is never the subject of a user', async (t) => {
  const server = await openTestServer(t)
  await createAda(server)
  const user = await server.context.store.findUserByEmail(EMAIL)
  const client = await registerClient(server, { client_id: user?.id, client_name: user?.id })
  assert.match(client.client_id, /^gci_/)
  assert.match(user?.id ?? '', /^gus_/)
  assert.equal(subjectOf((await requestToken(server, client, MACHINE)).body), client.client_id)
  assert.equal(subjectOf((await redeem(server, client, await obtainCode(server, client))).body), user?.id)
})

test('TOK-18: a disabled client gets no token by any grant type, and does once it is enabled again', async (t) => {
  const server = await openTestServer(t)
  await createAda(server)
  const client = await registerClient(server)
  const code = await obtainCode(server, client)
  const { refresh_token = '' } = await obtainTokens(server, client, { prompt: 'consent' })
  const attempts = [
    () => redeem(server, client, code),
    () => refresh(server, client, refresh_token),
    () => requestToken(server, client, MACHINE),
  ]
  await perform(server.context, 'client.disable', { client_id: client.client_id })
  for (const attempt of attempts)
    assertError(await assertStoreUnchanged(server, attempt, 'disabled client'), 401, 'invalid_client')
  await perform(server.context, 'client.enable', { client_id: client.client_id })
  for (const attempt of attempts) assert.equal((await attempt()).statusCode, 200)
})

test('TOK-18: grants of a user are invalid as soon as the user is disabled, and remain invalid', async (t) => {
  const server = await openTestServer(t)
  await createAda(server)
  const client = await registerClient(server)
  const code = await obtainCode(server, client)
  const { refresh_token = '' } = await obtainTokens(server, client, { prompt: 'consent' })
  server.clock.advance(1)
  await performOnUser(server.context, 'user.disable', EMAIL)
  const attempts = [() => redeem(server, client, code), () => refresh(server, client, refresh_token)]
  for (const attempt of attempts)
    assertError(await assertStoreUnchanged(server, attempt, 'disabled user'), 400, 'invalid_grant')
  server.clock.advance(1)
  await performOnUser(server.context, 'user.enable', EMAIL)
  for (const attempt of attempts) assertError(await attempt(), 400, 'invalid_grant')
  assert.equal((await requestToken(server, client, MACHINE)).statusCode, 200)
})

function subjectOf(body: string): unknown {
  const [, claims = ''] = (JSON.parse(body) as { access_token: string }).access_token.split('.')
  return (JSON.parse(Buffer.from(claims, 'base64url').toString()) as { sub: unknown }).sub
}
