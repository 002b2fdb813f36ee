import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as turnOfTheLoop } from 'node:timers/promises'
import type { Response as LightMyRequestResponse } from 'light-my-request'
import { createUser } from '../../../src/admin/user/user.ts'
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
import { beginWindow, openTestServer, type TestServer } from '../../support/server.ts'
import { hasSession, SESSION_COOKIE } from '../../support/session-cookie.ts'
import { assertStoreUnchanged, selectAll } from '../../support/store/dump.ts'
import { assertLocalPage, isCodeAnswer } from '../../support/authorize-answers.ts'

test('UI-01: a sign-in form without its token, with another token, or from another site is rejected', async (t) => {
  const { server, client } = await open(t)
  const browser = new PlainBrowser(server)
  const page = await signInPage(browser, client)
  const anotherTab = await signInPage(browser, client)
  const stranger = new PlainBrowser(server)
  const strangersPage = await signInPage(stranger, client)
  const right = { email: EMAIL, password: PASSWORD }
  const tokens = ['', 'x', hiddenFields(anotherTab)['csrf'] ?? '', hiddenFields(strangersPage)['csrf'] ?? '']
  for (const csrf of tokens) await assertRefused(server, () => browser.submit(page, { ...right, csrf }))
  for (const site of ['cross-site', 'same-site', 'what-comes-next']) {
    const form = { ...hiddenFields(page), ...right }
    const post = (): Promise<LightMyRequestResponse> =>
      browser.post('/v2/oauth/sign-in', form, { 'sec-fetch-site': site })
    await assertRefused(server, post)
  }
  assert.equal((await browser.submit(page, right)).statusCode, 303)
})

test('UI-05: each sign-in starts a new session and ends the previous one', async (t) => {
  const { server, client } = await open(t)
  const browser = new PlainBrowser(server)
  const first = await signInPage(browser, client)
  await browser.submit(first, { email: EMAIL, password: PASSWORD })
  const before = browser.cookies.get(SESSION_COOKIE) ?? ''
  await browser.submit(await signInPage(browser, client, { prompt: 'login' }), { email: EMAIL, password: PASSWORD })
  const after = browser.cookies.get(SESSION_COOKIE) ?? ''
  assert.notEqual(after, before)
  assert.ok(await isSignedIn(server, after))
  assert.ok(!(await isSignedIn(server, before)), 'the cookie from before still signs in')
})

test('UI-05: a sign-in does not reuse a planted session cookie', async (t) => {
  const { server, client } = await open(t)
  const attacker = new PlainBrowser(server)
  await createUser(server.context, { email: 'eve@acme.test', password: PASSWORD, name: undefined })
  await attacker.submit(await signInPage(attacker, client), { email: 'eve@acme.test', password: PASSWORD })
  const planted = attacker.cookies.get(SESSION_COOKIE) ?? ''
  const victim = new PlainBrowser(server)
  const page = await signInPage(victim, client)
  victim.cookies.set(SESSION_COOKIE, planted)
  await victim.submit(page, { email: EMAIL, password: PASSWORD })
  assert.notEqual(victim.cookies.get(SESSION_COOKIE), planted)
  attacker.cookies.set(SESSION_COOKIE, planted)
  const shown = await attacker.get('/v2/oauth/sign-out')
  assert.ok(!shown.body.includes(EMAIL), 'the planted cookie shows the account that signed in')
})

test('UI-06: a session cookie that is edited, truncated, extended, empty or of another kind is rejected', async (t) => {
  const { server, client } = await open(t)
  const browser = new PlainBrowser(server)
  await signInAndAllow(browser, authorizeUrl(client))
  const cookie = browser.cookies.get(SESSION_COOKIE) ?? ''
  assert.ok(await isSignedIn(server, cookie))
  for (let index = 0; index < cookie.length; index += 1) {
    const other = cookie[index] === 'A' ? 'B' : 'A'
    assert.ok(!(await isSignedIn(server, cookie.slice(0, index) + other + cookie.slice(index + 1))), `byte ${index}`)
  }
  const others = [
    '',
    'x',
    cookie.slice(0, -1),
    `${cookie}A`,
    cookie.toLowerCase(),
    browser.cookies.get('grantor-browser-3000'),
  ]
  for (const other of others) assert.ok(!(await isSignedIn(server, other ?? '')))
  const [row] = selectAll(server, 'select session_id, session_hash from sessions')
  for (const column of Object.values(row ?? {})) assert.ok(!(await isSignedIn(server, String(column))))
})

