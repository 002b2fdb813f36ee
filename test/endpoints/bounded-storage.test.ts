import assert from 'node:assert/strict'
import { test } from 'node:test'
import { requireApi, updateApi } from '../../src/admin/api/api.ts'
import { TOKEN_EXCHANGE } from '../../src/protocol/token/grant-types.ts'
import type { Resource } from '../../src/protocol/token/resource.ts'
import type { Scope } from '../../src/protocol/token/scope.ts'
import { USER_CLAIMS } from '../../src/protocol/openid/user-claims.ts'
import type { AuditEvent } from '../../src/ports/records/audit.ts'
import {
  authorizeUrl,
  obtainTokens,
  locationOf,
  PASSWORD,
  PlainBrowser,
  redeem,
  refresh,
  registerClient,
  requestToken,
  signInAndAllow,
  type RegisteredClient,
  type RequestTarget,
  type Tokens,
} from '../../tools/flow.ts'
import { createAccount, createAda } from '../support/accounts.ts'
import { openTestServer, type TestServer } from '../support/server.ts'
import { openStillClock } from '../support/clocks.ts'
import { assertStoreUnchanged, selectAll } from '../support/store/dump.ts'
import { JWT_API, knowApis, OPAQUE_API, openWithOpaqueApis } from '../support/apis.ts'
import { introspect, isActive, revoke } from '../support/token-questions.ts'
import { perform } from '../support/tasks.ts'

test('BND-04: repeated revocations of a token or grant return 200, write nothing and record nothing', async (t) => {
  const server = await openTestServer(t, { clock: openStillClock() })
  await createAda(server)
  const client = await registerClient(server)
  const { access_token: access, refresh_token: refreshToken = '' } = await obtainTokens(server, client)
  const machine = await accessToken(server, client)
  for (const token of [access, machine, refreshToken]) await revoke(server, client, token)
  const events = revocationsIn(server)
  assert.equal(events.length, 3)
  await assertStoreUnchanged(server, async () => {
    for (let time = 0; time < 10; time += 1)
      for (const token of [access, machine, refreshToken])
        assert.equal((await revoke(server, client, token)).statusCode, 200)
  })
  assert.deepEqual(revocationsIn(server), events)
})

test('BND-04: the audit records twenty token revocations of a client per minute, and counts the others', async (t) => {
  const server = await openTestServer(t, { clock: openStillClock() })
  const client = await registerClient(server)
  const begun = server.clock.now()
  const tokens = await Promise.all(Array.from({ length: 50 }, () => accessToken(server, client)))
  for (const token of tokens) assert.equal((await revoke(server, client, token)).statusCode, 200)
  for (const token of tokens) assert.equal(await isActive(server, client, token), false)
  server.clock.advance(60_000)
  await server.close()
  const events = revocationsIn(server)
  assert.equal(events.filter(({ details }) => details?.['token'] !== undefined).length, 20)
  assert.deepEqual(events.slice(20), [
    { event: 'token.revoked', clientId: client.client_id },
    {
      event: 'token.revoked',
      clientId: client.client_id,
      details: { again: 29, minute: Math.floor(begun / 60_000) * 60_000 },
    },
  ])
})

