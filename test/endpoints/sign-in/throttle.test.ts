import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as turnOfTheLoop } from 'node:timers/promises'
import type { Response as LightMyRequestResponse } from 'light-my-request'
import {
  authorizeUrl,
  EMAIL,
  hiddenFields,
  locationOf,
  PASSWORD,
  PlainBrowser,
  registerClient,
  signInAndAllow,
} from '../../../tools/flow.ts'
import { createLink } from '../../../src/admin/user/link.ts'
import type { WholeUserDocument } from '../../../src/admin/user/tasks.ts'
import { perform } from '../../support/tasks.ts'
import { createAccount, createAda } from '../../support/accounts.ts'
import { openMigratedDatabase } from '../../support/store/migrated-database.ts'
import { beginWindow, openTestServer, type TestServer, type TestServerOptions } from '../../support/server.ts'
import { selectAll } from '../../support/store/dump.ts'
import { openNode } from '../../support/store/postgres-node.ts'
import { recordPostgres } from '../../store/recorded-statements.ts'
import { aUser } from '../../support/records.ts'
import { storeApp } from '../../support/sign-in/stored-app.ts'

const WINDOW_MS = 15 * 60_000

test('BND-03: a network above its limit writes nothing when it tries again, for any account', async (t) => {
  const { server, tryAs } = await open(t)
  for (let count = 0; count < 20; count += 1) assert.equal((await tryAs(`user${count}@acme.test`)).statusCode, 401)
  assert.equal((await tryAs('first@acme.test')).statusCode, 429)
  const before = hitsOf(server)
  const recorded = eventsOf(server)
  for (let count = 0; count < 50; count += 1) {
    const answer = await tryAs(count % 2 === 0 ? EMAIL : `another${count}@acme.test`)
    assert.equal(answer.statusCode, 429)
    assert.ok(Number(answer.headers['retry-after']) > 800)
  }
  assert.deepEqual(hitsOf(server), before)
  assert.equal(eventsOf(server), recorded)
})

test('BND-03: an attempt above the limit of the network does not count for the account', async (t) => {
  const { server, tryAs } = await open(t)
  await spend(server, ['network', '127.0.0.1'], 20)
  for (let count = 0; count < 30; count += 1) {
    assert.equal((await tryAs(EMAIL)).statusCode, 429)
    server.clock.advance(11_000)
  }
  assert.equal(hitsOf(server).length, 1)
})

test('BND-03: many networks cause a limited number of counts, and other users can still sign in', async (t) => {
  const { server, tryAs } = await open(t, { env: { GRANTOR_TRUST_PROXY: '127.0.0.1' } })
  const { budgets, clock } = server.context
  for (let index = 0; index < 4000; index += 1)
    budgets.take('sign-in', `2001:db8:1:${index.toString(16)}::/64`, clock())
  const before = hitsOf(server)
  const flood = await tryAs(EMAIL, PASSWORD, { 'x-forwarded-for': '2001:db8:1:ffff::1' })
  assert.equal(flood.statusCode, 429)
  assert.ok(Number(flood.headers['retry-after']) <= 60)
  assert.deepEqual(hitsOf(server), before)
  assert.equal((await tryAs(EMAIL, PASSWORD, { 'x-forwarded-for': '203.0.113.1' })).statusCode, 303)
})

test('BND-03: the store is queried again after ten seconds, and a clock that is set back does not extend a lock-out', async (t) => {
  const { server, tryAs } = await open(t)
  const counted = (): number => hitsOf(server).reduce((sum, row) => sum + Number(row['count']), 0)
  await spend(server, ['account', EMAIL], 10)
  await tryAs(EMAIL)
  const before = counted()
  await tryAs(EMAIL)
  assert.equal(counted(), before)
  server.clock.advance(10_001)
  await tryAs(EMAIL)
  assert.equal(counted(), before + 2)
  server.clock.advance(-WINDOW_MS)
  assert.equal((await tryAs(EMAIL)).statusCode, 401)
})

