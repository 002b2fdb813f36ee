import assert from 'node:assert/strict'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { createApi, createApiCredentials } from '../../src/admin/api/api.ts'
import {
  authorizeUrl,
  CHALLENGE,
  EMAIL,
  hiddenFields,
  locationOf,
  PASSWORD,
  PlainBrowser,
  postForm,
  postJson,
  redeem,
  refresh,
  REDIRECT_URI,
  requestToken,
  VERIFIER,
  type RegisteredClient,
  type Tokens,
} from '../../tools/flow.ts'
import { createAccount } from '../support/accounts.ts'
import { openTestServer, type TestServer } from '../support/server.ts'
import { openStillClock } from '../support/clocks.ts'
import { anApiDeclaration } from '../support/records.ts'

const LEVELS = ['debug', 'info', 'warn', 'error'] as const
/** Values that the caller chose. None of them may appear in a log either. */
const MARKS = {
  password: PASSWORD,
  'wrong password': 'marked-wrong-password',
  email: EMAIL,
  verifier: VERIFIER,
  challenge: CHALLENGE,
  state: 'marked-state',
  'client name': 'marked-client-name',
  'redirect URI': 'app.example',
  'made-up code': 'gac_marked-code',
  'made-up refresh token': 'grt_01a2b3c4d5e6.marked-refresh',
  'made-up secret': 'gcs_marked-secret',
  'made-up cookie': 'gss_marked-cookie',
  'query secret': 'marked-query-secret',
  'malformed client id': 'marked-client-id',
  'user agent': 'marked-agent',
  bearer: 'marked-bearer',
}

/** Sends every kind of request, valid and invalid, with marked values. Returns all secrets that were used or issued. */
async function runEverything(server: TestServer): Promise<Readonly<Record<string, string>>> {
  await createAccount(server, { email: EMAIL, password: PASSWORD, name: 'Marked Person' })
  const headers = { 'user-agent': MARKS['user agent'], cookie: `grantor-session-3000=${MARKS['made-up cookie']}` }
  const metadata = {
    redirect_uris: [REDIRECT_URI],
    client_name: MARKS['client name'],
    grant_types: ['authorization_code', 'refresh_token', 'client_credentials'],
  }
  const client = (await postJson(server, '/v2/oauth/register', metadata)).json<RegisteredClient>()
  const secret = client.client_secret ?? ''

  const browser = new PlainBrowser(server)
  const signIn = await browser.get(locationOf(await browser.get(authorizeUrl(client, { state: MARKS.state }))))
  await browser.submit(signIn, { email: EMAIL, password: MARKS['wrong password'] })
  const consent = await browser.get(locationOf(await browser.submit(signIn, { email: EMAIL, password: PASSWORD })))
  const allowed = await browser.submit(consent, { decision: 'allow' })
  const code = new URL(locationOf(allowed)).searchParams.get('code') ?? ''
  const first = (await redeem(server, client, code)).json<Tokens>()
  const second = (await refresh(server, client, first.refresh_token ?? '')).json<Tokens>()
  const machine = (await requestToken(server, client, { grant_type: 'client_credentials' })).json<Tokens>()

  for (const resource of [
    `https://api.test/${MARKS['made-up refresh token']}?${MARKS['query secret']}`,
    `https://${MARKS['query secret']}@api.test`,
    `foo:${MARKS['query secret']}@api.test`,
  ]) {
    await requestToken(server, client, { grant_type: 'client_credentials', resource })
  }
  await redeem(server, client, code)
  await redeem(server, client, MARKS['made-up code'])
  await refresh(server, client, second.refresh_token ?? '')
  await refresh(server, client, MARKS['made-up refresh token'])
  await requestToken(
    server,
    { ...client, client_secret: MARKS['made-up secret'] },
    { grant_type: 'client_credentials' },
  )
  const token = '/v2/oauth/token'
  await postForm(
    server,
    token,
    { grant_type: 'client_credentials' },
    { ...headers, authorization: `Basic ${btoa(`${client.client_id}:${secret}`)}` },
  )
  await postForm(
    server,
    token,
    { grant_type: 'x', client_secret: MARKS['made-up secret'] },
    { authorization: `Bearer ${MARKS.bearer}` },
  )
  await postForm(server, `${token}?client_secret=${MARKS['query secret']}`, {})
  await server.inject({ method: 'GET', url: `/nothing/${MARKS['query secret']}?x=${MARKS['query secret']}`, headers })
  await server.inject({ method: 'GET', url: `/v2/oauth/jwks?${MARKS['query secret']}`, headers })
  await server.inject({ method: 'GET', url: `/v2/oauth/%zz${MARKS['query secret']}`, headers })
  for (const refused of [
    {
      redirect_uri: `https://${MARKS['query secret']}@elsewhere.test/?${MARKS['query secret']}#${MARKS['query secret']}`,
    },
    { client_id: MARKS['malformed client id'] },
    { resource: `https://api.test/?${MARKS['query secret']}` },
  ]) {
    await server.inject({ method: 'GET', url: authorizeUrl(client, refused), headers })
  }
  await postJson(server, '/v2/oauth/register', {
    redirect_uris: [`javascript:${MARKS['query secret']}`],
    client_name: 5,
  })
  await server.inject({
    method: 'POST',
    url: '/v2/oauth/register',
    headers: { 'content-type': 'application/json' },
    payload: `{"x":"${MARKS['made-up secret']}`,
  })
  await runFaults(server, client, second)
  return {
    ...MARKS,
    'client secret': secret,
    code,
    'first access token': first.access_token,
    'second access token': second.access_token,
    'machine token': machine.access_token,
    'first refresh token': first.refresh_token ?? '',
    'second refresh token': second.refresh_token ?? '',
    'csrf of sign-in': hiddenFields(signIn)['csrf'] ?? '',
    'csrf of consent': hiddenFields(consent)['csrf'] ?? '',
    ...Object.fromEntries(browser.cookies),
  }
}

