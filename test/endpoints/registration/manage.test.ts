import assert from 'node:assert/strict'
import { test } from 'node:test'
import { alterLast } from '../../support/alter.ts'
import type { Response as LightMyRequestResponse } from 'light-my-request'
import {
  authorizeUrl,
  locationOf,
  obtainCode,
  obtainTokens,
  REDIRECT_URI,
  redeem,
  refresh,
  registerClient,
  requestToken,
  type RegisteredClient,
} from '../../../tools/flow.ts'
import { createAda } from '../../support/accounts.ts'
import { assertError, problemsOf } from '../../support/error-answer.ts'
import { openTestServer } from '../../support/server.ts'
import { openStillClock } from '../../support/clocks.ts'
import { assertStoreUnchanged } from '../../support/store/dump.ts'
import { consentedBrowser, isCodeAnswer, WHOLE_FILE } from '../../support/authorize-answers.ts'
import { isActive } from '../../support/token-questions.ts'
import { perform } from '../../support/tasks.ts'

const MANAGEMENT = ['registration_client_uri', 'registration_access_token']
const SECRETS = ['client_secret', 'client_secret_expires_at']
const SERVER_MEMBERS = [...MANAGEMENT, 'client_secret_expires_at', 'client_id_issued_at']
const MACHINE = { grant_type: 'client_credentials' }

const server = await openTestServer(WHOLE_FILE)
await createAda(server)

interface Asking {
  readonly uri?: string
  readonly authorization?: string | undefined
  readonly body?: object
}

function manage(client: RegisteredClient, method: 'GET' | 'PUT' | 'DELETE', asking: Asking = {}) {
  const { pathname, search } = new URL(asking.uri ?? String(client['registration_client_uri']))
  const authorization =
    'authorization' in asking ? asking.authorization : `Bearer ${String(client['registration_access_token'])}`
  return server.inject({
    method,
    url: pathname + search,
    headers: {
      ...(authorization === undefined ? {} : { authorization }),
      ...(asking.body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(asking.body === undefined ? {} : { payload: JSON.stringify(asking.body) }),
  })
}

/** An update that changes nothing. */
function echoOf(client: RegisteredClient): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(client).filter(([name]) => name === 'client_secret' || !SERVER_MEMBERS.includes(name)),
  )
}

function without(client: RegisteredClient, names: readonly string[]): object {
  return Object.fromEntries(Object.entries(client).filter(([name]) => !names.includes(name)))
}

test('RFC 7592 §3: a client with a secret gets a registration access token and its URI, a public client does not', async () => {
  const client = await registerClient(server)
  const uri = new URL(String(client['registration_client_uri']))
  assert.equal(uri.origin, server.origin)
  assert.equal(uri.searchParams.get('client_id'), client.client_id)
  assert.match(String(client['registration_access_token']), /^gmt_[A-Za-z0-9_-]+$/)
  const shared = await registerClient(server, { token_endpoint_auth_method: 'none' })
  for (const name of MANAGEMENT) assert.ok(!(name in shared))
})

test('RFC 7592 §2.1: a client reads what it registered, but never its secret', async () => {
  const client = await registerClient(server, { scope: 'read', contacts: ['a@b.test'] })
  const answer = await assertStoreUnchanged(server, () => manage(client, 'GET'))
  assert.equal(answer.statusCode, 200)
  assert.equal(answer.headers['cache-control'], 'no-store')
  assert.equal(answer.headers['access-control-allow-origin'], '*')
  assert.deepEqual(answer.json(), without(client, SECRETS))
})

