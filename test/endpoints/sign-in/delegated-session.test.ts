import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { UserId } from '../../../src/protocol/ids.ts'
import { authorizeUrl, EMAIL, locationOf, PASSWORD, PlainBrowser, redeem, registerClient } from '../../../tools/flow.ts'
import { createAda } from '../../support/accounts.ts'
import {
  APPLICATION_URL,
  interactionIn,
  leave,
  openApplication,
  redirectOf,
  startAtClient,
} from '../../support/application.ts'
import { assertErrorRedirect, assertLocalPage, WHOLE_FILE } from '../../support/authorize-answers.ts'
import { openTestServer } from '../../support/server.ts'
import { hasSession } from '../../support/session-cookie.ts'
import { assertStoreUnchanged, selectAll } from '../../support/store/dump.ts'
import { pageSays } from '../../texts/page-texts.ts'

const SIGN_OUT_URL = 'https://app.acme.test/signed-out'
const env = { GRANTOR_DELEGATE_URL: APPLICATION_URL, GRANTOR_DELEGATE_SIGN_OUT_URL: SIGN_OUT_URL }
const server = await openTestServer(WHOLE_FILE, { env })
const application = await openApplication(server)

test('loading the address again gives the same code; the browser has no session afterwards', async () => {
  const { browser, interaction } = await startAtClient(server)
  const address = await application.signIn(interaction)
  const [first, second] = await Promise.all([browser.get(address), browser.get(address)])
  assert.equal(locationOf(first), locationOf(second))
  server.clock.advance(30_000)
  assert.equal(locationOf(await browser.get(address)), locationOf(first))
  assert.equal((await browser.get('/account')).statusCode, 303)
})

test('ask leads to the consent page, once with the cookie of each load, and the person allows there', async () => {
  const { browser, interaction } = await startAtClient(server, { scope: 'read' }, { client_name: 'Claude' })
  const address = await application.signIn(interaction, { decision: 'ask' })
  const answers = await Promise.all([browser.get(address), browser.get(address)])
  const cookies = answers.map(({ cookies: set }) => set.map(({ value }) => value))
  assert.deepEqual(cookies[0], cookies[1])
  const page = await browser.get(locationOf(answers[0] ?? assert.fail()))
  assert.match(page.body, /Claude/)
  const allowed = await browser.submit(page, { decision: 'allow' })
  assert.ok(new URL(locationOf(allowed)).searchParams.has('code'))
})

test('max_age with a clock of the application that is a little slow: the consent page follows, and not the application again', async () => {
  const { browser, interaction } = await startAtClient(server, { max_age: '0' })
  const authenticated_at = new Date(server.clock.now() - 5_000).toISOString()
  const back = await browser.get(await application.signIn(interaction, { decision: 'ask', authenticated_at }))
  assert.equal((await browser.get(locationOf(back))).statusCode, 200)
})

test('a remembered sign-in ends when the person signs out here, and the address does not restore it', async () => {
  const { browser, interaction } = await startAtClient(server)
  const address = await application.signIn(interaction, { remember_seconds: 3600 })
  await browser.get(address)
  assert.equal((await browser.get('/account')).statusCode, 200)
  const page = await browser.get('/v2/oauth/sign-out')
  assert.match(String(page.headers['content-security-policy']), /form-action 'self' https:\/\/app\.acme\.test;/)
  const signedOut = await browser.submit(page, {})
  assert.equal(locationOf(signedOut), SIGN_OUT_URL)
  assertLocalPage(await assertStoreUnchanged(server, () => browser.get(address)), 409)
  assert.equal((await browser.get('/account')).statusCode, 303)
})

test('LO-01: after a logout by a client the browser goes to the application, with the address of the client', async () => {
  const metadata = { post_logout_redirect_uris: ['https://app.example/out'] }
  const { browser, client, interaction } = await startAtClient(server, { scope: 'openid' }, metadata)
  const answer = await browser.get(await application.signIn(interaction, { remember_seconds: 3600 }))
  const code = new URL(locationOf(answer)).searchParams.get('code') ?? ''
  const { id_token: hint } = (await redeem(server, client, code)).json<{ id_token: string }>()
  const query = `id_token_hint=${hint}&post_logout_redirect_uri=https://app.example/out&state=s`
  const left = new URL(locationOf(await browser.get(`/v2/oauth/end-session?${query}`)))
  assert.equal(left.origin + left.pathname, SIGN_OUT_URL)
  assert.equal(left.searchParams.get('return_to'), 'https://app.example/out?state=s')
  assert.equal((await browser.get('/account')).statusCode, 303)
})