test('BND-04: the audit records twenty partings of a grant per minute and counts the others, and they hide none of another grant', async (t) => {
  const server = await openTestServer(t, { clock: openStillClock() })
  await createAda(server)
  const client = await registerClient(server, { token_endpoint_auth_method: 'none' })
  const from = (place: number): RequestTarget => ({
    inject: (one) => server.inject({ ...one, remoteAddress: `127.0.0.${2 + place}` }),
  })
  const { refresh_token: other = '' } = await obtainTokens(from(2), client)
  const moved = (await refresh(from(2), client, other)).json<Tokens>().refresh_token ?? ''
  const { refresh_token: first = '' } = await obtainTokens(from(1), client, { prompt: 'consent' })
  let newest = first
  for (let place = 0; place < 2; place += 1)
    newest = (await refresh(from(1), client, newest)).json<Tokens>().refresh_token ?? ''
  for (let place = 0; place < 30; place += 1) {
    assert.equal((await refresh(from(place % 2), client, first)).statusCode, 400)
    newest = (await refresh(from(place % 2), client, newest)).json<Tokens>().refresh_token ?? ''
  }
  server.clock.advance(30_000)
  await refresh(from(2), client, moved)
  assert.equal((await refresh(from(1), client, other)).statusCode, 400)
  server.clock.advance(30_000)
  await server.close()
  const events = eventsIn(server).filter(({ event }) => event === 'refresh-token.parted')
  const recorded = Object.values(Object.groupBy(events, ({ grantId }) => grantId ?? 'counted')).map(
    (all) => all?.length,
  )
  assert.deepEqual(
    recorded.toSorted((one = 0, two = 0) => one - two),
    [1, 2, 20],
  )
  assert.equal(events.find(({ details }) => details?.['again'] !== undefined)?.details?.['again'], 9)
})

test('BND-04: the audit records every revocation of a verified client', async (t) => {
  const server = await openTestServer(t, { clock: openStillClock() })
  const client = await registerClient(server)
  await perform(server.context, 'client.verify', { client_id: client.client_id })
  for (let count = 0; count < 30; count += 1) await revoke(server, client, await accessToken(server, client))
  assert.equal(revocationsIn(server).filter(({ details }) => details?.['token'] !== undefined).length, 30)
})

test('RFC 7009 §2.2.1, BND-04: above its rate a client’s revocations get 429, and none is reported as done', async (t) => {
  const server = await openTestServer(t, { clock: openStillClock(), env: { GRANTOR_STORED_TOKEN_RATE: '30' } })
  const [client, other] = [await registerClient(server), await registerClient(server)]
  const tokens = await Promise.all(Array.from({ length: 4 }, () => accessToken(server, client)))
  const answers = []
  for (const token of tokens) answers.push(await revoke(server, client, token))
  assert.deepEqual(
    answers.map(({ statusCode }) => statusCode),
    [200, 200, 200, 429],
  )
  const refused = answers.at(-1)
  assert.equal(refused?.json().error, 'temporarily_unavailable')
  assert.equal(refused?.headers['retry-after'], '20')
  assert.equal(await isActive(server, client, tokens[3] ?? ''), true)
  assert.equal((await revoke(server, other, await accessToken(server, other))).statusCode, 200)
  server.clock.advance(20_000)
  assert.equal((await revoke(server, client, tokens[3] ?? '')).statusCode, 200)
  assert.equal(await isActive(server, client, tokens[3] ?? ''), false)
})

test('BND-04: a caller that uses a shared public client spends only the budget of its own network', async (t) => {
  const env = { GRANTOR_STORED_TOKEN_RATE: '1', GRANTOR_TRUST_PROXY: '127.0.0.1' }
  const server = await openTestServer(t, { clock: openStillClock(), env })
  await createAda(server)
  const grants = { grant_types: ['authorization_code', 'refresh_token'] }
  const client = await registerClient(server, { token_endpoint_auth_method: 'none', ...grants })
  const first = await obtainTokens(server, client)
  const second = (await refresh(server, client, first.refresh_token ?? '')).json<Tokens>()
  const from = (address: string, token: string) =>
    server.inject({
      method: 'POST',
      url: '/v2/oauth/revoke',
      headers: { 'content-type': 'application/x-www-form-urlencoded', 'x-forwarded-for': address },
      payload: new URLSearchParams({ token, client_id: client.client_id }).toString(),
    })
  assert.equal((await from('198.51.100.1', first.access_token)).statusCode, 200)
  assert.equal((await from('198.51.100.1', second.access_token)).statusCode, 429)
  assert.equal((await from('203.0.113.1', second.access_token)).statusCode, 200)
})

