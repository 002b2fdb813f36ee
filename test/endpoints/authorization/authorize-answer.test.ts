import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Response as LightMyRequestResponse } from 'light-my-request'
import { openSecrets } from '../../../src/protocol/secrets.ts'
import { randomBytes } from 'node:crypto'
import {
  authorizeUrl,
  EMAIL,
  locationOf,
  obtainCode,
  PASSWORD,
  PlainBrowser,
  redeem,
  registerClient,
  signInAndAllow,
} from '../../../tools/flow.ts'
import { createAda } from '../../support/accounts.ts'
import { openTestServer } from '../../support/server.ts'
import { SESSION_COOKIE } from '../../support/session-cookie.ts'
import { assertStoreUnchanged, selectAll } from '../../support/store/dump.ts'
import {
  assertErrorRedirect,
  assertLocalPage,
  assertReturnPage,
  consentedBrowser,
  isCodeAnswer,
  WHOLE_FILE,
} from '../../support/authorize-answers.ts'
import { perform } from '../../support/tasks.ts'

const server = await openTestServer(WHOLE_FILE)
await createAda(server)

/** Errors that any author of a link can cause. */
const PROVOKED: readonly (readonly [error: string, parameters: Readonly<Record<string, string>>])[] = [
  ['login_required', { prompt: 'none' }],
  ['unsupported_response_type', { response_type: 'token' }],
  ['invalid_request', { code_challenge: '' }],
  ['invalid_scope', { scope: '"' }],
  ['invalid_target', { resource: 'x' }],
  ['request_not_supported', { request: 'x' }],
]

test('AUTH-10: an error of an unverified client is a page with the host and a link, and no redirect', async () => {
  const client = await registerClient(server)
  for (const [error, parameters] of PROVOKED) {
    const page = await new PlainBrowser(server).get(authorizeUrl(client, parameters))
    const link = assertReturnPage(page, error)
    assert.deepEqual([...link.searchParams.keys()], ['error', 'error_description', 'state', 'iss'])
  }
})

test('AUTH-10: a session without a consent for this client gets the same page', async () => {
  const browser = await consentedBrowser(server, await registerClient(server))
  const client = await registerClient(server)
  assertReturnPage(await browser.get(authorizeUrl(client, { prompt: 'none' })), 'consent_required')
  for (const [error, parameters] of PROVOKED.slice(1))
    assertReturnPage(await browser.get(authorizeUrl(client, parameters)), error)
})

test('AUTH-10: a user who consented to the client earlier is redirected, other users are not', async () => {
  const client = await registerClient(server)
  const browser = await consentedBrowser(server, client)
  for (const [error, parameters] of PROVOKED.slice(1))
    assertErrorRedirect(server, await browser.get(authorizeUrl(client, parameters)), error)
  assertReturnPage(
    await new PlainBrowser(server).get(authorizeUrl(client, { response_type: 'x' })),
    'unsupported_response_type',
  )
})

test('AUTH-10: an error of a verified client is a redirect', async () => {
  const client = await registerClient(server)
  await perform(server.context, 'client.verify', { client_id: client.client_id })
  for (const [error, parameters] of PROVOKED)
    assertErrorRedirect(server, await new PlainBrowser(server).get(authorizeUrl(client, parameters)), error)
})

test('AUTH-10: GRANTOR_REDIRECT_ERRORS=true makes every error a redirect', async (t) => {
  const redirecting = await openTestServer(t, { env: { GRANTOR_REDIRECT_ERRORS: 'true' } })
  const client = await registerClient(redirecting)
  for (const [error, parameters] of PROVOKED)
    assertErrorRedirect(redirecting, await redirecting.inject({ url: authorizeUrl(client, parameters) }), error)
})

test('AUTH-10: the page for an app or loopback client names the destination and links to it', async () => {
  const client = await registerClient(server, {
    redirect_uris: ['http://127.0.0.1/cb', 'cursor://anysphere.cursor-mcp/oauth/callback'],
  })
  const get = (redirect_uri: string): Promise<LightMyRequestResponse> =>
    server.inject({ url: authorizeUrl(client, { redirect_uri, response_type: 'x' }) })
  assertReturnPage(await get('http://127.0.0.1:51004/cb'), 'unsupported_response_type', 'this computer')
  assertReturnPage(await get('cursor://anysphere.cursor-mcp/oauth/callback'), 'unsupported_response_type', 'cursor')
})

