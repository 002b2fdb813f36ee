import assert from 'node:assert/strict'
import { test } from 'node:test'
import { toSeconds, type EpochMs, type EpochSeconds } from '../../../src/base/brand.ts'
import { opaqueTokenId, type ClientId } from '../../../src/protocol/ids.ts'
import { NO_SCOPE } from '../../../src/protocol/token/scope.ts'
import { poll, startDevice } from '../../../tools/device-flow.ts'
import { createAda } from '../../support/accounts.ts'
import {
  authorizeUrl,
  EMAIL,
  hiddenFields,
  locationOf,
  obtainCode,
  obtainTokens,
  PASSWORD,
  PlainBrowser,
  redeem,
  refresh,
  registerClient,
  requestToken,
  VERIFIER,
  type RegisteredClient,
} from '../../../tools/flow.ts'
import { ASSERTION_GRANT_TYPES, identityAssertionForm } from '../../../tools/identity-assertion.ts'
import { createDeviceClient, DEVICES_ON } from '../../support/sign-in/devices.ts'
import { assertError } from '../../support/error-answer.ts'
import { assertStoreUnchanged, dumpStore } from '../../support/store/dump.ts'
import { openTestServer, type TestServer } from '../../support/server.ts'
import { mutantsOf } from './mutants.ts'
import { isActive } from '../../support/token-questions.ts'

const PATIENT = { env: { ...DEVICES_ON, GRANTOR_CLIENT_FAILURE_RATE: '1000000' } }

interface ServerWithCredentials {
  readonly server: TestServer
  readonly client: RegisteredClient
  /** A value of every kind that the server issues or stores. */
  readonly kinds: Readonly<Record<string, string>>
  /** Of the browser that is signed in. */
  readonly cookies: ReadonlyMap<string, string>
}

async function openServerWithCredentials(t: Parameters<typeof openTestServer>[0]): Promise<ServerWithCredentials> {
  const server = await openTestServer(t, PATIENT)
  await createAda(server)
  const client = await registerClient(server)
  const tokens = await obtainTokens(server, client)
  const code = await obtainCode(server, client, { prompt: 'consent' })
  const browser = new PlainBrowser(server)
  const signIn = await browser.get(locationOf(await browser.get(authorizeUrl(client, { prompt: 'consent' }))))
  const signedIn = await browser.submit(signIn, { email: EMAIL, password: PASSWORD })
  const consent = await browser.get(locationOf(signedIn))
  const { csrf = '', authorization = '' } = hiddenFields(consent)
  const rows = dumpStore(server)
  const first = (table: string) => Object.values((rows[table]?.[0] ?? {}) as Record<string, unknown>).map(String)
  const [keyId = ''] = first('signing_keys')
  const [sessionId = '', sessionHash = ''] = first('sessions')
  const [userId = ''] = first('users')
  const [grant = {}] = (rows['grants'] ?? []) as Record<string, unknown>[]
  const grantId = String(grant['grant_id'])
  const storedHash = String(grant['live_hash'])
  const [formToken = ''] = csrf.split('.')
  const kinds = {
    'client id': client.client_id,
    'client secret': client.client_secret ?? '',
    code,
    'device code': (await startDevice(server, await createDeviceClient(server))).device_code,
    'refresh token': tokens.refresh_token ?? '',
    'access token': tokens.access_token,
    'opaque token': await keepOpaqueToken(server, client),
    'management token': String(client['registration_access_token']),
    'initial access token': server.context.secrets.mint('initial-token', grantId, server.context.random).token,
    'admin token': server.context.secrets.mint('admin-token', grantId, server.context.random).token,
    session: cookieOf(browser, 'session'),
    browser: cookieOf(browser, 'browser'),
    csrf,
    'form token': formToken,
    'interaction id': authorization,
    'grant id': grantId,
    'session id': sessionId,
    'session hash': sessionHash,
    'stored hash': storedHash,
    'user id': userId,
    'key id': keyId,
    verifier: VERIFIER,
  }
  for (const [kind, value] of Object.entries(kinds)) assert.ok(value.length > 20, kind)
  return { server, client, kinds, cookies: browser.cookies }
}