test('UI-06: over https the cookies are __Host-, Secure, HttpOnly and SameSite=Lax', async (t) => {
  const env = { GRANTOR_ISSUER: 'https://auth.example', GRANTOR_HOST: '127.0.0.1' }
  const server = await openTestServer(t, { env })
  await createAda(server)
  const cookies = await cookiesOfFlow(server)
  assert.deepEqual([...cookies.keys()].toSorted(), ['__Host-grantor-browser', '__Host-grantor-session'])
  for (const { path, httpOnly, secure, sameSite, domain } of cookies.values())
    assert.deepEqual(
      { path, httpOnly, secure, sameSite, domain },
      {
        path: '/',
        httpOnly: true,
        secure: true,
        sameSite: 'Lax',
        domain: undefined,
      },
    )
})

test('UI-06: on a loopback issuer the cookies carry the port in their names, and are HttpOnly', async (t) => {
  const { server } = await open(t)
  const cookies = await cookiesOfFlow(server)
  assert.deepEqual([...cookies.keys()].toSorted(), ['grantor-browser-3000', 'grantor-session-3000'])
  for (const { httpOnly, sameSite } of cookies.values()) assert.deepEqual([httpOnly, sameSite], [true, 'Lax'])
})

test('UI-06: a session expires after its lifetime', async (t) => {
  const { server, client } = await open(t, { GRANTOR_SESSION_LIFETIME: '100' })
  const browser = new PlainBrowser(server)
  await signInAndAllow(browser, authorizeUrl(client))
  server.clock.advance(98_000)
  assert.ok(isCodeAnswer(await browser.get(authorizeUrl(client))))
  server.clock.advance(2000)
  assert.match(locationOf(await browser.get(authorizeUrl(client))), /\/sign-in\?/)
})

test('UI-07: only the authorization id determines where a sign-in leads', async (t) => {
  const { server, client } = await open(t)
  const evils = [
    '//evil.test',
    '/\\evil.test',
    '/%09/evil.test',
    'https:evil.test',
    'https://evil.test',
    'javascript:alert(1)',
  ]
  for (const evil of evils) {
    const browser = new PlainBrowser(server)
    const start = locationOf(await browser.get(authorizeUrl(client)))
    const extra = ['next', 'return_to', 'redirect_uri', 'url'].map((name) => `&${name}=${encodeURIComponent(evil)}`)
    const page = await browser.get(start + extra.join(''))
    assert.ok(!page.body.includes('evil.test') && !page.body.includes('javascript:'))
    const answer = await browser.submit(page, { email: EMAIL, password: PASSWORD, next: evil, redirect_uri: evil })
    assert.ok(locationOf(answer).startsWith(`${server.origin}/v2/oauth/consent?authorization=`))
    assertLocalPage(await browser.get(`/v2/oauth/sign-in?authorization=${encodeURIComponent(evil)}`))
  }
})

test('UI-08: an unknown account and a wrong password get the same response', async (t) => {
  const { server, client } = await open(t)
  const answers = await Promise.all(
    [EMAIL, 'nobody@acme.test'].map(async (email) => {
      const browser = new PlainBrowser(server)
      const page = await signInPage(browser, client)
      const answer = await browser.submit(page, { email, password: 'wrong' })
      const { authorization = '', csrf = '' } = hiddenFields(page)
      const body = answer.body
        .replaceAll(email, 'EMAIL')
        .replaceAll(authorization, 'ID')
        .replaceAll(csrf, 'TOKEN')
        .replaceAll(/data-passkey="[^"]*"/g, '')
      return { status: answer.statusCode, body, cookies: answer.cookies.length }
    }),
  )
  assert.equal(answers[0]?.status, 401)
  assert.deepEqual(answers[0], answers[1])
})

test('UI-08: ten wrong passwords for an account lock unknown browsers out for a while, and sign in no user', async (t) => {
  const { server, client } = await open(t)
  const stranger = new PlainBrowser(server)
  const page = await signInPage(stranger, client)
  for (let count = 0; count < 10; count += 1)
    assert.equal((await stranger.submit(page, { email: EMAIL, password: `wrong ${count}` })).statusCode, 401)
  const locked = await stranger.submit(page, { email: EMAIL, password: PASSWORD })
  assert.equal(locked.statusCode, 429)
  const retryAfter = Number(locked.headers['retry-after'])
  assert.ok(retryAfter > 0 && retryAfter <= 900, String(retryAfter))
  assert.ok(!hasSession(stranger))
  assert.equal((await stranger.submit(page, { email: 'ADA@ACME.TEST ', password: PASSWORD })).statusCode, 429)
  server.clock.advance(retryAfter * 1000)
  const later = await signInPage(stranger, client)
  assert.equal((await stranger.submit(later, { email: EMAIL, password: PASSWORD })).statusCode, 303)
})