test('AUTH-16: prompt=none without a session is login_required, and starts nothing', async () => {
  const client = await registerClient(server)
  await perform(server.context, 'client.verify', { client_id: client.client_id })
  const url = authorizeUrl(client, { prompt: 'none' })
  const response = await assertStoreUnchanged(server, () => new PlainBrowser(server).get(url))
  assertErrorRedirect(server, response, 'login_required')
})

test('AUTH-16: prompt=none without a consent is consent_required, and starts nothing', async () => {
  const browser = await consentedBrowser(server, await registerClient(server))
  const client = await registerClient(server)
  await perform(server.context, 'client.verify', { client_id: client.client_id })
  const response = await assertStoreUnchanged(server, () => browser.get(authorizeUrl(client, { prompt: 'none' })))
  assertErrorRedirect(server, response, 'consent_required')
})

test('AUTH-16: prompt=none with a session and a consent gives a code that works once', async () => {
  const client = await registerClient(server)
  const browser = await consentedBrowser(server, client)
  const answer = await browser.get(authorizeUrl(client, { prompt: 'none' }))
  assert.ok(isCodeAnswer(answer), answer.body)
  const code = new URL(locationOf(answer)).searchParams.get('code') ?? ''
  assert.equal((await redeem(server, client, code)).statusCode, 200)
  assert.equal((await redeem(server, client, code)).json().error, 'invalid_grant')
})

test('AUTH-16: prompt=none never skips consent for loopback and app clients', async () => {
  const uris = ['http://127.0.0.1:5555/cb', 'cursor://anysphere.cursor-mcp/oauth/callback']
  const client = await registerClient(server, { redirect_uris: uris })
  for (const redirect_uri of uris) {
    const browser = await consentedBrowser(server, client, { redirect_uri })
    const response = await browser.get(authorizeUrl(client, { redirect_uri, prompt: 'none' }))
    assert.ok(!isCodeAnswer(response))
    assert.match(response.body, /consent_required/)
  }
})

test('AUTH-17: prompt=login requires the password, and rejects a session that started before the request', async () => {
  const client = await registerClient(server)
  const browser = await consentedBrowser(server, client)
  server.clock.advance(1)
  const start = await browser.get(authorizeUrl(client, { prompt: 'login' }))
  assert.match(locationOf(start), /\/sign-in\?/)
  const consent = locationOf(start).replace('/sign-in?', '/consent?')
  assert.match(locationOf(await browser.get(consent)), /\/sign-in\?/)
  const page = await browser.get(locationOf(start))
  const signedIn = await browser.submit(page, { email: EMAIL, password: PASSWORD })
  assert.ok(isCodeAnswer(signedIn), 'the consent is remembered, so the password is all that is asked for')
})

test('AUTH-17: an abandoned prompt=login keeps the earlier session and gives no code', async () => {
  const client = await registerClient(server)
  const browser = await consentedBrowser(server, client)
  const before = browser.cookies.get(SESSION_COOKIE)
  await browser.get(locationOf(await browser.get(authorizeUrl(client, { prompt: 'login' }))))
  assert.equal(browser.cookies.get(SESSION_COOKIE), before)
  assert.ok(isCodeAnswer(await browser.get(authorizeUrl(client, { prompt: 'none' }))))
})

test('prompt=consent shows the page despite an earlier consent', async () => {
  const client = await registerClient(server)
  const browser = await consentedBrowser(server, client)
  assert.match(locationOf(await browser.get(authorizeUrl(client, { prompt: 'consent' }))), /\/consent\?/)
})

