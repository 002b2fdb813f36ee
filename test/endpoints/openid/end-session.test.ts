import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import {
  authorizeUrl,
  EMAIL,
  hiddenFields,
  locationOf,
  PlainBrowser,
  postForm,
  registerClient,
  type RegisteredClient,
} from '../../../tools/flow.ts'
import { answerOf, login, makeClient, openLogin } from './login.ts'
import { forgetRule, evaluateDomain } from '../../support/domains.ts'
import { assertLocalPage, WHOLE_FILE } from '../../support/authorize-answers.ts'
import { hasSession } from '../../support/session-cookie.ts'
import { assertStoreUnchanged } from '../../support/store/dump.ts'
import { perform } from '../../support/tasks.ts'

/** OpenID Connect RP-Initiated Logout 1.0. The modules of the Foundation's conformance suite have their names in the titles. */

const PATH = '/v2/oauth/end-session'
const OUT = 'https://app.example/signed-out'
const server = await openLogin(WHOLE_FILE)
let client: RegisteredClient

before(async () => {
  client = await makeClient(server, {}, { post_logout_redirect_uris: [OUT, `${OUT}?a=1`, 'http://127.0.0.1/out'] })
})

test('LO-01: oidcc-rp-initiated-logout: with an ID token of the session the sign-out is immediate, and returns the state', async () => {
  const { browser, hint } = await signedIn()
  const parameters = { id_token_hint: hint, post_logout_redirect_uri: OUT, state: 'a b&c', client_id: client.client_id }
  assert.equal(locationOf(await leave(browser, parameters)), `${OUT}?state=a%20b%26c`)
  const again = answerOf(await browser.get(authorizeUrl(client, { scope: 'openid', prompt: 'none' })))
  assert.equal(again.get('error'), 'login_required')
})

test('LO-01: oidcc-rp-initiated-logout-no-state, -no-post-logout-redirect-uri: without them the sign-out succeeds', async () => {
  const first = await signedIn()
  assert.equal(
    locationOf(await leave(first.browser, { id_token_hint: first.hint, post_logout_redirect_uri: OUT })),
    OUT,
  )
  const second = await signedIn()
  const page = await leave(second.browser, { id_token_hint: second.hint, state: 'x' })
  assert.match(page.body, /You are signed out/)
  assert.ok(!hasSession(second.browser))
})

test('LO-01: a query of the registered URI stays, and a loopback URI may have any port', async () => {
  for (const [uri, expected] of [
    [`${OUT}?a=1`, `${OUT}?a=1&state=s`],
    ['http://127.0.0.1:43110/out', 'http://127.0.0.1:43110/out?state=s'],
  ] as const) {
    const { browser, hint } = await signedIn()
    const answer = await leave(browser, { id_token_hint: hint, post_logout_redirect_uri: uri, state: 's' })
    assert.equal(locationOf(answer), expected)
  }
})

test('LO-01: the ID token may have expired, and a later sign-in in the same browser continues the session', async () => {
  const { browser, hint } = await signedIn()
  server.clock.advance(2 * 3600 * 1000)
  await login(server, client, { prompt: 'login consent' }, browser)
  assert.equal(locationOf(await leave(browser, { id_token_hint: hint, post_logout_redirect_uri: OUT })), OUT)
  assert.ok(!hasSession(browser))
})

test('LO-02: a browser without a session returns at once', async () => {
  const { hint } = await signedIn()
  const answer = await assertStoreUnchanged(server, () =>
    leave(new PlainBrowser(server), { id_token_hint: hint, post_logout_redirect_uri: OUT, state: 's' }),
  )
  assert.equal(locationOf(answer), `${OUT}?state=s`)
})

test('LO-03: with an ID token of another session the user is asked, and returns after the confirmation', async () => {
  const other = await signedIn()
  const { browser } = await signedIn()
  const parameters = { id_token_hint: other.hint, post_logout_redirect_uri: OUT, state: 's' }
  const page = await assertStoreUnchanged(server, () => leave(browser, parameters))
  assert.ok(page.body.includes(EMAIL) && hasSession(browser))
  assert.match(String(page.headers['content-security-policy']), /form-action 'self' https:\/\/app\.example;/)
  assert.equal(locationOf(await browser.submit(page, {})), `${OUT}?state=s`)
  assert.ok(!hasSession(browser))
})

