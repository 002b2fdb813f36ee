import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { alterLast } from '../support/alter.ts'
import { rotateKeys } from '../../src/admin/key/key.ts'
import type { AuditEvent } from '../../src/ports/records/audit.ts'
import type { EpochMs } from '../../src/base/brand.ts'
import type { ClientId, UserId } from '../../src/protocol/ids.ts'
import { eventsOf, listLinks } from '../store/contract/chains.ts'
import { A_KEY, aUser, NOW } from '../support/records.ts'
import {
  authorizeUrl,
  EMAIL,
  hiddenFields,
  locationOf,
  obtainCode,
  obtainTokens,
  PASSWORD,
  PlainBrowser,
  postForm,
  postJson,
  redeem,
  refresh,
  registerClient,
  requestToken,
  VERIFIER,
  type RegisteredClient,
} from '../../tools/flow.ts'
import { createAda } from '../support/accounts.ts'
import { declareApi, knowApis } from '../support/apis.ts'
import { addProvider } from '../support/provider/providers.ts'
import { perform } from '../support/tasks.ts'
import { openTestServer, STRICT, type TestServer } from '../support/server.ts'
import { openSteadyClock } from '../support/clocks.ts'

/** The origin of requests of these tests. */
const HERE = { network: '127.0.0.0/24' }

interface RecordedServer {
  readonly server: TestServer
  readonly client: RegisteredClient
  readonly other: RegisteredClient
  readonly userId: UserId
  /** Returns the events since the previous call, without the ids of requests. */
  readonly newEvents: () => Promise<readonly AuditEvent[]>
}

test('audit: a registration is recorded, also of a shared client, and a repeated one is not', async (t) => {
  const { server, newEvents } = await openRecordedServer(t)
  const { client_id: own } = await registerClient(server)
  const { client_id: shared } = await registerClient(server, { token_endpoint_auth_method: 'none' })
  await registerClient(server, { token_endpoint_auth_method: 'none' })
  assert.deepEqual(await newEvents(), [
    { event: 'client.registered', clientId: own },
    { event: 'client.registered', clientId: shared, details: { shared: true } },
  ])
})

test('audit: a sign-in and a consent are recorded with client, user and authorization', async (t) => {
  const { server, client, userId, newEvents } = await openRecordedServer(t)
  await obtainCode(server, client)
  const [started, approved, ...rest] = await newEvents()
  assert.deepEqual(started, { event: 'session.started', userId, details: { methods: 'pwd', ...HERE } })
  assert.deepEqual(approved, {
    event: 'authorization.approved',
    clientId: client.client_id,
    userId,
    details: { authorization: approved?.details?.['authorization'] },
  })
  assert.match(String(approved?.details?.['authorization']), /^[0-9a-f]{12}[A-Za-z0-9_-]{22}$/)
  assert.deepEqual(rest, [])
})

test('audit: a failed sign-in is recorded with the user, if known, and never with the typed text', async (t) => {
  const { server, client, userId, newEvents } = await openRecordedServer(t)
  const browser = new PlainBrowser(server)
  const page = await browser.get(locationOf(await browser.get(authorizeUrl(client))))
  await browser.submit(page, { email: EMAIL, password: 'not the pass phrase' })
  await browser.submit(page, { email: 'nobody@acme.test', password: 'not the pass phrase' })
  const [known, unknown, ...rest] = await newEvents()
  const [account, another] = [known, unknown].map((one) => String(one?.details?.['account']))
  const reason = 'wrong-credentials'
  const details = { reason, account, ...HERE }
  assert.deepEqual(known, { event: 'sign-in.failed', clientId: client.client_id, userId, details })
  assert.deepEqual(unknown, {
    event: 'sign-in.failed',
    clientId: client.client_id,
    details: { reason, account: another, ...HERE },
  })
  for (const digest of [account, another]) assert.match(digest ?? '', /^[A-Za-z0-9_-]{43}$/)
  assert.notEqual(account, another)
  assert.deepEqual(rest, [])
})

test('audit: a denied authorization is recorded with the user who denied it', async (t) => {
  const { server, client, userId, newEvents } = await openRecordedServer(t)
  const browser = new PlainBrowser(server)
  const page = await browser.get(locationOf(await browser.get(authorizeUrl(client))))
  const consent = await browser.get(locationOf(await browser.submit(page, { email: EMAIL, password: PASSWORD })))
  await browser.submit(consent, { decision: 'deny' })
  const [, denied, ...rest] = await newEvents()
  assert.deepEqual([denied?.event, rest.length], ['authorization.denied', 0])
  assert.deepEqual([denied?.clientId, denied?.userId], [client.client_id, userId])
})

