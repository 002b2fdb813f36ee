import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Response as LightMyRequestResponse } from 'light-my-request'
import type { SessionRecord } from '../../../src/ports/records/user.ts'
import { SESSIONS } from '../../../src/store/nouns/user/sessions.ts'
import {
  authorizeUrl,
  EMAIL,
  hiddenFields,
  locationOf,
  PASSWORD,
  PlainBrowser,
  registerClient,
  signInAndAllow,
  type RegisteredClient,
} from '../../../tools/flow.ts'
import { createAccount, createAda } from '../../support/accounts.ts'
import { openTestServer, type TestServer } from '../../support/server.ts'
import { selectAll } from '../../support/store/dump.ts'

const FIREFOX = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0'

test('a session records how and when the user signed in, and the browser in words', async (t) => {
  const { server, client } = await open(t)
  const now = server.clock.now()
  await signIn(new PlainBrowser(server), client, EMAIL, { 'user-agent': FIREFOX })
  const [session] = sessions(server)
  assert.ok(session !== undefined && session.createdAt >= now)
  const { at, ...how } = session.authentication
  assert.deepEqual(how, { methods: ['pwd'], providerId: undefined })
  assert.ok(at !== undefined && at >= now && at <= session.createdAt)
  assert.deepEqual(session.agent, { browser: 'Firefox', system: 'Linux' })
  assert.deepEqual([session.network, session.seenAt, session.rootId], ['127.0.0.1', session.createdAt, session.id])
  assert.ok(!JSON.stringify(selectAll(server, 'select * from sessions')).includes('Gecko'))
})

test('the audit has the method of each sign-in', async (t) => {
  const { server, client } = await open(t)
  await signIn(new PlainBrowser(server), client, EMAIL)
  const links = selectAll(server, 'select events from audit_links').map(({ events }) => String(events))
  assert.ok(links.some((events) => /"event":"session.started"[^}]*"details":\{[^}]*"methods":"pwd"/.test(events)))
})

test('the same user who signs in again in the browser has a session with the same root; the previous session ends', async (t) => {
  const { server, client } = await open(t)
  const browser = new PlainBrowser(server)
  await signIn(browser, client, EMAIL)
  const [first] = sessions(server)
  for (const _ of ['again', 'and again']) {
    await signIn(browser, client, EMAIL)
    const [session, other] = sessions(server)
    assert.equal(other, undefined)
    assert.notEqual(session?.id, first?.id)
    assert.equal(session?.rootId, first?.id)
  }
})

test('another user in the browser, and the same user in another browser, have a root of their own', async (t) => {
  const { server, client } = await open(t)
  await createAccount(server, { email: 'grace@acme.test', password: PASSWORD, name: undefined })
  const browser = new PlainBrowser(server)
  await signIn(browser, client, EMAIL)
  const [first] = sessions(server)
  await signIn(new PlainBrowser(server), client, EMAIL)
  await signIn(browser, client, 'grace@acme.test')
  const found = sessions(server)
  assert.deepEqual(
    found.map(({ id, rootId }) => rootId === id),
    [true, true],
  )
  assert.ok(!found.some(({ id }) => id === first?.id), 'The session of the previous user ended.')
})

test('the first sign-in of a user is recorded once', async (t) => {
  const { server, client } = await open(t)
  const at = (): unknown => selectAll(server, 'select first_signed_in_at from users')[0]?.['first_signed_in_at']
  assert.equal(at(), null)
  await signIn(new PlainBrowser(server), client, EMAIL)
  const first = at()
  assert.ok(Number(first) > 0)
  server.clock.advance(60_000)
  await signIn(new PlainBrowser(server), client, EMAIL)
  assert.equal(at(), first)
})

test('the time of last use of a session is noted every five minutes, and written some seconds later and at the end', async (t) => {
  const { server, client } = await open(t)
  const browser = new PlainBrowser(server)
  await signInAndAllow(browser, authorizeUrl(client))
  const [started] = sessions(server)
  server.clock.advance(4 * 60_000)
  await browser.get(authorizeUrl(client))
  server.clock.advance(60_000)
  const now = server.clock.now()
  await browser.get(authorizeUrl(client))
  assert.equal(sessions(server)[0]?.seenAt, started?.seenAt)
  const reopened = await server.reopen()
  assert.ok((sessions(reopened)[0]?.seenAt ?? 0) >= now)
})

async function open(
  t: Parameters<typeof openTestServer>[0],
): Promise<{ server: TestServer; client: RegisteredClient }> {
  const server = await openTestServer(t, { listen: true })
  await createAda(server)
  return { server, client: await registerClient(server) }
}

async function signIn(
  browser: PlainBrowser,
  client: RegisteredClient,
  email: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<LightMyRequestResponse> {
  const page = await browser.get(locationOf(await browser.get(authorizeUrl(client, { prompt: 'login' }))))
  const answer = await browser.post('/v2/oauth/sign-in', { ...hiddenFields(page), email, password: PASSWORD }, headers)
  assert.equal(answer.statusCode, 303, answer.body)
  return answer
}

/** Oldest first. */
function sessions(server: TestServer): readonly SessionRecord[] {
  return selectAll(server, 'select * from sessions order by session_id').map((row) => SESSIONS.read(row as never))
}