test('RFC 7592 §2.2: an update replaces all metadata and keeps the secret', async () => {
  const client = await registerClient(server, { client_uri: 'https://app.example', scope: 'read' })
  const body = { client_id: client.client_id, client_name: 'Example', redirect_uris: ['https://app.example/new'] }
  const all = { ...body, grant_types: ['client_credentials', 'authorization_code'], scope: null }
  const answer = await manage(client, 'PUT', { body: all })
  assert.equal(answer.statusCode, 200, answer.body)
  const now = answer.json<RegisteredClient>()
  assert.ok(!('client_uri' in now))
  const { scope, ...shown } = now
  assert.equal(scope, null)
  assert.deepEqual((await manage(client, 'GET')).json(), shown)
  assert.equal((await requestToken(server, client, MACHINE)).statusCode, 200)
  assertError(
    await requestToken(server, client, { grant_type: 'refresh_token', refresh_token: 'x' }),
    400,
    'unauthorized_client',
  )
})

test('REG-23: an update with unchanged metadata changes nothing', async () => {
  const client = await registerClient(server, { scope: 'read' })
  await perform(server.context, 'client.verify', { client_id: client.client_id })
  const answer = await assertStoreUnchanged(server, () => manage(client, 'PUT', { body: echoOf(client) }))
  assert.deepEqual(answer.json(), without(client, SECRETS))
})

test('REG-23: the error is the same for the token of another client, a wrong token, no token and an unknown client', async () => {
  const [client, other] = [await registerClient(server), await registerClient(server)]
  const shared = await registerClient(server, { token_endpoint_auth_method: 'none' })
  const disabled = await registerClient(server)
  await perform(server.context, 'client.disable', { client_id: disabled.client_id })
  const token = String(client['registration_access_token'])
  const at = (id: string): string => `${server.origin}/v2/oauth/register?client_id=${id}`
  const wrong: readonly Asking[] = [
    { authorization: `Bearer ${String(other['registration_access_token'])}` },
    { authorization: `Bearer ${alterLast(token)}` },
    { authorization: `Bearer ${client.client_secret}` },
    { authorization: 'Bearer x' },
    { uri: at(other.client_id) },
    { uri: at(shared.client_id) },
    { uri: at(`gci_${'0'.repeat(34)}`) },
    { uri: at('') },
    { uri: `${server.origin}/v2/oauth/register` },
    { uri: at(disabled.client_id), authorization: `Bearer ${String(disabled['registration_access_token'])}` },
  ]
  const missing: readonly Asking[] = [{ authorization: undefined }, { authorization: `Basic ${token}` }]
  for (const method of ['GET', 'PUT', 'DELETE'] as const) {
    const body = method === 'PUT' ? { body: { client_id: client.client_id } } : {}
    const bodies = new Set<string>()
    const refuse = async (asking: Asking, challenge: string): Promise<void> => {
      const answer = await assertStoreUnchanged(server, () => manage(client, method, { ...asking, ...body }))
      assertError(answer, 401, 'invalid_token')
      assert.equal(answer.headers['www-authenticate'], challenge)
      bodies.add(answer.body)
    }
    for (const asking of wrong) await refuse(asking, 'Bearer realm="grantor", error="invalid_token"')
    for (const asking of missing) await refuse(asking, 'Bearer realm="grantor"')
    assert.equal(bodies.size, 1)
  }
})

test('REG-23: wrong registration access tokens are counted by network', async (t) => {
  const strict = await openTestServer(t, { clock: openStillClock(), env: { GRANTOR_CLIENT_FAILURE_RATE: '3' } })
  const ask = async () =>
    (
      await strict.inject({
        method: 'GET',
        url: '/v2/oauth/register?client_id=x',
        headers: { authorization: 'Bearer x' },
      })
    ).statusCode
  const statuses: number[] = []
  for (let guess = 0; guess < 5; guess += 1) statuses.push(await ask())
  assert.deepEqual(statuses, [401, 401, 401, 429, 429])
})