test('BND-04: above its rate a client gets no opaque token for itself, but a verified client does, and so each grant by exchange', async (t) => {
  const { server, jwtApi, api } = await openWithOpaqueApis(t, {
    clock: openStillClock(),
    env: { GRANTOR_STORED_TOKEN_RATE: '2' },
  })
  const client = await registerClient(server)
  const ask = () => requestToken(server, client, { grant_type: 'client_credentials', resource: OPAQUE_API })
  const tokens = [await ask(), await ask()].map((answer) => answer.json<Tokens>().access_token)
  for (const token of tokens) assert.equal((await introspect(server, api, token)).json().active, true)
  const refused = await assertStoreUnchanged(server, ask)
  assert.deepEqual([refused.statusCode, refused.headers['retry-after']], [429, '30'])
  assert.equal((await requestToken(server, client, { grant_type: 'client_credentials' })).statusCode, 200, 'a JWT')
  const rule = { resource: JWT_API as Resource, scope: 'read' as Scope }
  await updateApi(server.context, await requireApi(server.context, OPAQUE_API), { exchange: [rule] })
  knowApis(server)
  const mine = (await obtainTokens(server, client, { resource: JWT_API })).access_token
  const other = (await obtainTokens(server, client, { resource: JWT_API, prompt: 'consent' })).access_token
  const usual = { grant_type: TOKEN_EXCHANGE, subject_token_type: 'urn:ietf:params:oauth:token-type:access_token' }
  const exchange = async (subject_token: string) =>
    (await requestToken(server, jwtApi, { ...usual, subject_token, resource: OPAQUE_API })).statusCode
  for (const [token, status] of [
    [mine, 200],
    [mine, 200],
    [mine, 429],
    [other, 200],
  ] as const)
    assert.equal(await exchange(token), status)
  await perform(server.context, 'client.verify', { client_id: client.client_id })
  for (let count = 0; count < 5; count += 1) assert.equal((await ask()).statusCode, 200)
})

test('BND-02: a user with many grants does not use up the exchanges of the other users of an API', async (t) => {
  const env = { GRANTOR_STORED_TOKEN_RATE: '2' }
  const { server, jwtApi } = await openWithOpaqueApis(t, { clock: openStillClock(), env })
  const rule = { resource: JWT_API as Resource, scope: 'read' as Scope }
  await updateApi(server.context, await requireApi(server.context, OPAQUE_API), { exchange: [rule] })
  knowApis(server)
  await createAccount(server, { email: 'eve@x.example', password: PASSWORD, name: undefined, isVerified: true })
  const client = await registerClient(server)
  const exchange = async (subject_token: string) => {
    const type = { grant_type: TOKEN_EXCHANGE, subject_token_type: 'urn:ietf:params:oauth:token-type:access_token' }
    return (await requestToken(server, jwtApi, { ...type, subject_token, resource: OPAQUE_API })).statusCode
  }
  const ada = (await obtainTokens(server, client, { resource: JWT_API })).access_token
  const browser = new PlainBrowser(server)
  const url = authorizeUrl(client, { resource: JWT_API, prompt: 'consent' })
  const start = await browser.get(locationOf(await browser.get(url)))
  await browser.submit(start, { email: 'eve@x.example', password: PASSWORD })
  const statuses: number[] = []
  for (let grant = 0; grant < 8; grant += 1) {
    const code = (await signInAndAllow(browser, url)).searchParams.get('code') ?? ''
    const token = (await redeem(server, client, code)).json<Tokens>().access_token
    statuses.push(await exchange(token), await exchange(token))
  }
  assert.equal(statuses.at(-1), 429)
  assert.equal(await exchange(ada), 200)
})