test('UI-08: many simultaneous correct sign-ins do not lock the network out', async (t) => {
  const { server, tryAs } = await open(t)
  const people = Array.from({ length: 25 }, (_, index) => `person${index}@acme.test`)
  // Hashed once: all of them have the password of Ada.
  const [ada] = selectAll(server, 'select password_hash from users')
  for (const email of people)
    await server.context.store.createUser(
      aUser({ email, passwordHash: String(ada?.['password_hash']), notBefore: server.clock.now() }),
    )
  const statuses = (await Promise.all(people.map((email) => tryAs(email, PASSWORD)))).map((one) => one.statusCode)
  assert.deepEqual(new Set(statuses), new Set([303, 429]))
  assert.equal((await tryAs(EMAIL, PASSWORD)).statusCode, 303)
})

test('UI-08: the owner’s browser can sign in while its network is above the limit', async (t) => {
  const { server, tryAs, client } = await open(t)
  const owner = new PlainBrowser(server)
  await signInAndAllow(owner, authorizeUrl(client))
  await spend(server, ['network', '127.0.0.1'], 20)
  assert.equal((await tryAs(EMAIL, PASSWORD)).statusCode, 429)
  const page = await pageOf(owner, authorizeUrl(client, { prompt: 'login' }))
  assert.equal((await owner.submit(page, { email: EMAIL, password: PASSWORD })).statusCode, 303)
})

test('UI-08: an administrator ends the lock of one account, also of a browser that it knows; a link that sets a password ends it too', async (t) => {
  const { server, tryAs, client } = await open(t)
  const { context } = server
  const other = 'bob@acme.test'
  await createAccount(server, { email: other, password: PASSWORD, name: undefined })
  const owner = new PlainBrowser(server)
  await signInAndAllow(owner, authorizeUrl(client))
  const ada = await context.store.findUserByEmail(EMAIL)
  assert.ok(ada !== undefined)
  const [known = ''] = await context.store.listBrowsers(ada.id)
  const ownTry = async (password: string) =>
    (await owner.submit(await pageOf(owner, authorizeUrl(client, { prompt: 'login' })), { email: EMAIL, password }))
      .statusCode
  const reasons = async () => {
    const { sign_in } = await perform<WholeUserDocument>(context, 'user.show', { user_id: ada.id })
    return sign_in.obstacles.map(({ reason }) => reason)
  }
  await storeApp(context, ada.id)
  await Promise.all([EMAIL, other].map((email) => spend(server, ['account', email], 10)))
  await spend(server, ['device', EMAIL, known], 10)
  await spend(server, ['second-step', 'account', ada.id], 5)
  for (const email of [EMAIL, other]) assert.equal((await tryAs(email, PASSWORD)).statusCode, 429)
  assert.deepEqual([await ownTry(PASSWORD), await reasons()], [429, ['too-many-passwords', 'too-many-codes']])
  await perform(context, 'user.unlock', { user_id: ada.id })
  assert.deepEqual([(await tryAs(EMAIL, PASSWORD)).statusCode, await ownTry(PASSWORD), await reasons()], [200, 200, []])
  assert.equal((await tryAs(other, PASSWORD)).statusCode, 429)
  assert.equal((await tryAs(EMAIL)).statusCode, 401)

  const tryNew = async (password: string) => {
    const stranger = new PlainBrowser(server)
    return (await stranger.submit(await pageOf(stranger, authorizeUrl(client)), { email: EMAIL, password })).statusCode
  }
  await spend(server, ['account', EMAIL], 10)
  assert.deepEqual([await tryNew(PASSWORD), await reasons()], [429, ['too-many-passwords']])
  const changed = 'another long horse'
  const link = await owner.get((await createLink(context, ada.id)).address)
  await owner.submit(link, { password: changed, repeated: changed })
  assert.deepEqual([await tryNew(changed), await reasons()], [200, []])
  assert.equal((await tryAs(other, PASSWORD)).statusCode, 429)
})