test('a session without a page lasts for remember_seconds, and records how the person signed in', async () => {
  const { browser, interaction } = await startAtClient(server)
  const at = server.clock.now() - 7_000
  const answer = { remember_seconds: 900, authenticated_at: new Date(at).toISOString() }
  await browser.get(await application.signIn(interaction, answer))
  const [session] = selectAll(server, 'select * from sessions order by session_id desc limit 1')
  assert.deepEqual(
    [session?.['methods'], session?.['provider_id'], session?.['authenticated_at']],
    ['fed', 'delegate', at],
  )
  server.clock.advance(899_000)
  assert.equal((await browser.get('/account')).statusCode, 200)
  server.clock.advance(1_000)
  assert.equal((await browser.get('/account')).statusCode, 303)
})

test('a remembered session satisfies prompt=none only where the consent does: otherwise the client learns that it is missing', async () => {
  const { browser, interaction, client } = await startAtClient(server, { scope: 'read' })
  await browser.get(await application.signIn(interaction, { remember_seconds: 900 }))
  const answer = await browser.get(authorizeUrl(client, { scope: 'read', prompt: 'none' }))
  assert.match(answer.body, /error=consent_required/)
  const stranger = await new PlainBrowser(server).get(authorizeUrl(client, { prompt: 'none' }))
  assert.match(stranger.body, /error=login_required/)
})

test('with everything delegated, a remembered session cannot consent here: only an answer to this request can', async () => {
  const { browser, interaction } = await startAtClient(server)
  await browser.get(await application.signIn(interaction, { remember_seconds: 900 }))
  const second = await leave(browser, authorizeUrl(await registerClient(server)))
  const [pending] = selectAll(server, `select * from authorizations where status = 'pending' order by 1 desc limit 1`)
  const consent = `/v2/oauth/consent?authorization=${String(pending?.['authorization_id'])}`
  assert.match(locationOf(await browser.get(consent)), /\/sign-in\?/)
  const forged = await browser.post('/v2/oauth/consent', {
    authorization: String(pending?.['authorization_id']),
    csrf: 'x',
    decision: 'allow',
  })
  assertLocalPage(forged, 403)
  const back = await browser.get(await application.signIn(second, { decision: 'ask' }))
  assert.equal((await browser.get(locationOf(back))).statusCode, 200)
})

test('a page of this server leads to the application by a link, because its policy forbids a form', async () => {
  const { browser } = await startAtClient(server)
  const [pending] = selectAll(server, `select * from authorizations where status = 'pending' order by 1 desc limit 1`)
  const url = `/v2/oauth/sign-in?authorization=${String(pending?.['authorization_id'])}`
  const page = await server.inject({
    method: 'GET',
    url,
    headers: { cookie: browser.cookieHeader, 'sec-fetch-site': 'same-origin' },
  })
  assert.equal(page.statusCode, 200)
  const link = /<a class="button main" href="([^"]+)"/.exec(page.body)?.[1]?.replaceAll('&amp;', '&') ?? ''
  assert.ok(interactionIn(await browser.get(link)).startsWith('gin_'))
  assert.ok(!page.body.includes('type="password"'))
})