test('AUTH-18: every page forbids framing, referrers, MIME sniffing and caching, and every redirect is a 303', async () => {
  const client = await registerClient(server)
  const browser = new PlainBrowser(server)
  const start = await browser.get(authorizeUrl(client))
  const signIn = await browser.get(locationOf(start))
  const wrong = await browser.submit(signIn, { email: EMAIL, password: 'wrong' })
  const right = await browser.submit(signIn, { email: EMAIL, password: PASSWORD })
  const consent = await browser.get(locationOf(right))
  const signOut = await browser.get('/v2/oauth/sign-out')
  const allowed = await browser.submit(consent, { decision: 'allow' })
  const again = await browser.submit(consent, { decision: 'deny' })
  const refused = await new PlainBrowser(server).get(authorizeUrl(client, { response_type: 'x' }))
  const unknown = await browser.get('/v2/oauth/authorize?client_id=x')
  const signedOut = await browser.submit(signOut, {})
  for (const page of [signIn, wrong, consent, signOut, signedOut, again, refused, unknown]) {
    const { headers } = page
    assert.match(String(headers['content-type']), /^text\/html; charset=utf-8$/)
    const policy = String(headers['content-security-policy'])
    for (const part of [`default-src 'none'`, `frame-ancestors 'none'`, `base-uri 'none'`, `form-action 'self'`])
      assert.ok(policy.includes(part), policy)
    assert.ok(!policy.includes('unsafe'), policy)
    const scripts = /script-src ([^;]*)/.exec(policy)?.[1]?.split(' ')
    const isSignIn = page === signIn || page === wrong
    assert.ok(isSignIn ? scripts?.every((source) => source.startsWith("'sha256-")) : scripts === undefined, policy)
    assertSafeHeaders(page)
    assert.equal(headers['x-frame-options'], 'DENY')
  }
  for (const redirect of [start, right, allowed]) {
    assert.equal(redirect.statusCode, 303)
    assertSafeHeaders(redirect)
  }
})

test('AUTH-19: each code is unique, has 256 bits and a tag, and contains no id of a user or client', async () => {
  const client = await registerClient(server)
  const codes = await Promise.all(Array.from({ length: 5 }, () => obtainCode(server, client, { prompt: 'consent' })))
  const grants = await Promise.all(codes.map((code) => redeem(server, client, code)))
  assert.ok(grants.every(({ statusCode }) => statusCode === 200))
  const ids = selectAll(server, 'select user_id, client_id from grants').flatMap((row) => Object.values(row))
  for (const code of codes) {
    assert.match(code, /^gac_[A-Za-z0-9_-]{99}$/)
    for (const id of ids) assert.ok(!code.includes(String(id).replace(/^g.._/, '')), 'an id is in the code')
  }
  const secrets = openSecrets('a root secret that is long enough for this')
  const others = openSecrets('another root secret that is long enough')
  const id = codes[0]?.slice(4, 38) ?? ''
  const bits = (from: typeof secrets, browser: string): string =>
    from.derive('authorization-code', id, [browser, 'user']).token.slice(38, 81)
  const many = Array.from({ length: 5000 }, () => bits(secrets, randomBytes(32).toString('base64url')))
  assert.equal(new Set(many).size, 5000)
  assert.notEqual(bits(secrets, 'browser'), bits(others, 'browser'))
})

test('AUTH-20: a code is valid for 60 seconds', async () => {
  const client = await registerClient(server)
  const early = await obtainCode(server, client)
  const late = await obtainCode(server, client, { prompt: 'consent' })
  server.clock.advance(58_000)
  assert.equal((await redeem(server, client, early)).statusCode, 200)
  server.clock.advance(3000)
  const refused = await assertStoreUnchanged(server, () => redeem(server, client, late))
  assert.equal(refused.statusCode, 400)
  assert.equal(refused.json().error, 'invalid_grant')
})

test('AUTH-20: GRANTOR_CODE_LIFETIME sets the seconds', async (t) => {
  const brief = await openTestServer(t, { env: { GRANTOR_CODE_LIFETIME: '5' } })
  await createAda(brief)
  const client = await registerClient(brief)
  const code = await obtainCode(brief, client)
  brief.clock.advance(5000)
  assert.equal((await redeem(brief, client, code)).json().error, 'invalid_grant')
})

test('AUTH-20: a pending authorization expires after ten minutes', async () => {
  const client = await registerClient(server)
  const browser = new PlainBrowser(server)
  const start = await browser.get(authorizeUrl(client))
  server.clock.advance(600_000)
  assertLocalPage(await browser.get(locationOf(start)))
})