test('UI-08: a known and an unknown account cause the same number of rows, allowed and refused', async (t) => {
  const rows = []
  for (const prefix of ['person', 'nobody']) {
    const { server, tryAs } = await open(t)
    for (const email of ['person0@acme.test', 'person1@acme.test'])
      await createAccount(server, { email, password: PASSWORD, name: undefined })
    await spend(server, ['network', '127.0.0.1'], 16)
    for (let count = 0; count < 8; count += 1) await tryAs(`${prefix}${count % 2}@acme.test`)
    server.clock.advance(60_000)
    await server.close()
    // Events, because a link holds as many as were committed together.
    const events = selectAll(server, 'select events from audit_links').map((row) => String(row['events']))
    rows.push({ hits: hitsOf(server).length, events: events.join().split('"sign-in.failed"').length - 1 })
  }
  assert.deepEqual(rows[0], rows[1])
})

test('UI-08: a known and an unknown account cause the same queries to PostgreSQL, allowed and refused', async (t) => {
  t.mock.timers.enable({ apis: ['setInterval', 'Date'], now: Date.now() })
  const server = await openNode(t, await openMigratedDatabase(t))
  const { tryAs } = await prepare(server)
  // The clock does not advance from here, so that no cached record expires between the two accounts.
  const now = performance.now()
  t.mock.method(performance, 'now', () => now)
  let events = (await linksOf(server)).length
  const attempt = async (email: string, status: number): Promise<void> => {
    assert.equal((await tryAs(email)).statusCode, status)
    // The audit is written after the response.
    if (status === 401) while ((await linksOf(server)).length === events) await turnOfTheLoop()
    events = (await linksOf(server)).length
  }
  for (const status of [401, 429]) {
    // It reads what the following attempts find in the cache.
    await attempt('first@acme.test', status)
    const known = await recordPostgres(() => attempt(EMAIL, status))
    const unknown = await recordPostgres(() => attempt('nobody@acme.test', status))
    assert.ok(known.size > 0)
    assert.deepEqual(known, unknown, String(status))
    await spend(server, ['network', '127.0.0.1'], 20)
  }
})

async function open(t: Parameters<typeof openTestServer>[0], options: TestServerOptions = {}) {
  const server = await openTestServer(t, options)
  return { server, ...(await prepare(server)) }
}

/** Ada, and an unknown browser with the sign-in page, at the start of a window: no case may span two windows. */
async function prepare(server: TestServer) {
  beginWindow(server)
  await createAda(server)
  const client = await registerClient(server)
  const browser = new PlainBrowser(server)
  const page = await pageOf(browser, authorizeUrl(client))
  const tryAs = (email: string, password = 'wrong', headers: Readonly<Record<string, string>> = {}) =>
    browser.post('/v2/oauth/sign-in', { ...hiddenFields(page), email, password }, headers)
  return { client, tryAs }
}

/** Attempts that were made before, without the time that their passwords take. */
async function spend({ context }: TestServer, parts: readonly string[], by: number): Promise<void> {
  const bucket = context.secrets.digest('bucket', ['sign-in', ...parts])
  await context.store.countHit({ bucket, now: context.clock(), windowMs: WINDOW_MS, by })
}

async function pageOf(browser: PlainBrowser, url: string): Promise<LightMyRequestResponse> {
  return browser.get(locationOf(await browser.get(url)))
}

function hitsOf(server: TestServer): readonly Record<string, unknown>[] {
  return selectAll(server, 'select * from hits order by bucket, window_start')
}

function linksOf({ context }: TestServer): Promise<readonly object[]> {
  return context.store.listAuditLinks({ before: undefined, limit: 100, since: 0 as never })
}

function eventsOf(server: TestServer): number {
  return Number(selectAll(server, 'select count(*) as n from audit_links')[0]?.['n'])
}
