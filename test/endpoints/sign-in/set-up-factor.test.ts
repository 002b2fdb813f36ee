import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decodeJwt } from 'jose'
import type { Response } from 'light-my-request'
import { coversAll } from '../../../src/endpoints/sign-in/changing-session.ts'
import { identityKey } from '../../../src/protocol/sign-in/provider-identity.ts'
import { EMAIL, hiddenFields, locationOf, PASSWORD, PlainBrowser } from '../../../tools/flow.ts'
import { addApp } from '../../../tools/sign-in/app.ts'
import { openAuthenticator } from '../../../tools/sign-in/authenticator.ts'
import { madeFields, passkeyFormOf } from '../../../tools/sign-in/passkeys.ts'
import { openProviderHost } from '../../support/provider/provider-host.ts'
import { anIdentity } from '../../support/provider/provider-records.ts'
import { addProvider, freshClaims, signInAt } from '../../support/provider/providers.ts'
import { SESSION_COOKIE } from '../../support/session-cookie.ts'
import { appOfPage, submitTo } from '../../support/sign-in/apps.ts'
import { selectAll } from '../../support/store/dump.ts'
import { perform } from '../../support/tasks.ts'
import { answerOf, signIn } from '../openid/login.ts'
import { addPasskey, allow, openWalk, pageOf, urlOf, type Walk } from './step-up-walk.ts'
import { pageSays } from '../../texts/page-texts.ts'

/** A user whose account has no second factor sets one up in a request that needs it (threats.md ACR-08). */

