import assert from 'node:assert/strict'
import { test } from 'node:test'
import { locationOf, PASSWORD } from '../../../tools/flow.ts'
import { createAccount, createAda } from '../../support/accounts.ts'
import { openTestServer } from '../../support/server.ts'
import { assertStoreUnchanged, selectAll } from '../../support/store/dump.ts'
import { formsOf, openOwner } from './owner.ts'
import { pageSays } from '../../texts/page-texts.ts'

const FIREFOX = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0'

test('the page shows the browsers in which the user is signed in, and marks this one', async (t) => {
  const server = await openTestServer(t)
  await createAda(server)
  const agent = { ...server, inject: withAgent(server) }
  const [here, there] = [openOwner(agent), openOwner(server)]
  await there.open('/account')
  const page = await here.open('/account/sessions')
  assert.match(page.body, /Firefox on Linux<\/h2>[^]*?This browser/)
  assert.match(page.body, /Unknown browser/)
  assert.match(page.body, /with a password · from this computer/)
  // One form for the other browser, and one for all others.
  assert.equal(formsOf(page).length, 2)
})

test('a user ends one session or all others, and the session of this browser stays', async (t) => {
  const server = await openTestServer(t)
  await createAda(server)
  const owners = Array.from({ length: 4 }, () => openOwner(server))
  for (const owner of owners) await owner.open('/account')
  const [here, there, ...others] = owners
  assert.ok(here && there)
  const session = newestSessions(server)[2]
  const ended = await here.submit(await here.open('/account/sessions'), 'session', {}, session)
  assert.match(ended.body, pageSays('account.notices.session-ended'))
  assert.equal((await there.browser.get('/account')).statusCode, 303)
  for (const { browser } of others) assert.equal((await browser.get('/account')).statusCode, 200)
  const all = await here.submit(ended, 'others')
  assert.match(all.body, pageSays('account.notices.sessions-ended'))
  for (const { browser } of others) assert.equal((await browser.get('/account')).statusCode, 303)
  assert.equal((await here.browser.get('/account')).statusCode, 200)
  assert.equal(formsOf(all).length, 0)
  const events = selectAll(server, 'select events from audit_links').map((row) => String(row['events']))
  assert.equal(events.filter((text) => text.includes('"event":"session.ended"')).length, 2)
})

test('ACC-06: the session of another user, one that does not exist, and a malformed id get the same answer', async (t) => {
  const server = await openTestServer(t)
  await createAda(server)
  await createAccount(server, { email: 'eve@acme.test', password: PASSWORD, name: undefined })
  const [ada, eve] = [openOwner(server), openOwner(server, 'eve@acme.test')]
  await eve.open('/account')
  const [hers] = newestSessions(server)
  const [form] = formsOf(await ada.open('/account'))
  for (const session of [hers ?? '', `${'0'.repeat(12)}${'A'.repeat(22)}`, 'x', '']) {
    const post = () => ada.browser.post('/account/sessions', { ...form?.hidden, session })
    const answer = await assertStoreUnchanged(server, post)
    assert.equal(locationOf(answer), 'http://localhost:3000/account/sessions?done=session-ended')
  }
})

test('expired and revoked sessions are not shown', async (t) => {
  const server = await openTestServer(t, { env: { GRANTOR_SESSION_LIFETIME: '100' } })
  await createAda(server)
  await openOwner(server).open('/account')
  server.clock.advance(99_000)
  const owner = openOwner(server)
  assert.equal(formsOf(await owner.open('/account/sessions')).length, 2)
  server.clock.advance(1000)
  assert.equal(formsOf(await owner.open('/account/sessions')).length, 0)
})

/** Sends the header of a browser with every request. */
function withAgent(server: Awaited<ReturnType<typeof openTestServer>>): typeof server.inject {
  return (request) => server.inject({ ...request, headers: { ...request.headers, 'user-agent': FIREFOX } })
}

function newestSessions(server: Parameters<typeof selectAll>[0]): readonly string[] {
  return selectAll(server, 'select session_id from sessions order by session_id desc').map((row) =>
    String(row['session_id']),
  )
}