test('an account page is opened by the application, and what needs a fresh sign-in asks for one', async () => {
  const browser = new PlainBrowser(server)
  const interaction = await leave(browser, '/account/data')
  const shown = (await application.show(interaction)).json<Record<string, unknown>>()
  assert.deepEqual([shown['purpose'], shown['client'], shown['sign_in_after']], ['account', null, null])
  const back = await browser.get(await application.signIn(interaction))
  assert.equal(locationOf(back), `${server.origin}/account/data`)
  assert.equal((await browser.get('/account/data')).statusCode, 200)

  server.clock.advance(301_000)
  const download = async () => browser.submit(await browser.get('/account/data'), {})
  assert.match((await download()).body, pageSays('account.confirm'))
  const confirmation = await leave(browser, '/v2/oauth/sign-in?page=data')
  const after = (await application.show(confirmation)).json<{ sign_in_after: string }>().sign_in_after
  const old = { authenticated_at: new Date(Date.parse(after) - 60_000).toISOString() }
  assert.equal((await application.accept(confirmation, old)).statusCode, 409)
  await browser.get(await application.signIn(confirmation))
  assert.match(String((await download()).headers['content-disposition']), /^attachment/)
})

test('the download of the data has the identity at the application', async () => {
  const browser = new PlainBrowser(server)
  const interaction = await leave(browser, '/account/data')
  const now = new Date(server.clock.now()).toISOString()
  const person = { subject: 'u_data', email: 'data@acme.test', email_verified: true, authenticated_at: now }
  await browser.get(await application.signIn(interaction, person))
  const file = await browser.submit(await browser.get('/account/data'), {})
  const [identity] = file.json<{ identities: readonly Record<string, unknown>[] }>().identities
  assert.deepEqual(
    [identity?.['provider_id'], identity?.['subject'], identity?.['email']],
    ['delegate', 'u_data', person.email],
  )
})

test('a rejected account page gives the reason, and leads to the application again', async () => {
  const browser = new PlainBrowser(server)
  const interaction = await leave(browser, '/account')
  const page = await browser.get(redirectOf(await application.reject(interaction)))
  assert.equal(page.statusCode, 403)
  assert.match(page.body, pageSays('applicationRefused'))
})

test('a form for a password from before the sign-in was delegated signs no user in', async (t) => {
  const before = await openTestServer(t)
  await createAda(before)
  const browser = new PlainBrowser(before)
  const page = await browser.get(locationOf(await browser.get(authorizeUrl(await registerClient(before)))))
  await before.close()
  const { folder, clock } = before
  const own = await openTestServer(t, { folder, clock, env })
  const after = new PlainBrowser(own)
  for (const [name, value] of browser.cookies) after.cookies.set(name, value)
  const answer = await assertStoreUnchanged(own, () => after.submit(page, { email: EMAIL, password: PASSWORD }))
  assert.equal(answer.statusCode, 403)
  assert.match(answer.body, pageSays('methodOff'))
  assert.ok(!hasSession(after))
})

test('revoke-tokens ends what a person has, by the id of the application', async () => {
  const { browser, interaction } = await startAtClient(server)
  await browser.get(await application.signIn(interaction, { subject: 'u/with_slash', remember_seconds: 900 }))
  assert.equal((await browser.get('/account')).statusCode, 200)
  const revoke = (subject: string) =>
    server.injectAdmin({
      method: 'POST',
      url: `/admin/v1/subjects/${encodeURIComponent(subject)}/revoke-tokens`,
      headers: { authorization: `Bearer ${application.token}` },
    })
  assert.equal((await revoke('u/with_slash')).statusCode, 200)
  assert.equal((await browser.get('/account')).statusCode, 303)
  assert.equal((await revoke('nobody')).statusCode, 404)
})

test('DEL-12: an answer from before the tokens of the person, or all tokens, were revoked signs no user in', async (t) => {
  const own = await openTestServer(t, { env })
  const app = await openApplication(own)
  const { store } = own.context
  const ends = [
    async (subject: string) => {
      const [row] = selectAll(own, 'select user_id from identities where subject = ?', subject)
      await store.revokeUserTokens({ id: row?.['user_id'] as UserId, now: own.clock.now() })
    },
    () => store.revokeAllTokens({ now: own.clock.now() }),
  ]
  for (const [index, end] of ends.entries()) {
    const subject = `u_${index}`
    const { browser, interaction } = await startAtClient(own)
    const address = await app.signIn(interaction, { subject, remember_seconds: 900 })
    own.clock.advance(1_000)
    await end(subject)
    own.clock.advance(1_000)
    const page = await assertStoreUnchanged(own, () => browser.get(address), subject)
    assert.match(page.body, /This account cannot sign in here|This page has expired/)
    assert.ok(!hasSession(browser))
    const next = await startAtClient(own)
    const back = await next.browser.get(await app.signIn(next.interaction, { subject }))
    assert.ok(new URL(locationOf(back)).searchParams.has('code'), 'a later answer counts')
  }
})