test('UI-08: the owner’s browser is not locked out by others, and has its own limit', async (t) => {
  const { server, client } = await open(t)
  const owner = new PlainBrowser(server)
  await signInAndAllow(owner, authorizeUrl(client))
  const stranger = new PlainBrowser(server)
  const guess = await signInPage(stranger, client)
  for (let count = 0; count < 12; count += 1) await stranger.submit(guess, { email: EMAIL, password: 'wrong' })
  const page = await signInPage(owner, client, { prompt: 'login' })
  assert.equal((await owner.submit(page, { email: EMAIL, password: PASSWORD })).statusCode, 303)
  const again = await signInPage(owner, client, { prompt: 'login' })
  const statuses: number[] = []
  for (let count = 0; count < 11; count += 1)
    statuses.push((await owner.submit(again, { email: EMAIL, password: 'wrong' })).statusCode)
  assert.deepEqual(statuses, [...Array<number>(10).fill(401), 429])
})

test('UI-08: a thief with the owner’s cookies uses up the limit of the browser, and the owner still signs in with it', async (t) => {
  const { server, client } = await open(t)
  const owner = new PlainBrowser(server)
  await signInAndAllow(owner, authorizeUrl(client))
  const thief = new PlainBrowser(server)
  for (const [name, value] of owner.cookies) thief.cookies.set(name, value)
  const guess = await signInPage(thief, client, { prompt: 'login' })
  for (let count = 0; count < 10; count += 1) await thief.submit(guess, { email: EMAIL, password: 'wrong' })
  const page = await signInPage(owner, client, { prompt: 'login' })
  assert.equal((await owner.submit(page, { email: EMAIL, password: PASSWORD })).statusCode, 303)
  // It is no more than without the cookies: then the limits of the account and of the network hold.
  const statuses: number[] = []
  for (let count = 0; count < 11; count += 1)
    statuses.push((await thief.submit(guess, { email: EMAIL, password: 'wrong' })).statusCode)
  assert.deepEqual(statuses, [...Array<number>(10).fill(401), 429])
})

test('UI-08: twenty wrong passwords from one network lock it out for every account', async (t) => {
  const { server, client } = await open(t)
  const browser = new PlainBrowser(server)
  const page = await signInPage(browser, client)
  // Of accounts with a cheap hash, below their own limits, and of none.
  const others = ['grace@acme.test', 'ida@acme.test']
  for (const email of others) await createAccount(server, { email, password: PASSWORD, name: undefined })
  const known = Array.from({ length: 18 }, (_, index) => others[index % 2] ?? '')
  for (const email of [...known, 'nobody@acme.test', 'no-one@acme.test'])
    assert.equal((await browser.submit(page, { email, password: 'x' })).statusCode, 401, email)
  assert.equal((await browser.submit(page, { email: EMAIL, password: PASSWORD })).statusCode, 429)
})

test('UI-08: parallel guesses are counted one by one', async (t) => {
  const { server, client } = await open(t)
  const browser = new PlainBrowser(server)
  const page = await signInPage(browser, client)
  const answers = await Promise.all(
    Array.from({ length: 30 }, () => browser.submit(page, { email: EMAIL, password: 'wrong' })),
  )
  const statuses = answers.map(({ statusCode }) => statusCode).toSorted((left, right) => left - right)
  assert.deepEqual(statuses, [...Array<number>(10).fill(401), ...Array<number>(20).fill(429)])
})

test('UI-09: a password of more than 1024 bytes is rejected without hashing it', async (t) => {
  const { server, client } = await open(t)
  const browser = new PlainBrowser(server)
  const page = await signInPage(browser, client)
  const long = await assertStoreUnchanged(server, () =>
    browser.submit(page, { email: EMAIL, password: 'é'.repeat(513) }),
  )
  assert.equal(long.statusCode, 400)
  const huge = await browser.submit(page, { email: EMAIL, password: 'x'.repeat(1_000_000) })
  assert.equal(huge.statusCode, 413)
})

test('UI-13: a disabled user cannot sign in, and gets the same response as an unknown account', async (t) => {
  const { server, client } = await open(t)
  const [user] = selectAll(server, 'select user_id from users')
  await server.context.store.disableUser({ id: user?.['user_id'] as never, now: server.clock.now() })
  const browser = new PlainBrowser(server)
  const page = await signInPage(browser, client)
  const answer = await browser.submit(page, { email: EMAIL, password: PASSWORD })
  assert.equal(answer.statusCode, 401)
  assert.ok(!hasSession(browser))
})

test('UI-13: a password change or a disabled account during the password check prevents the sign-in', async (t) => {
  for (const change of ['setPassword', 'disableUser'] as const) {
    // The change has to come while the password is hashed, which a busy machine may miss.
    let status = 0
    for (let round = 0; round < 3 && status !== 401; round += 1) {
      const { server, client } = await open(t, {}, 'released')
      const id = selectAll(server, 'select user_id from users')[0]?.['user_id'] as never
      const browser = new PlainBrowser(server)
      const page = await signInPage(browser, client)
      const answer = browser.submit(page, { email: EMAIL, password: PASSWORD })
      while (selectAll(server, 'select * from hits').length < 2) await turnOfTheLoop()
      await server.context.store[change]({ id, passwordHash: 'another', now: server.clock.now(), mails: [] })
      status = (await answer).statusCode
    }
    assert.equal(status, 401, change)
  }
})

