import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  authorizeUrl,
  EMAIL,
  locationOf,
  obtainTokens,
  PlainBrowser,
  refresh,
  registerClient,
  signInAndAllow,
} from '../../../tools/flow.ts'
import { createAda } from '../../support/accounts.ts'
import { openTestServer } from '../../support/server.ts'
import { hasSession, SESSION_COOKIE } from '../../support/session-cookie.ts'
import { assertStoreUnchanged, selectAll } from '../../support/store/dump.ts'
import { assertLocalPage, WHOLE_FILE } from '../../support/authorize-answers.ts'

const PATH = '/v2/oauth/sign-out'
const server = await openTestServer(WHOLE_FILE)
await createAda(server)
const client = await registerClient(server)

test('UI-15: a GET does not sign the user out; the page asks for confirmation', async () => {
  const browser = await signedIn()
  const page = await assertStoreUnchanged(server, () => browser.get(PATH))
  assert.equal(page.statusCode, 200)
  assert.ok(page.body.includes(EMAIL))
  assert.ok(hasSession(browser))
})

test('signing out removes the cookie and ends the session in the store', async () => {
  const browser = await signedIn()
  const cookie = browser.cookies.get(SESSION_COOKIE) ?? ''
  const page = await browser.submit(await browser.get(PATH), {})
  assert.equal(page.statusCode, 200)
  assert.ok(!hasSession(browser))
  assert.deepEqual(selectAll(server, 'select * from sessions where session_id = ?', cookie.slice(4, 38)), [])
  browser.cookies.set(SESSION_COOKIE, cookie)
  assert.match(locationOf(await browser.get(authorizeUrl(client))), /\/sign-in\?/)
})

test('UI-15: a form from another site, without its token or with another session’s is rejected', async () => {
  const browser = await signedIn()
  const stranger = await signedIn()
  const csrf = /name="csrf" value="([^"]*)"/.exec((await stranger.get(PATH)).body)?.[1] ?? ''
  assert.notEqual(csrf, '')
  const page = await browser.get(PATH)
  for (const token of ['', 'x', csrf])
    assertLocalPage(await assertStoreUnchanged(server, () => browser.submit(page, { csrf: token })), 403)
  const own = /name="csrf" value="([^"]*)"/.exec(page.body)?.[1] ?? ''
  const cross = () => browser.post(PATH, { csrf: own }, { 'sec-fetch-site': 'cross-site' })
  assertLocalPage(await assertStoreUnchanged(server, cross), 403)
  assert.ok(hasSession(browser))
})

test('signing out without a session is not an error, and removes an expired cookie', async () => {
  const browser = new PlainBrowser(server)
  browser.cookies.set(SESSION_COOKIE, 'ended')
  const page = await assertStoreUnchanged(server, async () => browser.submit(await browser.get(PATH), {}))
  assert.equal(page.statusCode, 200)
  assert.ok(!hasSession(browser))
})

test('signing out does not affect the grants of clients', async () => {
  const other = await registerClient(server)
  const { refresh_token: token = '' } = await obtainTokens(server, other)
  const browser = await signedIn()
  await browser.submit(await browser.get(PATH), {})
  assert.equal((await refresh(server, other, token)).statusCode, 200)
})

async function signedIn(): Promise<PlainBrowser> {
  const browser = new PlainBrowser(server)
  await signInAndAllow(browser, authorizeUrl(client, { prompt: 'consent' }))
  return browser
}