test('with GRANTOR_DELEGATE=sign-in the application cannot consent, and the consent page of this server follows', async (t) => {
  const own = await openTestServer(t, { env: { ...env, GRANTOR_DELEGATE: 'sign-in' } })
  const app = await openApplication(own)
  const { browser, client, interaction } = await startAtClient(own)
  assert.equal((await app.accept(interaction)).statusCode, 422)
  const back = await browser.get(await app.signIn(interaction, { decision: 'ask', remember_seconds: 900 }))
  const allowed = await browser.submit(await browser.get(locationOf(back)), { decision: 'allow' })
  assert.ok(new URL(locationOf(allowed)).searchParams.has('code'))
  const again = await browser.get(authorizeUrl(client, { prompt: 'consent' }))
  assert.match(locationOf(again), /\/consent\?/, 'the session is enough for the consent page')
})

test('DEL-13: a session that is not remembered serves its request and those of other tabs, and no later one', async (t) => {
  const own = await openTestServer(t, { env: { ...env, GRANTOR_DELEGATE: 'sign-in' } })
  const app = await openApplication(own)
  const { browser, client, interaction } = await startAtClient(own, { scope: 'read' })
  const signIn = async (to: string): Promise<string> =>
    locationOf(await browser.get(await app.signIn(to, { decision: 'ask' })))
  const first = await browser.get(await signIn(interaction))
  own.clock.advance(1000)
  const second = await browser.get(await signIn(await leave(browser, authorizeUrl(client, { scope: 'read' }))))
  for (const page of [first, second]) {
    const allowed = await browser.submit(page, { decision: 'allow' })
    assert.ok(new URL(locationOf(allowed)).searchParams.has('code'))
  }
  own.clock.advance(1000)
  const silent = await browser.get(authorizeUrl(client, { scope: 'read', prompt: 'none' }))
  assert.match(locationOf(silent), /error=login_required/)
  const account = await leave(browser, '/account')
  assert.equal((await app.show(account)).json<Record<string, unknown>>()['sign_in_after'], null)
  await browser.get(await app.signIn(account, { decision: 'ask' }))
  assert.equal((await browser.get('/account/apps')).statusCode, 200)
  await leave(browser, authorizeUrl(client, { scope: 'read' }))
})

test('an earlier interaction is invalid once sign-in is no longer delegated', async (t) => {
  const own = await openTestServer(t, { env })
  const { browser, interaction } = await startAtClient(own)
  const address = await (await openApplication(own)).signIn(interaction)
  await own.close()
  const { folder, clock } = own
  const off = await openTestServer(t, { folder, clock })
  const after = new PlainBrowser(off)
  for (const [name, value] of browser.cookies) after.cookies.set(name, value)
  assertLocalPage(await assertStoreUnchanged(off, () => after.get(address)))
})

test('the client of a person who was denied gets an error, and the person stays signed in', async () => {
  const { browser, interaction } = await startAtClient(server)
  await browser.get(await application.signIn(interaction, { remember_seconds: 900 }))
  const second = await leave(browser, authorizeUrl(await registerClient(server)))
  assertErrorRedirect(server, await browser.get(redirectOf(await application.reject(second))), 'access_denied')
  assert.equal((await browser.get('/account')).statusCode, 200)
})

test('a user who is disabled between the answer and the return is refused', async () => {
  const { browser, interaction } = await startAtClient(server)
  const address = await application.signIn(interaction, { subject: 'u_disabled' })
  const [row] = selectAll(server, `select user_id from identities where subject = 'u_disabled'`)
  await server.context.store.disableUser({ id: row?.['user_id'] as UserId, now: server.clock.now() })
  const page = await assertStoreUnchanged(server, () => browser.get(address))
  assert.equal(page.statusCode, 403)
  assert.match(page.body, pageSays('accountRefused'))
})