test('BND-02: a network that starts authorizations above the rate does not block other networks', async (t) => {
  const env = { GRANTOR_AUTHORIZATION_RATE: '4', GRANTOR_TRUST_PROXY: '127.0.0.1' }
  const server = await openTestServer(t, { clock: openStillClock(), env })
  const client = await registerClient(server)
  const from = async (address: string) =>
    (await server.inject({ url: authorizeUrl(client), headers: { 'x-forwarded-for': address } })).statusCode
  const hostile: number[] = []
  for (let index = 0; index < 60; index += 1) hostile.push(await from(`2001:db8:1:${index.toString(16)}::1`))
  const passed = hostile.filter((status) => status === 303).length
  assert.ok(passed <= 20, String(passed))
  assert.equal(hostile.at(-1), 429)
  assert.equal(await from('203.0.113.1'), 303)
  assert.equal(selectAll(server, 'select * from authorizations').length, passed + 1)
})

test('BND-01: state is limited by its stored size in bytes', async (t) => {
  const server = await openTestServer(t, { clock: openStillClock() })
  await createAda(server)
  const client = await registerClient(server)
  const largest = async (state: string) => {
    await server.inject({ url: authorizeUrl(client, { state }) })
    return selectAll(server, 'select max(length(cast(request as blob))) as n from authorizations')[0]?.['n']
  }
  const usual = Number(await largest('s'.repeat(4096)))
  assert.ok(usual > 4096 && usual < 5000, String(usual))
  for (const character of ['\u0001', '"', '\u00e9', '\u{1f600}'])
    assert.equal(await largest(character.repeat(2049)), usual, character)
})

test('BND-01: what OpenID Connect adds to a pending request is at most 3 KiB', async (t) => {
  const server = await openTestServer(t, { clock: openStillClock() })
  const client = await registerClient(server)
  const largest = async (parameters: Readonly<Record<string, string>>): Promise<number> => {
    await server.inject({ url: authorizeUrl(client, parameters) })
    return Number(selectAll(server, 'select max(length(cast(request as blob))) as n from authorizations')[0]?.['n'])
  }
  const usual = await largest({ scope: 'openid' })
  const named = Object.fromEntries(USER_CLAIMS.map((claim) => [claim, null]))
  const claims = JSON.stringify({ id_token: { ...named, sub: { value: 's'.repeat(3000) } } })
  const more = await largest({ scope: 'openid', nonce: '"'.repeat(1024), max_age: '1000000000', claims })
  assert.ok(more > usual + 1024 && more < usual + 3072, String(more - usual))
})

test('BND-04: an update that changes nothing is not an audit event', async (t) => {
  const server = await openTestServer(t, { clock: openStillClock() })
  const client = await registerClient(server)
  const { registration_client_uri: uri, registration_access_token: token } = client as RegisteredClient & {
    readonly registration_client_uri: string
    readonly registration_access_token: string
  }
  const { pathname, search } = new URL(uri)
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const put = (members: object) =>
    server.inject({ method: 'PUT', url: pathname + search, headers, payload: JSON.stringify(members) })
  const members = { client_id: client.client_id, redirect_uris: client['redirect_uris'], client_name: 'The same' }
  for (let count = 0; count < 5; count += 1) assert.equal((await put(members)).statusCode, 200)
  assert.equal(eventsIn(server).filter(({ event }) => event === 'client.updated').length, 1)
})

async function accessToken(server: TestServer, client: RegisteredClient): Promise<string> {
  const answer = await requestToken(server, client, { grant_type: 'client_credentials' })
  return answer.json<Tokens>().access_token
}

function revocationsIn(server: TestServer): readonly AuditEvent[] {
  return eventsIn(server).filter(({ event }) => event.endsWith('.revoked'))
}

function eventsIn(server: TestServer): readonly AuditEvent[] {
  const links = selectAll(server, 'select events from audit_links order by link_id')
  return links.flatMap(({ events }) => JSON.parse(String(events)) as readonly AuditEvent[])
}