const OLD_MS = 400_000
const LINK = /href="([^"]*\/step-up\/set-up\?[^"]*)">Set it up now</

/** The page to which "Set it up now" of the consent page leads. */
async function setUpPage({ browser }: Walk, consent: Response): Promise<Response> {
  return browser.get(LINK.exec(consent.body)?.[1]?.replaceAll('&amp;', '&') ?? '')
}

async function byApp({ server, browser }: Walk, page: Response): Promise<Response> {
  const codes = await submitTo(browser, page, '/sign-in/app', { code: appOfPage(server, page).code() })
  assert.match(codes.body, /<h1>Recovery codes<\/h1>/)
  return browser.submit(codes, {})
}

async function byPasskey({ browser }: Walk, page: Response): Promise<Response> {
  return browser.post(passkeyFormOf(page).action, madeFields(page, openAuthenticator()))
}

function factorsOf({ server }: Walk): readonly unknown[] {
  return ['second_factors', 'passkeys'].map((name) => selectAll(server, `select * from ${name}`).length)
}

for (const [name, setUp, acr, stored] of [
  ['an app', byApp, 'urn:grantor:acr:2fa', [1, 0]],
  ['a passkey', byPasskey, 'phr', [0, 1]],
] as const) {
  test(`ACR-08: ${name} is set up from the consent page, and the same request goes on with the scope`, async (t) => {
    const walk = await openWalk(t)
    const page = await setUpPage(walk, await pageOf(walk))
    assert.match(page.body, /Step 1 of 2 · then back to [^]*Board[^]*It is needed for<[^]*Pay[^]*Continue without/)
    const answer = await setUp(walk, page)
    assert.match(locationOf(answer), /\/consent\?/)
    assert.deepEqual(factorsOf(walk), stored)
    assert.partialDeepStrictEqual(decodeJwt((await allow(walk, answer)).access_token), { scope: 'read pay', acr })
    assert.equal(selectAll(walk.server, 'select * from sessions').length, 1)
  })
}

test('ACR-08: after some minutes the user signs in again first, by password or at a provider, and then comes to the page', async (t) => {
  const walk = await openWalk(t)
  const { server, browser } = walk
  const host = await openProviderHost(t)
  await addProvider(server, host, { signUp: 'anybody' })
  server.clock.advance(OLD_MS)
  const consent = await pageOf(walk)
  const answer = await setUpPage(walk, consent)
  assert.match(locationOf(answer), /\/sign-in\?authorization=[^&]*&adds_factor=1$/)
  const signInPage = await browser.get(locationOf(answer))
  assert.match(signInPage.body, pageSays('signInAgain'))
  const wrong = await browser.submit(signInPage, { email: EMAIL, password: 'wrong' })
  const confirmed = await browser.submit(wrong, { email: EMAIL, password: PASSWORD })
  assert.match(locationOf(confirmed), /\/step-up\/set-up\?/)
  const page = await browser.get(locationOf(confirmed))
  assert.match(locationOf(await byApp(walk, page)), /\/consent\?/)

  const other = { ...walk, browser: new PlainBrowser(server) }
  const start = await other.browser.get(locationOf(await other.browser.get(urlOf(other))))
  const claims = () => ({ ...freshClaims(server), sub: 'BEA', email: 'bea@acme.test' })
  const begun = await signInAt({ browser: other.browser, page: start, host }, claims(), {}, 'idp')
  server.clock.advance(OLD_MS)
  const again = await setUpPage(other, await other.browser.get(locationOf(begun)))
  const asked = await other.browser.get(locationOf(again))
  const stale = { ...claims(), auth_time: Math.floor(server.clock.now() / 1000) - 300 }
  const refused = await signInAt({ browser: other.browser, page: asked, host }, stale, {}, 'idp')
  assert.equal(refused.statusCode, 403, 'a session at the provider is no new sign-in')
  const led = await signInAt({ browser: other.browser, page: asked, host }, claims(), {}, 'idp')
  assert.match(locationOf(led), /\/step-up\/set-up\?/)
  const added = await byPasskey(other, await other.browser.get(locationOf(led)))
  assert.match(locationOf(added), /\/consent\?/)
})

test('ACR-08: a page that stays open for some minutes stores nothing, and the user signs in again, and comes back to it', async (t) => {
  const walk = await openWalk(t)
  const { server, browser } = walk
  const page = await setUpPage(walk, await pageOf(walk))
  server.clock.advance(OLD_MS)
  const key = await browser.post(passkeyFormOf(page).action, madeFields(page, openAuthenticator()))
  assert.equal(key.statusCode, 403)
  const late = await submitTo(browser, page, '/sign-in/app', { code: appOfPage(server, page).code() })
  assert.equal(late.statusCode, 403)
  assert.deepEqual(factorsOf(walk), [0, 0])
  const led = await browser.submit(late, { email: EMAIL, password: PASSWORD })
  assert.match(locationOf(led), /\/step-up\/set-up\?/)
  assert.match(locationOf(await byApp(walk, await browser.get(locationOf(led)))), /\/consent\?/)
  // The codes may be read for longer than that.
  const other = await openWalk(t)
  const opened = await setUpPage(other, await pageOf(other))
  const codes = await submitTo(other.browser, opened, '/sign-in/app', {
    code: appOfPage(other.server, opened).code(),
  })
  other.server.clock.advance(OLD_MS)
  assert.match(locationOf(await other.browser.submit(codes, {})), /\/consent\?/)
})

test('ACR-06, ACR-08: where a provider is required for the address, an app is set up and no passkey, beside which the session would add an app', async (t) => {
  const walk = await openWalk(t)
  const { server } = walk
  const form = await setUpPage(walk, await pageOf(walk))
  const host = await openProviderHost(t)
  await addProvider(server, host, { signUp: 'anybody', domains: ['acme.test'], routing: 'required' })
  server.clock.advance(1001)
  const own = { ...walk, browser: new PlainBrowser(server) }
  const start = await own.browser.get(locationOf(await own.browser.get(urlOf(own))))
  const claims = { ...freshClaims(server), sub: 'BEA', email: 'bea@acme.test' }
  const begun = await signInAt({ browser: own.browser, page: start, host }, claims)
  const page = await setUpPage(own, await own.browser.get(locationOf(begun)))
  assert.doesNotMatch(page.body, /data-passkey="/)
  const fields = { ...madeFields(form, openAuthenticator()), ...hiddenFields(page) }
  await own.browser.post('/v2/oauth/sign-in/new-passkey', fields)
  assert.deepEqual(factorsOf(walk), [0, 0])
  assert.match(locationOf(await byApp(own, page)), /\/consent\?/)
  const silent = answerOf(await own.browser.get(urlOf(own, { scope: 'openid', acr_values: 'phr', prompt: 'none' })))
  assert.notEqual(silent.get('error'), null)
})

test('ACR-08: without the scope nothing would be left, so the page comes at once; "Cancel" tells the client', async (t) => {
  const walk = await openWalk(t)
  const { browser } = walk
  const location = locationOf(await browser.get(urlOf(walk, { scope: 'pay' })))
  assert.match(location, /\/step-up\/set-up\?/)
  const page = await browser.get(location)
  const ended = locationOf(await submitTo(browser, page, '/step-up', {}))
  assert.equal(new URL(ended).searchParams.get('error'), 'unmet_authentication_requirements')
  const again = await browser.get(locationOf(await browser.get(urlOf(walk, { scope: 'pay' }))))
  assert.match(locationOf(await byApp(walk, again)), /\/consent\?/)
})

test('ACR-08: the user continues without, and the consent page says what is left out', async (t) => {
  const walk = await openWalk(t)
  const page = await setUpPage(walk, await pageOf(walk))
  const consent = await submitTo(walk.browser, page, '/step-up', {})
  assert.match(consent.body, /Pay[^]*Needs a second step, which you left out/)
  assert.doesNotMatch(consent.body, LINK)
  assert.deepEqual(factorsOf(walk), [0, 0])
})

/** What an account has in principle, so that its user confirms with that instead, or has to wait until it works again. */
const HELD: Readonly<Record<string, (walk: Walk) => Promise<unknown>>> = {
  'an app': ({ server }) => addApp(server),
  'a passkey': addPasskey,
  async 'an account at a provider with two factors that is disabled now'({ server, userId }) {
    const issuer = 'https://idp.example'
    const { id: providerId } = await addProvider(server, { issuer }, { multiFactor: true })
    const { context } = server
    const [session] = await context.store.listSessions({ userId, before: undefined, limit: 1 })
    assert(session)
    const identity = anIdentity({
      key: identityKey({ id: providerId, issuer }, EMAIL),
      userId,
      providerId,
      subject: EMAIL,
    })
    const reason = { kind: 'session', session: coversAll(session) } as const
    assert.equal(await context.store.linkIdentity({ identity, reason, now: server.clock.now(), mails: [] }), 'linked')
    await perform(context, 'provider.disable', { provider_id: providerId })
    server.clock.advance(1001)
  },
}

for (const [held, add] of Object.entries(HELD)) {
  test(`ACR-04, ACR-08: an account with ${held} sets up none, by a page of before or by its address`, async (t) => {
    const walk = await openWalk(t)
    const { server, browser } = walk
    const consent = await pageOf(walk)
    const page = await setUpPage(walk, consent)
    await add(walk)
    const before = factorsOf(walk)
    assert.match(locationOf(await setUpPage(walk, consent)), held.includes('disabled') ? /\/consent\?/ : /\/step-up\?/)
    assert.doesNotMatch((await pageOf(walk)).body, LINK)
    const late = await submitTo(browser, page, '/sign-in/app', { code: appOfPage(server, page).code() })
    assert.notEqual(late.statusCode, 303)
    const key = await browser.post(passkeyFormOf(page).action, madeFields(page, openAuthenticator()))
    assert.notEqual(key.statusCode, 303)
    assert.deepEqual(factorsOf(walk), before)
  })
}

test('ACR-08: the page works in its browser, session and request alone, and once', async (t) => {
  const walk = await openWalk(t)
  const { server, browser } = walk
  const page = await setUpPage(walk, await pageOf(walk))
  const code = () => ({ code: appOfPage(server, page).code() })
  assert.equal((await submitTo(new PlainBrowser(server), page, '/sign-in/app', code())).statusCode, 403)
  const withoutSession = new PlainBrowser(server)
  for (const [cookie, value] of browser.cookies)
    if (cookie !== SESSION_COOKIE) withoutSession.cookies.set(cookie, value)
  assert.equal((await submitTo(withoutSession, page, '/sign-in/app', code())).statusCode, 403)
  const other = await setUpPage(walk, await pageOf(walk))
  const mixed = { ...code(), waiting: hiddenFields(page)['waiting'] ?? '' }
  assert.equal((await submitTo(browser, other, '/sign-in/app', mixed)).statusCode, 403)
  assert.deepEqual(factorsOf(walk), [0, 0])
  // Another sign-in replaces the session of the page.
  await signIn(browser, await browser.get(locationOf(await browser.get(urlOf(walk, { prompt: 'login' })))))
  assert.equal((await submitTo(browser, page, '/sign-in/app', code())).statusCode, 403)
  assert.deepEqual(factorsOf(walk), [0, 0])
  server.clock.advance(11 * 60_000)
  assert.equal((await submitTo(browser, other, '/sign-in/app', code())).statusCode, 400, 'the request has expired')
})

/** What the operator or the user does while the page is open (decision 0052). */
const MEANWHILE: Readonly<Record<string, (walk: Walk) => Promise<unknown>>> = {
  'the user is disabled': ({ server: { clock, context }, userId: id }) =>
    context.store.disableUser({ id, now: clock.now() }),
  'the tokens are revoked': ({ server: { clock, context }, userId: id }) =>
    context.store.revokeUserTokens({ id, now: clock.now() }),
  'the password is another': ({ server: { clock, context }, userId: id }) =>
    context.store.setPassword({ id, passwordHash: 'another', now: clock.now(), mails: [] }),
  'the address requires a provider': ({ server, client: { client_id: id } }) =>
    addProvider(
      server,
      { issuer: `https://${id}.example` },
      { domains: [EMAIL.replace(/.*@/, '')], routing: 'required' },
    ),
}

for (const [fact, change] of Object.entries(MEANWHILE)) {
  test(`ACR-08: the page stores nothing once ${fact}`, async (t) => {
    const walk = await openWalk(t)
    const { server, browser } = walk
    const page = await setUpPage(walk, await pageOf(walk))
    server.clock.advance(1)
    await change(walk)
    server.clock.advance(1001)
    await submitTo(browser, page, '/sign-in/app', { code: appOfPage(server, page).code() })
    await browser.post(passkeyFormOf(page).action, madeFields(page, openAuthenticator()))
    assert.deepEqual(factorsOf(walk), [0, 0])
  })
}