test('UI-12: addresses in pages follow the issuer, whatever the headers contain', async (t) => {
  const { server, client } = await open(t)
  const lies = {
    'x-forwarded-host': 'evil.test',
    'x-forwarded-proto': 'https',
    forwarded: 'host=evil.test;proto=https',
  }
  const start = await server.inject({ url: authorizeUrl(client), headers: lies })
  assert.ok(locationOf(start).startsWith(`${server.origin}/v2/oauth/sign-in?`))
  const other = await server.inject({ url: authorizeUrl(client), headers: { ...lies, host: 'evil.test' } })
  assert.ok(locationOf(other).startsWith(`${server.origin}/`))
  const cookie = start.cookies.map(({ name, value }) => `${name}=${value}`).join('; ')
  const page = await server.inject({ url: locationOf(start).slice(server.origin.length), headers: { ...lies, cookie } })
  assert.equal(page.statusCode, 200)
  assert.ok(page.body.includes(`action="${server.origin}/v2/oauth/sign-in"`))
  assert.ok(!page.body.includes('evil.test'))
})

const MARKUP = [
  `"><script>alert(1)</script>`,
  `'><img src=x onerror=alert(1)>`,
  `</title><svg onload=alert(1)>`,
  '&lt;b&gt;',
]
test('UI-17: values of the request are escaped as text on the sign-in page', async (t) => {
  const { server } = await open(t)
  for (const markup of MARKUP) {
    const client = await registerClient(server, { client_name: markup.slice(0, 60) })
    const browser = new PlainBrowser(server)
    const page = await signInPage(browser, client, { login_hint: markup, state: markup, ui_locales: markup })
    assertNoMarkup(page)
    assertNoMarkup(await browser.submit(page, { email: markup, password: 'x' }))
    const locales = `&ui_locales=${encodeURIComponent(markup)}`
    assertNoMarkup(await browser.get(`/v2/oauth/sign-in?authorization=${encodeURIComponent(markup)}${locales}`))
    assertNoMarkup(await browser.get(authorizeUrl(client, { response_type: markup, state: markup })))
  }
})

function assertNoMarkup(page: LightMyRequestResponse): void {
  assert.match(String(page.headers['content-type']), /html/)
  for (const live of ['<script', '<img', '<svg onload', '<b>'])
    assert.ok(!page.body.replaceAll(/<script>\(function [^<]*<\/script>/g, '').includes(live), page.body)
}

async function open(
  t: Parameters<typeof openTestServer>[0],
  env: Readonly<Record<string, string>> = {},
  passwordCosts: 'lowest' | 'released' = 'lowest',
): Promise<{ server: TestServer; client: RegisteredClient }> {
  const server = await openTestServer(t, { env, passwordCosts })
  beginWindow(server)
  if (passwordCosts === 'released') await createUser(server.context, { email: EMAIL, password: PASSWORD, name: 'Ada' })
  else await createAda(server)
  return { server, client: await registerClient(server) }
}

async function signInPage(
  browser: PlainBrowser,
  client: RegisteredClient,
  parameters: Readonly<Record<string, string>> = {},
): Promise<LightMyRequestResponse> {
  const page = await browser.get(locationOf(await browser.get(authorizeUrl(client, parameters))))
  assert.equal(page.statusCode, 200, page.body)
  return page
}

async function assertRefused(server: TestServer, act: () => Promise<LightMyRequestResponse>): Promise<void> {
  assertLocalPage(await assertStoreUnchanged(server, act), 403)
}

/** Whether a cookie shows the account on the page to sign out. */
async function isSignedIn(server: TestServer, cookie: string): Promise<boolean> {
  const page = await server.inject({ url: '/v2/oauth/sign-out', headers: { cookie: `${SESSION_COOKIE}=${cookie}` } })
  assert.equal(page.statusCode, 200)
  return page.body.includes(EMAIL)
}

/** All cookies that a whole flow sets, by name. */
async function cookiesOfFlow(server: TestServer): Promise<Map<string, LightMyRequestResponse['cookies'][number]>> {
  const client = await registerClient(server)
  const browser = new PlainBrowser(server)
  const start = await browser.get(authorizeUrl(client))
  const page = await browser.get(locationOf(start))
  const answer = await browser.submit(page, { email: EMAIL, password: PASSWORD })
  return new Map([...start.cookies, ...page.cookies, ...answer.cookies].map((cookie) => [cookie.name, cookie]))
}