test('RFC 7592 §2.2: client_id and client_secret must be the client’s own, and members that the server sets must be omitted', async () => {
  const [client, other] = [await registerClient(server), await registerClient(server)]
  const echo = echoOf(client)
  const cases: readonly (readonly [body: Record<string, unknown>, at: readonly string[]])[] = [
    [{ ...echo, client_id: undefined }, ['client_id']],
    [{ ...echo, client_id: other.client_id }, ['client_id']],
    [{ ...echo, client_id: 7 }, ['client_id']],
    [{ ...echo, client_secret: other.client_secret }, ['client_secret']],
    [{ ...echo, client_secret: null }, ['client_secret']],
    [{ ...echo, token_endpoint_auth_method: 'none' }, ['token_endpoint_auth_method']],
    ...SERVER_MEMBERS.map((name) => [{ ...echo, [name]: client[name] }, [name]] as const),
    [client, SERVER_MEMBERS],
  ]
  for (const [body, at] of cases) {
    const answer = await assertStoreUnchanged(server, () => manage(client, 'PUT', { body }))
    const places = problemsOf(assertError(answer, 400, 'invalid_client_metadata')).map((one) => one.split(':')[0])
    assert.deepEqual(new Set(places), new Set(at.map((name) => `body.${name}`)))
    for (const secret of [client, other].flatMap((one) => [one.client_secret, one['registration_access_token']]))
      assert.ok(!answer.body.includes(String(secret)))
  }
})

test('RFC 7592 §2.2: an update is checked like a registration, with all problems at once', async () => {
  const client = await registerClient(server)
  const refuse = async (body: object, status: number, error: string, places: number): Promise<void> => {
    const answer = await assertStoreUnchanged(server, () => manage(client, 'PUT', { body }))
    assert.equal(problemsOf(assertError(answer, status, error)).length, places, answer.body)
  }
  await refuse({ redirect_uris: ['javascript:alert(1)'] }, 400, 'invalid_redirect_uri', 2)
  await refuse({ redirect_uris: 'x', client_uri: 'x' }, 422, 'invalid_client_metadata', 3)
  await refuse([], 422, 'invalid_client_metadata', 1)
})

async function change(client: RegisteredClient, metadata: object): Promise<LightMyRequestResponse> {
  server.clock.advance(1000)
  const answer = await manage(client, 'PUT', { body: { ...echoOf(client), ...metadata } })
  assert.equal(answer.statusCode, 200, answer.body)
  return answer
}

test('REG-23: a new name or redirect host removes the verified mark and invalidates every consent', async () => {
  for (const metadata of [
    { client_name: 'Another' },
    { 'client_name#de': 'Eine andere' },
    { redirect_uris: [...((await registerClient(server))['redirect_uris'] as string[]), 'https://evil.example/cb'] },
  ]) {
    const client = await registerClient(server)
    await perform(server.context, 'client.verify', { client_id: client.client_id })
    const browser = await consentedBrowser(server, client)
    assert.ok(isCodeAnswer(await browser.get(authorizeUrl(client))))
    await change(client, { client_uri: 'https://app.example' })
    assert.ok(isCodeAnswer(await browser.get(authorizeUrl(client))), 'What people know it by is the same.')
    const pending = await browser.get(authorizeUrl(client, { prompt: 'consent' }))
    await change(client, metadata)
    const { verifiedAt } = (await server.context.store.findClient(client.client_id as never)) ?? {}
    assert.equal(verifiedAt, undefined)
    assert.ok(!isCodeAnswer(await browser.get(authorizeUrl(client))), 'The person was not asked again.')
    const overtaken = await browser.get(locationOf(pending))
    assert.equal(overtaken.statusCode, 400, 'The page was shown for the client of before.')
    const consent = await browser.get(locationOf(await browser.get(authorizeUrl(client))))
    assert.ok(isCodeAnswer(await browser.submit(consent, { decision: 'allow' })))
    assert.ok(isCodeAnswer(await browser.get(authorizeUrl(client))), 'The new consent was not remembered.')
  }
})