/** Causes errors of the server, which are logged with their cause: a locked database, and a missing table. */
async function runFaults(server: TestServer, client: RegisteredClient, tokens: Tokens): Promise<void> {
  const other = new DatabaseSync(join(server.folder, 'grantor.db'), { timeout: 1000 })
  other.exec('begin immediate')
  const locked = await refresh(server, client, tokens.refresh_token ?? '')
  other.exec('rollback')
  assert.ok([400, 503].includes(locked.statusCode))
  other.exec('alter table grants rename to gone')
  const broken = await refresh(server, client, tokens.refresh_token ?? '')
  other.exec('alter table gone rename to grants')
  other.close()
  assert.equal(broken.statusCode, 500, broken.body)
  assert.equal(broken.json().error, 'server_error')
  assert.doesNotMatch(broken.body, /sqlite|grants|stack/i)
}

test('the line of a refused registration names the member and the fault, and not the value', async (t) => {
  const server = await openTestServer(t)
  await postJson(server, '/v2/oauth/register', { redirect_uris: ['http://marked.example/cb', 'https://a.example/#b'] })
  await postJson(server, '/v2/oauth/register', { client_uri: 'http://marked.example' })
  const said = [...server.log().matchAll(/"endpoint":"register","reason":"(\w+)","description":"([^"]+)"/g)]
  assert.deepEqual(
    said.map(([, reason, description]) => [reason, description]),
    [
      [
        'redirect_uri_not_allowed',
        'redirect_uris.0: The redirect URI uses http, which is allowed for 127.0.0.1, [::1] and localhost only.',
      ],
      ['metadata_not_allowed', 'client_uri: The URL must use https.'],
    ],
  )
  assert.doesNotMatch(server.log(), /marked/)
})