/** Stores an opaque token and returns it. */
async function keepOpaqueToken({ context, clock, origin }: TestServer, client: RegisteredClient): Promise<string> {
  const expiresAt = toSeconds(clock.now()) + 900
  const id = opaqueTokenId((expiresAt * 1000) as EpochMs, context.random(16).toString('base64url'))
  const { token, hash } = context.secrets.mint('access-token', id, context.random)
  await context.store.issueToken({
    id,
    hash,
    facts: {
      issuer: origin,
      resources: [],
      clientId: client.client_id as ClientId,
      userId: undefined,
      organizationId: undefined,
      grantId: undefined,
      actors: [],
      firstTokenId: undefined,
      applicationSubject: undefined,
      keyThumbprint: undefined,
      authentication: undefined,
      issuedAfter: undefined,
      scope: NO_SCOPE,
      tokenId: id,
      issuedAt: toSeconds(clock.now()),
      expiresAt: expiresAt as EpochSeconds,
    },
  })
  return token
}

function cookieOf({ cookies }: PlainBrowser, purpose: string): string {
  return [...cookies].find(([name]) => name.includes(purpose))?.[1] ?? ''
}

test('TOK-19: only an authorization code is accepted as a code, of all kinds of value', async (t) => {
  const { server, client, kinds } = await openServerWithCredentials(t)
  for (const [kind, value] of Object.entries(kinds).filter(([name]) => name !== 'code')) {
    const attempt = () => redeem(server, client, value)
    assertError(await assertStoreUnchanged(server, attempt, kind), 400, 'invalid_grant')
  }
  assert.equal((await redeem(server, client, kinds['code'] ?? '')).statusCode, 200)
})

test('TOK-19: only a device code is accepted as a device code, of all kinds of value', async (t) => {
  const { server, kinds } = await openServerWithCredentials(t)
  const client = await createDeviceClient(server)
  const own = await startDevice(server, client)
  for (const [kind, value] of Object.entries(kinds)) {
    const attempt = () => poll(server, client, { device_code: value })
    assertError(await assertStoreUnchanged(server, attempt, kind), 400, 'invalid_grant')
  }
  assertError(await poll(server, client, own), 400, 'authorization_pending')
})

test('TOK-19: only a refresh token is accepted as a refresh token, of all kinds of value', async (t) => {
  const { server, client, kinds } = await openServerWithCredentials(t)
  for (const [kind, value] of Object.entries(kinds).filter(([name]) => name !== 'refresh token')) {
    const attempt = () => refresh(server, client, value)
    assertError(await assertStoreUnchanged(server, attempt, kind), 400, 'invalid_grant')
  }
  assert.equal((await refresh(server, client, kinds['refresh token'] ?? '')).statusCode, 200)
})

test('TOK-19: only the client secret is accepted as a secret, by post and by Basic, of all kinds of value', async (t) => {
  const { server, client, kinds } = await openServerWithCredentials(t)
  const machine = { grant_type: 'client_credentials' }
  for (const [kind, value] of Object.entries(kinds).filter(([name]) => name !== 'client secret')) {
    const attempt = () => requestToken(server, { ...client, client_secret: value }, machine)
    assertError(await assertStoreUnchanged(server, attempt, kind), 401, 'invalid_client')
    const headers = {
      authorization: `Basic ${btoa(`${client.client_id}:${value}`)}`,
      'content-type': 'application/x-www-form-urlencoded',
    }
    const payload = 'grant_type=client_credentials'
    const basic = await server.inject({ method: 'POST', url: '/v2/oauth/token', headers, payload })
    assertError(basic, 401, 'invalid_client')
  }
})

test('TOK-19: only the client id is accepted as a client id, of all kinds of value', async (t) => {
  const { server, client, kinds } = await openServerWithCredentials(t)
  for (const [kind, value] of Object.entries(kinds).filter(([name]) => name !== 'client id')) {
    const attempt = () => requestToken(server, { ...client, client_id: value }, { grant_type: 'client_credentials' })
    assertError(await assertStoreUnchanged(server, attempt, kind), 401, 'invalid_client')
  }
})

test('TOK-19, JAG-03: no value that the server issues is accepted as an identity assertion, of all kinds of value', async (t) => {
  const { server, kinds } = await openServerWithCredentials(t)
  const client = await registerClient(server, { grant_types: ASSERTION_GRANT_TYPES })
  for (const [kind, value] of Object.entries(kinds)) {
    const attempt = () => requestToken(server, client, identityAssertionForm(value))
    assertError(await assertStoreUnchanged(server, attempt, kind), 400, 'invalid_grant')
  }
})

test('TOK-19: only a session is accepted as a session cookie, of all kinds of value', async (t) => {
  const { server, client, kinds, cookies } = await openServerWithCredentials(t)
  for (const [kind, value] of Object.entries(kinds)) {
    const browser = new PlainBrowser(server)
    for (const name of cookies.keys()) if (name.includes('session')) browser.cookies.set(name, value)
    const answer = await browser.get(authorizeUrl(client, { prompt: 'consent' }))
    assert.match(locationOf(answer), kind === 'session' ? /\/consent\?/ : /\/sign-in\?/, kind)
  }
})