test('audit: a replayed code is recorded once, however often it is replayed', async (t) => {
  const { server, client, userId, newEvents } = await openRecordedServer(t)
  const code = await obtainCode(server, client)
  assert.equal((await redeem(server, client, code)).statusCode, 200)
  await newEvents()
  for (let time = 0; time < 3; time += 1) assert.equal((await redeem(server, client, code)).statusCode, 400)
  const events = await newEvents()
  assert.deepEqual(
    events.map(({ event, clientId, userId: who }) => [event, clientId, who]),
    [['code.replayed', client.client_id, userId]],
  )
})

test('audit: a burned code, and a code that another client or a party without its key presents, are recorded', async (t) => {
  const { server, client, other, newEvents } = await openRecordedServer(t)
  const code = await obtainCode(server, client)
  const bound = await obtainCode(server, client, { prompt: 'consent', dpop_jkt: A_KEY })
  await newEvents()
  await redeem(server, other, code)
  await redeem(server, client, bound)
  await redeem(server, client, code, { code_verifier: VERIFIER.toUpperCase() })
  assert.deepEqual(
    (await newEvents()).map(({ event, clientId, details }) => [event, clientId, details?.['kind']]),
    [
      ['code.presented-by-another-client', other.client_id, undefined],
      ['credential.presented-with-another-key', client.client_id, 'code'],
      ['code.burned', client.client_id, undefined],
    ],
  )
})

test('AG-18: a family that is parted and then ended is recorded as both, each once', async (t) => {
  const { server, client, userId, newEvents } = await openRecordedServer(t, {})
  const elsewhere = { ...server, inject: (one: object) => server.inject({ ...one, remoteAddress: '127.0.0.3' }) }
  const { refresh_token: first = '' } = await obtainTokens(server, client)
  const { refresh_token: newest } = (await refresh(server, client, first)).json<{ refresh_token: string }>()
  server.clock.advance(60_000)
  await newEvents()
  for (const presented of [first, first]) assert.equal((await refresh(elsewhere, client, presented)).statusCode, 400)
  for (const presented of [newest, newest]) assert.equal((await refresh(server, client, presented)).statusCode, 400)
  const events = await newEvents()
  assert.deepEqual(
    events.map(({ event, clientId, userId: user, details }) => [event, clientId, user, details]),
    [
      ['refresh-token.parted', client.client_id, userId, { generation: 0, newest: 1, why: 'elsewhere' }],
      ['refresh-token.reused', client.client_id, userId, { generation: 1, why: 'elsewhere', parted: true }],
    ],
  )
})

test('RT-04: a refresh token that is reused after the retry window is recorded as refresh-token.reused, with its family', async (t) => {
  const { server, client, userId, newEvents } = await openRecordedServer(t)
  const tokens = await obtainTokens(server, client)
  await refresh(server, client, tokens.refresh_token ?? '')
  server.clock.advance(60_000)
  await newEvents()
  assert.equal((await refresh(server, client, tokens.refresh_token ?? '')).statusCode, 400)
  const [event, ...rest] = await newEvents()
  assert.deepEqual([event?.event, event?.clientId, event?.userId], ['refresh-token.reused', client.client_id, userId])
  const [grant] = await server.context.store.listGrants({ before: undefined, limit: 1 })
  assert.equal(event?.grantId, grant?.id)
  assert.deepEqual(rest, [])
})

test('RT-15: a client that presents the refresh token of another client is recorded, with the count of the minute', async (t) => {
  const { server, client, other, newEvents } = await openRecordedServer(t)
  const tokens = await obtainTokens(server, client)
  await newEvents()
  for (let time = 0; time < 5; time += 1) await refresh(server, other, tokens.refresh_token ?? '')
  const event = { event: 'refresh-token.presented-by-another-client', clientId: other.client_id }
  assert.deepEqual(await newEvents(), [event])
  const next = await server.reopen()
  const written = eventsOf(await listLinks(next.context.store, 0 as EpochMs))
  assert.deepEqual(
    written.filter(({ event: word }) => word === event.event),
    [event, { ...event, details: { again: 4, minute: NOW } }],
  )
})