test('REG-23: what a user allowed in the millisecond in which the client got another name counts for nothing', async (t) => {
  const own = await openTestServer(t, { clock: openStillClock() })
  await createAda(own)
  const input = { client_name: 'Board', redirect_uris: [REDIRECT_URI] }
  const client = await perform<RegisteredClient>(own.context, 'client.create', input)
  const browser = await consentedBrowser(own, client)
  const allowed = await browser.get(authorizeUrl(client))
  assert.ok(isCodeAnswer(allowed))
  await perform(own.context, 'client.update', { client_id: client.client_id, client_name: 'Bank' })
  const answer = await redeem(own, client, new URL(locationOf(allowed)).searchParams.get('code') ?? '')
  assertError(answer, 400, 'invalid_grant')
  const asked = await browser.get(authorizeUrl(client))
  assert.ok(!isCodeAnswer(asked), 'The person was not asked again.')
  own.clock.advance(1)
  const consent = await browser.get(locationOf(asked))
  assert.match(consent.body, /Bank/)
  assert.ok(isCodeAnswer(await browser.submit(consent, { decision: 'allow' })))
  assert.ok(isCodeAnswer(await browser.get(authorizeUrl(client))), 'The new consent was not remembered.')
})

test('REG-23: a redirect URI that the client removes gets no code of an authorization that waits', async () => {
  const [kept, removed] = [REDIRECT_URI, `${REDIRECT_URI}/removed`]
  const client = await registerClient(server, { redirect_uris: [kept, removed] })
  const browser = await consentedBrowser(server, client)
  const waiting = authorizeUrl(client, { redirect_uri: removed, prompt: 'consent' })
  const consent = await browser.get(locationOf(await browser.get(waiting)))
  await change(client, { redirect_uris: [kept] })
  const answer = await browser.submit(consent, { decision: 'allow' })
  assert.deepEqual([answer.statusCode, answer.headers.location], [400, undefined])
})

test('RFC 7592 §2.3: deleting a client invalidates its secret, codes, grants and tokens, and its registration access token', async () => {
  const [client, api] = [await registerClient(server), await registerClient(server)]
  const tokens = await obtainTokens(server, client)
  const code = await obtainCode(server, client, { prompt: 'consent' })
  assert.equal(await isActive(server, client, tokens.access_token), true)
  const answer = await manage(client, 'DELETE')
  assert.deepEqual([answer.statusCode, answer.body], [204, ''])
  assert.equal(answer.headers['access-control-allow-origin'], '*')
  assertError(await manage(client, 'GET'), 401, 'invalid_token')
  assertError(await manage(client, 'DELETE'), 401, 'invalid_token')
  assertError(await redeem(server, client, code), 401, 'invalid_client')
  assertError(await refresh(server, client, tokens.refresh_token ?? ''), 401, 'invalid_client')
  assertError(await requestToken(server, client, MACHINE), 401, 'invalid_client')
  assert.equal((await manage(api, 'GET')).statusCode, 200, 'Another client died with it.')
})

test('RFC 7592 §2: scripts of any origin may manage their client, and a preflight lists the methods', async () => {
  const preflight = await server.inject({ method: 'OPTIONS', url: '/v2/oauth/register?client_id=x' })
  assert.equal(preflight.statusCode, 204)
  const methods = String(preflight.headers['access-control-allow-methods']).split(', ')
  assert.deepEqual(methods.toSorted(), ['DELETE', 'GET', 'HEAD', 'OPTIONS', 'POST', 'PUT'])
})

test('of two simultaneous updates none is lost without an error', async () => {
  const client = await registerClient(server)
  const names = ['One', 'Two', 'Three', 'Four']
  const answers = await Promise.all(
    names.map((client_name) => manage(client, 'PUT', { body: { ...echoOf(client), client_name } })),
  )
  const [done = [], outrun = []] = [200, 503].map((status) => answers.filter(({ statusCode }) => statusCode === status))
  assert.equal(done.length + outrun.length, names.length)
  assert.ok(done.length >= 1)
  for (const answer of outrun) assert.equal(answer.headers['retry-after'], '1')
  const kept = (await manage(client, 'GET')).json<RegisteredClient>()['client_name']
  assert.ok(done.some((answer) => answer.json<RegisteredClient>()['client_name'] === kept))
})
