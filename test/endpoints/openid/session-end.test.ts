import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import {
  authorizeUrl,
  locationOf,
  PASSWORD,
  PlainBrowser,
  redeem,
  refresh,
  type RegisteredClient,
} from '../../../tools/flow.ts'
import { signOut } from '../../../tools/sign-out.ts'
import { createAccount } from '../../support/accounts.ts'
import { WHOLE_FILE } from '../../support/authorize-answers.ts'
import { assertStoreUnchanged } from '../../support/store/dump.ts'
import { openOwner } from '../account/owner.ts'
import { answerOf, idTokenOf, login, makeClient, openLogin, type LoginTokens } from './login.ts'

/** What ends with a session of a user. OpenID Connect Back-Channel Logout 1.0 §2.7. */

const BOB = 'bob@acme.test'
const server = await openLogin(WHOLE_FILE)
let [board, wiki]: readonly RegisteredClient[] = []

before(async () => {
  await createAccount(server, { email: BOB, password: PASSWORD, name: 'Bob' })
  ;[board, wiki] = [await makeClient(server), await makeClient(server, {}, { client_name: 'Wiki' })]
})

test('LO-13: a sign-out ends the logins of this browser, and neither offline_access, other grants nor other browsers', async () => {
  const browser = new PlainBrowser(server)
  const [first, second] = [await loginTo(board, browser), await loginTo(wiki, browser)]
  const offline = await loginTo(wiki, browser, { scope: 'openid offline_access' })
  const plain = await loginTo(wiki, browser, { scope: '' })
  const elsewhere = await loginTo(board, new PlainBrowser(server))
  await signOut(browser)
  for (const [client, tokens, expected] of [
    [board, first, 400],
    [wiki, second, 400],
    [wiki, offline, 200],
    [wiki, plain, 200],
    [board, elsewhere, 200],
  ] as const)
    assert.equal(await statusOfRefresh(client, tokens), expected)
})

test('LO-13: the account page ends the logins of another browser, or of all others', async () => {
  const owner = openOwner(server)
  const kept = await loginTo(board, owner.browser)
  for (const field of ['session', 'others']) {
    // The page has the newest session first.
    server.clock.advance(1000)
    const lost = await loginTo(wiki, new PlainBrowser(server))
    await owner.submit(await owner.open('/account/sessions'), field)
    assert.equal(await statusOfRefresh(wiki, lost), 400)
  }
  assert.equal(await statusOfRefresh(board, kept), 200)
})

test('LO-15: the user who signs in again keeps the sid and the logins of all clients', async () => {
  const browser = new PlainBrowser(server)
  const [first, other] = [await loginTo(board, browser), await loginTo(wiki, browser)]
  server.clock.advance(2000)
  const again = await loginTo(board, browser, { prompt: 'login consent' })
  const [earlier, later] = [idTokenOf(first), idTokenOf(again)]
  assert.equal(later['sid'], earlier['sid'])
  assert.ok(Number(later['auth_time']) > Number(earlier['auth_time']))
  assert.deepEqual([await statusOfRefresh(board, first), await statusOfRefresh(wiki, other)], [200, 200])
  await signOut(browser)
  assert.equal(await statusOfRefresh(board, again), 400)
})

test('LO-16: another user who signs in in the browser ends the logins of the first one', async () => {
  const browser = new PlainBrowser(server)
  const tokens = await loginTo(board, browser)
  const page = await browser.get(
    locationOf(await browser.get(authorizeUrl(use(board), { scope: 'openid', prompt: 'login' }))),
  )
  await browser.submit(page, { email: BOB, password: PASSWORD })
  assert.equal(await statusOfRefresh(board, tokens), 400)
})

test('LO-16: a session that expires ends no login', async () => {
  const browser = new PlainBrowser(server)
  const tokens = await loginTo(board, browser)
  server.clock.advance(server.context.settings.lifetimes.session * 1000 + 1000)
  assert.equal((await browser.get('/account')).statusCode, 303)
  assert.equal(await statusOfRefresh(board, tokens), 200)
})

test('LO-17: a code that was issued before the sign-out cannot be redeemed after it', async () => {
  const browser = new PlainBrowser(server)
  await loginTo(board, browser)
  const request = authorizeUrl(use(board), { scope: 'openid', prompt: 'none' })
  const code = answerOf(await browser.get(request)).get('code') ?? ''
  await signOut(browser)
  const answer = await assertStoreUnchanged(server, () => redeem(server, use(board), code))
  assert.deepEqual([answer.statusCode, answer.json<{ error: string }>().error], [400, 'invalid_grant'])
})

function use(client: RegisteredClient | undefined): RegisteredClient {
  assert.ok(client)
  return client
}

function loginTo(
  client: RegisteredClient | undefined,
  browser: PlainBrowser,
  parameters: Readonly<Record<string, string>> = {},
): Promise<LoginTokens> {
  return login(server, use(client), { prompt: 'consent', ...parameters }, browser)
}

async function statusOfRefresh(client: RegisteredClient | undefined, { refresh_token: token = '' }: LoginTokens) {
  return (await refresh(server, use(client), token)).statusCode
}