test('audit: a refusal of scopes is recorded with three scopes of each reason, 40 characters of each', async (t) => {
  const { server, client, other, newEvents } = await openRecordedServer(t)
  await declareApi(server, 'https://notes.example', {}, [
    { name: 'purge', sentence: 'Purge', grantedTo: 'approved-clients' },
  ])
  knowApis(server)
  await newEvents()
  await requestToken(server, client, { grant_type: 'client_credentials', scope: 'purge made-up' })
  const details = { reason: 'scope_not_allowed', not_declared: 'made-up', not_approved: 'purge' }
  assert.deepEqual(await newEvents(), [{ event: 'scope.refused', clientId: client.client_id, details }])
  const many = Array.from({ length: 5 }, (_, index) => `${index}${'x'.repeat(100)}`)
  await requestToken(server, client, { grant_type: 'client_credentials', scope: many.join(' ') })
  const [{ details: long } = {}] = await newEvents()
  const cut = [0, 1, 2].map((index) => `${index}${'x'.repeat(39)}...`)
  assert.deepEqual(long, { reason: 'scope_not_allowed', not_declared: [...cut, 'and 2 more'].join(', ') })
  await new PlainBrowser(server).get(authorizeUrl(other, { scope: 'purge' }))
  assert.deepEqual(await newEvents(), [
    {
      event: 'scope.refused',
      clientId: other.client_id,
      details: { reason: 'scope_not_allowed', not_approved: 'purge' },
    },
  ])
})

test('audit: a revoked grant and a revoked token are recorded with their client', async (t) => {
  const { server, client, userId, newEvents } = await openRecordedServer(t)
  const tokens = await obtainTokens(server, client)
  await newEvents()
  const credentials = { client_id: client.client_id, client_secret: client.client_secret ?? '' }
  await postForm(server, '/v2/oauth/revoke', { ...credentials, token: tokens.access_token })
  await postForm(server, '/v2/oauth/revoke', { ...credentials, token: tokens.refresh_token ?? '' })
  assert.deepEqual(
    (await newEvents()).map(({ event, clientId, userId: who }) => [event, clientId, who]),
    [
      ['token.revoked', client.client_id, userId],
      ['grant.revoked', client.client_id, userId],
    ],
  )
})

test('audit: a wrong client secret is recorded, and an unknown client is not', async (t) => {
  const { server, client, newEvents } = await openRecordedServer(t)
  await requestToken(server, { ...client, client_secret: 'gcs_wrong' }, { grant_type: 'client_credentials' })
  const unknown = alterLast(client.client_id)
  await requestToken(server, { ...client, client_id: unknown }, { grant_type: 'client_credentials' })
  assert.deepEqual(await newEvents(), [
    { event: 'client.authentication-failed', clientId: client.client_id, details: HERE },
  ])
})

test('ADM-06: each change by an administrator is recorded with the administrator as actor', async (t) => {
  const { server, client, newEvents } = await openRecordedServer(t)
  const id = client.client_id as ClientId
  const store = server.context.actingAs('command-line', undefined)
  const now = server.context.clock()
  await store.verifyClient({ id, now })
  await store.disableClient({ id, now })
  server.clock.advance(1000)
  await rotateKeys(
    { ...server.context, store: server.context.actingAs('a-credential', undefined) },
    { when: 'now', purpose: 'access', algorithm: undefined },
  )
  const events = await newEvents()
  assert.deepEqual(events.map(({ event, actor }) => [event, actor]).slice(0, 2), [
    ['client.verified', 'command-line'],
    ['client.disabled', 'command-line'],
  ])
  assert.deepEqual([events[2]?.event, events[2]?.actor], ['key.added', 'a-credential'])
})

test('ADM-06: line breaks and escape sequences that a caller sends stay within one line of JSON', async (t) => {
  const { server, newEvents } = await openRecordedServer(t)
  const evil = 'a\r\n{"event":"client.verified"}\u001b[31m\u2028'
  await postJson(server, '/v2/oauth/register', { client_name: evil, redirect_uris: ['https://app.example/cb'] })
  await server.context.store.createUser(aUser({ name: evil }))
  await server.context.store.recordEvent({ event: 'client.updated', details: { note: evil } })
  const links = await listLinks(server.context.store, 0 as EpochMs)
  for (const { events } of links) assert.doesNotMatch(events, /\p{Cc}/u)
  const words = (await newEvents()).map(({ event }) => event)
  assert.deepEqual(words, ['user.created', 'client.updated'])
  for (const line of server.log().trim().split('\n')) JSON.parse(line)
})