test('TOK-19: only its own cookie opens an interaction, of all kinds of value', async (t) => {
  const { server, kinds, cookies } = await openServerWithCredentials(t)
  const url = `/v2/oauth/sign-in?authorization=${kinds['interaction id']}`
  for (const [kind, value] of Object.entries(kinds)) {
    const browser = new PlainBrowser(server)
    for (const name of cookies.keys()) if (name.includes('browser')) browser.cookies.set(name, value)
    assert.equal((await browser.get(url)).statusCode === 200, kind === 'browser', kind)
  }
})

test('TOK-19: only an interaction id names an interaction, of all kinds of value', async (t) => {
  const { server, kinds, cookies } = await openServerWithCredentials(t)
  for (const [kind, value] of Object.entries(kinds)) {
    const browser = new PlainBrowser(server)
    for (const [name, cookie] of cookies) browser.cookies.set(name, cookie)
    const answer = await browser.get(`/v2/oauth/sign-in?authorization=${encodeURIComponent(value)}`)
    assert.equal(answer.statusCode === 200, kind === 'interaction id', kind)
  }
})

test('TOK-19: only its own form token is accepted by the consent form, of all kinds of value', async (t) => {
  const { server, kinds, cookies } = await openServerWithCredentials(t)
  const browser = new PlainBrowser(server)
  for (const [name, cookie] of cookies) browser.cookies.set(name, cookie)
  const form = { authorization: kinds['interaction id'] ?? '', decision: 'allow' }
  for (const [kind, csrf] of Object.entries(kinds).filter(([name]) => name !== 'csrf')) {
    const attempt = () => browser.post('/v2/oauth/consent', { ...form, csrf })
    const answer = await assertStoreUnchanged(server, attempt, kind)
    assert.ok([403, 409].includes(answer.statusCode), `${kind}: ${answer.statusCode}`)
  }
  const allowed = await browser.post('/v2/oauth/consent', { ...form, csrf: kinds['csrf'] ?? '' })
  assert.match(locationOf(allowed), /[?&]code=/)
})

test('TOK-19: introspection accepts only access and refresh tokens, of all kinds of value', async (t) => {
  const { server, client, kinds } = await openServerWithCredentials(t)
  for (const [kind, value] of Object.entries(kinds)) {
    const isToken = ['access token', 'opaque token', 'refresh token'].includes(kind)
    assert.equal(await isActive(server, client, value), isToken, kind)
  }
})

test('TOK-19: only a registration access token manages a client, of all kinds of value', async (t) => {
  const { server, client, kinds } = await openServerWithCredentials(t)
  const url = `/v2/oauth/register?client_id=${client.client_id}`
  for (const [kind, value] of Object.entries(kinds).filter(([name]) => name !== 'management token')) {
    const answer = await server.inject({ method: 'GET', url, headers: { authorization: `Bearer ${value}` } })
    assertError(answer, 401, 'invalid_token')
    assert.ok(!answer.body.includes('client_name'), kind)
  }
})

test('TOK-20: an edited code or refresh token is rejected and changes nothing', async (t) => {
  const { server, client, kinds } = await openServerWithCredentials(t)
  const code = kinds['code'] ?? ''
  const refreshToken = kinds['refresh token'] ?? ''
  const before = dumpStore(server)
  for (const mutant of mutantsOf(code)) assertError(await redeem(server, client, mutant), 400, 'invalid_grant')
  for (const mutant of mutantsOf(refreshToken)) assertError(await refresh(server, client, mutant), 400, 'invalid_grant')
  assert.deepEqual(dumpStore(server), before)
  assert.equal((await redeem(server, client, code)).statusCode, 200)
  assert.equal((await refresh(server, client, refreshToken)).statusCode, 200)
})

test('TOK-20: an edited client id or secret is rejected', async (t) => {
  const server = await openTestServer(t, PATIENT)
  const client = await registerClient(server)
  const machine = { grant_type: 'client_credentials' }
  for (const client_secret of mutantsOf(client.client_secret ?? ''))
    assertError(await requestToken(server, { ...client, client_secret }, machine), 401, 'invalid_client')
  for (const client_id of mutantsOf(client.client_id))
    assertError(await requestToken(server, { ...client, client_id }, machine), 401, 'invalid_client')
  assert.equal((await requestToken(server, client, machine)).statusCode, 200)
})