test('AUTH-21: the pages of an authorization work in the browser that started it, and in no other', async () => {
  const client = await registerClient(server)
  const attacker = new PlainBrowser(server)
  const start = locationOf(await attacker.get(authorizeUrl(client)))
  const consent = start.replace('/sign-in?', '/consent?')
  const victim = await consentedBrowser(server, client)
  const stranger = new PlainBrowser(server)
  const form = new PlainBrowser(server)
  await form.get(authorizeUrl(client))
  const attackersPage = await attacker.get(start)
  for (const other of [victim, stranger, form]) {
    for (const url of [start, consent]) assertLocalPage(await other.get(url), 403)
    const posted = await assertStoreUnchanged(server, () =>
      other.submit(attackersPage, { email: EMAIL, password: PASSWORD }),
    )
    assertLocalPage(posted, 403)
    assert.equal(posted.headers['set-cookie'], undefined)
  }
})

test('AUTH-21: a browser cookie that is forged, truncated or of another kind is rejected', async () => {
  const client = await registerClient(server)
  const browser = new PlainBrowser(server)
  const start = locationOf(await browser.get(authorizeUrl(client)))
  const cookie = browser.cookies.get('grantor-browser-3000') ?? ''
  for (const forged of [cookie.slice(0, -1), `${cookie}A`, cookie.replace('gbr_', 'gss_'), 'x', '']) {
    browser.cookies.set('grantor-browser-3000', forged)
    assertLocalPage(await browser.get(start), 403)
  }
  browser.cookies.set('grantor-browser-3000', cookie)
  assert.equal((await browser.get(start)).statusCode, 200)
})

test('AUTH-28: a browser cookie that another port sets for the path of the authorization stops one try, and not the next', async () => {
  const name = 'grantor-browser-3000'
  const client = await registerClient(server)
  const [browser, other] = [new PlainBrowser(server), new PlainBrowser(server)]
  await other.get(authorizeUrl(client))
  const planted = `${name}=${other.cookies.get(name)}`
  const first = await browser.get(authorizeUrl(client), { cookie: planted })
  assertLocalPage(await browser.get(locationOf(first)), 403)
  // Browsers send the cookie of the longer path first.
  const next = await browser.get(authorizeUrl(client), { cookie: `${planted}; ${browser.cookieHeader}` })
  assert.equal((await browser.get(locationOf(next))).statusCode, 200)
})

test('two tabs of one browser can both complete an authorization', async () => {
  const client = await registerClient(server)
  const browser = new PlainBrowser(server)
  const [one, two] = [
    await browser.get(authorizeUrl(client)),
    await browser.get(authorizeUrl(client, { state: 'two' })),
  ]
  const [first, second] = [await browser.get(locationOf(one)), await browser.get(locationOf(two))]
  const inFirst = await browser.submit(first, { email: EMAIL, password: PASSWORD })
  const inSecond = await browser.submit(second, { email: EMAIL, password: PASSWORD })
  const [askedFirst, askedSecond] = [await browser.get(locationOf(inFirst)), await browser.get(locationOf(inSecond))]
  const codes = await Promise.all([
    browser.submit(askedSecond, { decision: 'allow' }),
    browser.submit(askedFirst, { decision: 'allow' }),
  ])
  assert.deepEqual(
    codes.map((answer) => new URL(locationOf(answer)).searchParams.get('state')),
    ['two', 'the-state'],
  )
  for (const answer of codes)
    assert.equal(
      (await redeem(server, client, new URL(locationOf(answer)).searchParams.get('code') ?? '')).statusCode,
      200,
    )
})

test('the session of a disabled user is not accepted', async (t) => {
  const own = await openTestServer(t)
  await createAda(own)
  const client = await registerClient(own)
  const browser = new PlainBrowser(own)
  await signInAndAllow(browser, authorizeUrl(client))
  const [user] = selectAll(own, 'select user_id from users')
  await own.context.store.disableUser({ id: user?.['user_id'] as never, now: own.clock.now() })
  assertReturnPage(await browser.get(authorizeUrl(client, { prompt: 'none' })), 'login_required')
})

function assertSafeHeaders({ headers }: LightMyRequestResponse): void {
  assert.equal(headers['referrer-policy'], 'no-referrer')
  assert.equal(headers['x-content-type-options'], 'nosniff')
  assert.equal(headers['cache-control'], 'no-store')
}