test('NET-10: at no level does the log contain a secret, token, code, cookie or any value that a caller sent', async (t) => {
  for (const level of LEVELS) {
    const server = await openTestServer(t, { env: { LOG_LEVEL: level } })
    const secrets = await runEverything(server)
    const log = server.log()
    for (const [kind, value] of Object.entries(secrets)) {
      assert.ok(value.length > 5, kind)
      assert.ok(!log.includes(value), `${level}: ${kind}`)
      // Nor the secret end of a credential alone, which is enough to use it.
      if (value.length > 60) assert.ok(!log.includes(value.slice(-40)), `${level}: the end of ${kind}`)
      assert.ok(!log.includes(encodeURIComponent(value)) && !log.includes(btoa(value)), `${level}: ${kind} encoded`)
    }
    assert.doesNotMatch(log, /authorization":|cookie|\?|Basic |(?<!jwt-)Bearer /i, level)
    assert.match(log, /"event":"request.refused".*"reason":"bug"/, 'The fault was not logged, so nothing was checked.')
  }
})

test('NET-10: at silent nothing is logged at all', async (t) => {
  const server = await openTestServer(t, { env: { LOG_LEVEL: 'silent' } })
  await runEverything(server)
  assert.equal(server.log(), '')
})

test('Style 37: an answer is logged as one line with event, endpoint, status, duration and, if known, the client', async (t) => {
  const server = await openTestServer(t)
  const client = (
    await postJson(server, '/v2/oauth/register', { grant_types: ['client_credentials'] })
  ).json<RegisteredClient>()
  await requestToken(server, client, { grant_type: 'client_credentials' })
  await requestToken(server, client, { grant_type: 'refresh_token' })
  await postForm(server, '/v2/oauth/token', {})
  const lines = server
    .log()
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>)
  const seen = lines.map(({ event, endpoint, status, reason, client: who }) => ({
    event,
    endpoint,
    status,
    reason,
    who,
  }))
  const who = client.client_id
  assert.deepEqual(seen, [
    { event: 'client.registered', endpoint: 'register', status: 201, reason: undefined, who },
    { event: 'token.issued', endpoint: 'token', status: 200, reason: 'client_credentials', who },
    { event: 'request.refused', endpoint: 'token', status: 400, reason: 'grant_type_not_registered', who },
    { event: 'request.refused', endpoint: 'token', status: 422, reason: 'grant_type_missing', who: undefined },
  ])
  for (const { ms } of lines) assert.ok(typeof ms === 'number' && ms >= 0)
})

test('a complaint finds its log line: the header, the error page and the line have the same request id', async (t) => {
  const server = await openTestServer(t, { clock: openStillClock(), env: { GRANTOR_REGISTRATION_RATE: '1' } })
  const register = () => postJson(server, '/v2/oauth/register', { redirect_uris: [REDIRECT_URI] })
  const answers = [await register(), await register()]
  const page = await server.inject({
    method: 'GET',
    url: '/v2/oauth/authorize?client_id=x',
    headers: { 'x-request-id': 'mine' },
  })
  answers.push(page)
  const ids = answers.map(({ headers }) => String(headers['x-request-id']))
  assert.equal(new Set(ids).size, 3)
  for (const id of ids) assert.match(id, /^[A-Za-z0-9_-]{8}-[0-9a-z]+$/)
  assert.ok(page.body.includes(`<code>${ids[2]}</code>`))
  const lines = server
    .log()
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Readonly<Record<string, unknown>>)
  assert.deepEqual(
    lines.map((line) => line['request_id']),
    ids,
  )
  // The line of a 429 names the network whose limit was reached; no other line names one.
  assert.deepEqual(
    lines.map(({ status, network }) => [status, network]),
    [
      [201, undefined],
      [429, '127.0.0.1'],
      [400, undefined],
    ],
  )
})

test('the log of refused API credentials names existing credentials whose secret was wrong, and never an invented id', async (t) => {
  const server = await openTestServer(t)
  const resource = 'https://api.acme.test'
  await createApi(server.context, anApiDeclaration(resource))
  const { id } = await createApiCredentials(server.context, resource)
  server.clock.advance(2000)
  for (const name of [id, `${id}x`]) {
    await postForm(server, '/v2/oauth/introspect', { token: 'x', client_id: name, client_secret: 'gas_wrong' })
  }
  const lines = server.log().trim().split('\n').slice(-2)
  const seen = lines.map((line) => JSON.parse(line) as { readonly reason: string; readonly credential?: string })
  assert.deepEqual(
    seen.map(({ reason, credential }) => [reason, credential]),
    [
      ['api_credentials_wrong', id],
      ['api_credentials_wrong', undefined],
    ],
  )
})