test('LO-04: oidcc-rp-initiated-logout-no-id-token-hint, -bad-id-token-hint: the user is asked, and is not redirected', async () => {
  const { hint } = await signedIn()
  const [header = '', claims = ''] = hint.split('.')
  const none = Buffer.from(JSON.stringify({ alg: 'none', typ: 'JWT' })).toString('base64url')
  const { access_token: accessToken } = await login(server, client, { prompt: 'consent' })
  const hints = ['', `${header}.${claims}.AAAA`, `${none}.${claims}.`, accessToken, 'x', `${hint}x`]
  for (const id_token_hint of hints) {
    const { browser } = await signedIn()
    const parameters = { id_token_hint, post_logout_redirect_uri: OUT, client_id: client.client_id, state: 's' }
    const page = await assertStoreUnchanged(server, () => leave(browser, parameters))
    assert.ok(page.statusCode === 200 && hasSession(browser), id_token_hint)
    const answer = await browser.submit(page, {})
    assert.match(answer.body, /You are signed out[^]*href="https:\/\/app\.example\/signed-out\?state=s"/)
    assert.ok(!hasSession(browser))
  }
})

test('LO-04: without a client there is no link', async () => {
  const { browser } = await signedIn()
  const page = await leave(browser, { post_logout_redirect_uri: OUT })
  assert.doesNotMatch((await browser.submit(page, {})).body, /href="https:\/\/app/)
})

test('LO-05: oidcc-rp-initiated-logout-bad-post-logout-redirect-uri, -query-added: the user is asked, and there is no link', async () => {
  const uris = [`${OUT}?b=1`, `${OUT}/`, 'https://app.example/callback', 'https://evil.example/', 'javascript:alert(1)']
  for (const uri of uris) {
    const { browser, hint } = await signedIn()
    const page = await assertStoreUnchanged(server, () =>
      leave(browser, { id_token_hint: hint, post_logout_redirect_uri: uri }),
    )
    assert.equal(page.statusCode, 200)
    assert.ok(hasSession(browser), uri)
    const { statusCode, body } = await browser.submit(page, {})
    assert.equal(statusCode, 200)
    assert.doesNotMatch(body, /href="(?:https:\/\/(?:app|evil)|javascript)/)
  }
})

test('LO-06: a repeated parameter, a long state, or an ID token of another client than client_id: an error page', async () => {
  const { browser, hint } = await signedIn()
  const { client_id: another } = await makeClient(server)
  for (const query of [
    `id_token_hint=${hint}&id_token_hint=${hint}`,
    `id_token_hint=${hint}&post_logout_redirect_uri=${OUT}&post_logout_redirect_uri=${OUT}`,
    `id_token_hint=${hint}&client_id=${another}`,
    `id_token_hint=${hint}&state=${'x'.repeat(4097)}`,
  ])
    assertLocalPage(await assertStoreUnchanged(server, () => browser.get(`${PATH}?${query}`)), 400)
  assert.ok(hasSession(browser))
})

test('LO-06: an ID token of a client that is disabled is no hint', async () => {
  const gone = await makeClient(server, {}, { post_logout_redirect_uris: [OUT] })
  const browser = new PlainBrowser(server)
  const { id_token: hint = '' } = await login(server, gone, {}, browser)
  await perform(server.context, 'client.disable', { client_id: gone.client_id })
  const page = await leave(browser, { id_token_hint: hint, post_logout_redirect_uri: OUT })
  assert.ok(page.statusCode === 200 && hasSession(browser))
})

test('LO-07: an unverified client gets no redirect from a browser that has no session of it, but a link', async () => {
  const stranger = await registerClient(server, { post_logout_redirect_uris: ['https://stranger.example/out'] })
  const parameters = { post_logout_redirect_uri: 'https://stranger.example/out', state: 's' }
  const own = new PlainBrowser(server)
  const { id_token: hint = '' } = await login(server, stranger, {}, own)
  const page = await leave(new PlainBrowser(server), { ...parameters, id_token_hint: hint })
  assert.equal(page.statusCode, 200)
  assert.match(page.body, /href="https:\/\/stranger\.example\/out\?state=s"/)
  assert.equal(
    locationOf(await leave(own, { ...parameters, id_token_hint: hint })),
    'https://stranger.example/out?state=s',
  )
})

test('LO-07: a trusted domain of the redirect URI does not make the host known to which the browser goes after the logout', async () => {
  await evaluateDomain(server, 'app.example', 'trusted')
  for (const [out, expected] of [
    ['https://stranger.example/out', undefined],
    ['http://127.0.0.1/out', undefined],
    ['https://app.example/out', 'https://app.example/out'],
  ] as const) {
    const half = await registerClient(server, { post_logout_redirect_uris: [out] })
    const { id_token: hint = '' } = await login(server, half)
    const answer = await leave(new PlainBrowser(server), { id_token_hint: hint, post_logout_redirect_uri: out })
    assert.equal(answer.headers.location, expected, out)
  }
  await forgetRule(server, 'app.example')
})

test('LO-08: a POST becomes a GET, which has the cookies of the browser', async () => {
  const { browser, hint } = await signedIn()
  const answer = await postForm(server, PATH, { id_token_hint: hint, post_logout_redirect_uri: OUT })
  const { pathname, search } = new URL(locationOf(answer))
  assert.equal(pathname, PATH)
  assert.equal(locationOf(await browser.get(pathname + search)), OUT)
  assert.ok(!hasSession(browser))
})

test('LO-08: the page that asks repeats what decides, and its form is bound to the session', async () => {
  const { browser } = await signedIn()
  const page = await leave(browser, { client_id: client.client_id, post_logout_redirect_uri: OUT, logout_hint: EMAIL })
  const { csrf, ...rest } = hiddenFields(page)
  assert.deepEqual(rest, { client_id: client.client_id, post_logout_redirect_uri: OUT })
  assertLocalPage(await browser.submit(page, { csrf: `${csrf}x` }), 403)
})

test('LO-09: post_logout_redirect_uris are registered as redirect URIs are', async () => {
  const registered = await registerClient(server, { post_logout_redirect_uris: [OUT] })
  assert.deepEqual(registered['post_logout_redirect_uris'], [OUT])
  for (const uris of [['javascript:alert(1)'], ['http://app.example/out'], Array.from({ length: 11 }, () => OUT)]) {
    await assert.rejects(registerClient(server, { post_logout_redirect_uris: uris }), /invalid_client_metadata/)
  }
})

test('LO-09: a post_logout_redirect_uri of a blocked domain is neither registered nor used', async () => {
  const elsewhere = 'https://out.blocked.test/done'
  const other = await makeClient(server, {}, { post_logout_redirect_uris: [elsewhere] })
  const browser = new PlainBrowser(server)
  const { id_token: hint = '' } = await login(server, other, {}, browser)
  await evaluateDomain(server, 'out.blocked.test', 'blocked')
  await assert.rejects(registerClient(server, { post_logout_redirect_uris: [elsewhere] }), /post_logout_redirect_uris/)
  const answer = await leave(browser, { id_token_hint: hint, post_logout_redirect_uri: elsewhere })
  assert.notEqual(answer.headers.location, elsewhere)
  await forgetRule(server, 'out.blocked.test')
})

function leave(browser: PlainBrowser, parameters: Readonly<Record<string, string>>) {
  return browser.get(`${PATH}?${new URLSearchParams(parameters).toString()}`)
}

async function signedIn(): Promise<{ readonly browser: PlainBrowser; readonly hint: string }> {
  const browser = new PlainBrowser(server)
  const { id_token: hint = '' } = await login(server, client, { prompt: 'consent' }, browser)
  return { browser, hint }
}