test('STO-01: after complete flows no row of the audit has a secret, an e-mail address or a client name', async (t) => {
  const { server, client, other } = await openRecordedServer(t)
  const tokens = await obtainTokens(server, client)
  const next = (await refresh(server, client, tokens.refresh_token ?? '')).json<{ refresh_token: string }>()
  const code = await obtainCode(server, client, { prompt: 'consent' })
  await redeem(server, other, code)
  await redeem(server, client, code)
  await redeem(server, client, code)
  const browser = new PlainBrowser(server)
  const page = await browser.get(locationOf(await browser.get(authorizeUrl(client))))
  await browser.submit(page, { email: EMAIL, password: 'a-wrong-password' })
  const again = await server.reopen()
  const rows = JSON.stringify(await listLinks(again.context.store, 0 as EpochMs))
  const secrets = [
    client.client_secret,
    other.client_secret,
    tokens.access_token,
    tokens.refresh_token,
    next.refresh_token,
    code,
    EMAIL,
    PASSWORD,
    'a-wrong-password',
    VERIFIER,
    'Example',
    hiddenFields(page)['csrf'],
    ...browser.cookies.values(),
  ]
  for (const secret of secrets) {
    assert.ok(secret !== undefined && secret.length >= 7)
    assert.ok(!rows.includes(secret), secret)
    if (secret.length > 60) assert.ok(!rows.includes(secret.slice(-40)), secret)
  }
  assert.ok(rows.includes('code.replayed') && rows.includes('tokens.issued') && rows.includes(client.client_id))
})

test('audit: a change of a provider or an API names the clients and APIs that are listed now, and no longer', async (t) => {
  const { server, client, other, newEvents } = await openRecordedServer(t)
  const [one, two] = ['https://one.example', 'https://two.example']
  await addProvider(server, { issuer: 'https://idp.example' })
  for (const resource of [one, two]) await declareApi(server, resource)
  await newEvents()
  const change = (task: string, input: object) => perform(server.context, task, { ...input })
  const lists = (clients: readonly string[], apis: readonly string[]) =>
    change('provider.update', { provider_id: 'idp', assertion_clients: clients, assertion_apis: apis })
  const rules = (exchange: object) => change('api.update', { resource: one, exchange })
  await lists([client.client_id, other.client_id], [one])
  await lists([other.client_id], [two])
  await change('provider.update', { provider_id: 'idp', name: 'New' })
  await rules([{ resource: two, scope: 'read' }])
  await rules([{ resource: two, scope: 'write' }])
  await rules([{ resource: two, scope: '' }])
  const textOf = (details: object = {}) =>
    JSON.stringify({ ...details, provider: undefined, client_id: undefined, resource: undefined })
  assert.deepEqual(
    (await newEvents()).map(({ details }) => textOf(details)),
    [
      { assertion_clients_added: `${client.client_id} ${other.client_id}`, assertion_apis_added: one },
      { assertion_clients_removed: client.client_id, assertion_apis_added: two, assertion_apis_removed: one },
      {},
      { exchange_from_added: two },
      { exchange_from_changed: two },
      { exchange_from_removed: two },
    ].map(textOf),
  )
})

async function openRecordedServer(
  t: TestContext,
  env: Readonly<Record<string, string>> = STRICT,
): Promise<RecordedServer> {
  const server = await openTestServer(t, { clock: openSteadyClock(), env })
  await createAda(server)
  const [client, other] = [await registerClient(server), await registerClient(server)]
  const [ada] = await server.context.store.listUsers({ before: undefined, limit: 1 })
  let seen = 0
  const newEvents = async (): Promise<readonly AuditEvent[]> => {
    // What was reported is written in the background: it comes before whatever is asked for from now on.
    await server.context.store.insertSettingOnce({ name: 'a-write-of-a-test', value: '' })
    const events = eventsOf(await listLinks(server.context.store, 0 as EpochMs))
    const fresh = events.slice(seen)
    seen = events.length
    // request-ids.test.ts compares the ids of requests with those of the log.
    return fresh.map((event) => JSON.parse(JSON.stringify({ ...event, requestId: undefined })) as AuditEvent)
  }
  await newEvents()
  return { server, client, other, userId: ada?.id as UserId, newEvents }
}
