import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { ENDPOINTS } from '../../../src/endpoints/index.ts'
import {
  authorizeUrl,
  hiddenFields,
  locationOf,
  PlainBrowser,
  registerClient,
  signInAndAllow,
  EMAIL,
  PASSWORD,
} from '../../../tools/flow.ts'
import { createAda } from '../../support/accounts.ts'
import { openProviderHost } from '../../support/provider/provider-host.ts'
import { addProvider, freshClaims, signInAt } from '../../support/provider/providers.ts'
import { openStillClock } from '../../support/clocks.ts'
import { openTestServer, type TestServer } from '../../support/server.ts'
import { hasSession, SESSION_COOKIE } from '../../support/session-cookie.ts'
import { addApp } from '../../../tools/sign-in/app.ts'
import { openAuthenticator } from '../../../tools/sign-in/authenticator.ts'
import { madeFields, signedFields } from '../../../tools/sign-in/passkeys.ts'
import { appOfPage, doFirstStep, submitTo } from '../../support/sign-in/apps.ts'
import { assertStoreUnchanged, define, selectAll } from '../../support/store/dump.ts'
import { makeClient } from '../openid/login.ts'
import { perform, performOnUser } from '../../support/tasks.ts'
import { pageSays, pageTitled } from '../../texts/page-texts.ts'

/** Fields and parameters that have a credential at some endpoint. */
const VALUE_NAMES = ['token', 'link', 'connect', 'session', 'state', 'code', 'proof', 'interaction', 'id_token_hint']

const ACCOUNT = '/v2/oauth/sign-in?page=security'
const [NEW, PASSKEY] = ['/v2/oauth/sign-in/new-passkey', '/v2/oauth/sign-in/second-passkey']
const REQUIRED = { GRANTOR_SECOND_FACTOR: 'required', GRANTOR_REDIRECT_ERRORS: 'true' }

test('OTP-03: where two factors are required, a right password starts no session, and the answer is no cookie', async (t) => {
  const server = await openTestServer(t, { env: REQUIRED })
  await createAda(server)
  const client = await registerClient(server)
  const browser = new PlainBrowser(server)
  const page = await browser.get(locationOf(await browser.get(authorizeUrl(client))))
  const cookies = [...browser.cookies.keys()]
  const answer = await browser.submit(page, { email: EMAIL, password: PASSWORD })
  assert.equal(answer.statusCode, 200)
  assert.match(answer.body, pageTitled('setUpSecondStep'))
  assert.deepEqual([...browser.cookies.keys()], cookies)
  assert.deepEqual(selectAll(server, 'select * from sessions'), [])
})

test('ACR-07: a step-up by a code keeps the end of the session, so that no number of codes prolongs it', async (t) => {
  const server = await openTestServer(t)
  await createAda(server)
  const client = await makeClient(server)
  const browser = new PlainBrowser(server)
  const signIn = await browser.get(locationOf(await browser.get('/account')))
  await browser.submit(signIn, { email: EMAIL, password: PASSWORD })
  const app = await addApp(server)
  const endOf = () => selectAll(server, 'select expires_at from sessions').map((row) => row['expires_at'])
  const ends = endOf()
  server.clock.advance(60 * 60_000)
  const asking = authorizeUrl(client, { scope: 'openid', acr_values: 'urn:grantor:acr:2fa' })
  const page = await browser.get(locationOf(await browser.get(asking)))
  assert.match(locationOf(await submitTo(browser, page, '/sign-in/code', { code: app.code() })), /\/consent\?/)
  assert.deepEqual([endOf(), selectAll(server, 'select methods from sessions')[0]?.['methods']], [ends, 'pwd otp mfa'])
})

test('UP-32: a password connects the account of another person at a provider only after the second step', async (t) => {
  const server = await openTestServer(t)
  const host = await openProviderHost(t)
  await addProvider(server, host, { signUp: 'anybody', multiFactor: true }, { id: 'strong', name: 'Strong' })
  server.clock.advance(1001)
  await createAda(server)
  const app = await addApp(server)
  const claims = () => ({ ...freshClaims(server), sub: 'MALLORY', email: EMAIL })
  const browser = new PlainBrowser(server)
  const start = await browser.get(locationOf(await browser.get('/account')))
  const asked = await signInAt({ browser, page: start, host }, claims(), {}, 'strong')
  assert.match(asked.body, pageSays('signInToConnect'))
  const page = await browser.submit(asked, { email: EMAIL, password: PASSWORD })
  assert.match(page.body, pageTitled('secondStep'))
  const subjects = () => selectAll(server, 'select subject from identities').map(({ subject }) => subject)
  assert.deepEqual(subjects(), [])
  await submitTo(browser, page, '/sign-in/code', { code: app.wrongCode() })
  assert.deepEqual(subjects(), [])
  assert.match(locationOf(await submitTo(browser, page, '/sign-in/code', { code: app.code() })), /\/account$/)
  assert.deepEqual(subjects(), ['MALLORY'])
})

test('OTP-08: a form that continues after an app was set up is useless once the app is gone or another one', async (t) => {
  const server = await openTestServer(t, { env: REQUIRED })
  await createAda(server)
  const user = await server.context.store.findUserByEmail(EMAIL)
  assert.ok(user)
  const client = await registerClient(server)
  for (const isReplaced of [false, true]) {
    const browser = new PlainBrowser(server)
    const page = await doFirstStep(browser, client)
    const held = await browser.submit(page, { code: appOfPage(server, page).code() })
    assert.match(held.body, /<h1>Recovery codes<\/h1>/)
    server.clock.advance(1001)
    assert.equal(await server.context.store.resetSecondFactor({ userId: user.id, mails: [] }), 'changed')
    if (isReplaced) await addApp(server)
    assert.equal((await browser.submit(held, {})).statusCode, 403)
    assert.deepEqual(selectAll(server, 'select * from sessions'), [])
  }
})

test('OTP-03: a session with one factor from before does not count where two are required', async (t) => {
  const before = await openTestServer(t)
  await createAda(before)
  const client = await registerClient(before)
  const browser = new PlainBrowser(before)
  await signInAndAllow(browser, authorizeUrl(client))
  await before.close()
  const server = await openTestServer(t, { folder: before.folder, clock: before.clock, env: REQUIRED })
  const later = new PlainBrowser(server)
  for (const [name, value] of browser.cookies) later.cookies.set(name, value)
  const silent = new URL(locationOf(await later.get(authorizeUrl(client, { prompt: 'none' }))))
  assert.equal(silent.searchParams.get('error'), 'login_required')
  assert.match(locationOf(await later.get(authorizeUrl(client))), /\/sign-in\?/)
  assert.match(locationOf(await later.get('/account/security')), /\/sign-in\?/)
})

test('UI-14: an endpoint that gets the waiting sign-in as a field, parameter or cookie starts no session and gives no code', async (t) => {
  const { server, client, app } = await openWithApp(t)
  await addProvider(server, await openProviderHost(t))
  const browser = new PlainBrowser(server)
  const page = await doFirstStep(browser, client)
  const { waiting = '', ...own } = hiddenFields(page)
  const named = Object.fromEntries(VALUE_NAMES.map((name) => [name, waiting]))
  const fields = { ...named, ...own, waiting, email: EMAIL, decision: 'allow', provider: 'idp', prompt: 'none' }
  const query = new URLSearchParams({
    ...Object.fromEntries(new URLSearchParams(authorizeUrl(client).split('?')[1])),
    ...fields,
  })
  for (const { method, path } of ENDPOINTS) {
    const url = path.replace('{provider}', 'idp')
    for (const session of [undefined, waiting]) {
      const there = copyOf(browser, server)
      if (session !== undefined) there.cookies.set(SESSION_COOKIE, session)
      const answer = method === 'GET' ? await there.get(`${url}?${query}`) : await there.post(url, fields)
      const what = `${method} ${url} ${answer.statusCode}`
      assert.ok(answer.statusCode < 500, what)
      assert.equal(answer.cookies.find(({ name }) => name === SESSION_COOKIE)?.value ?? '', '', what)
      assert.doesNotMatch(`${answer.headers.location} ${answer.body}`, /code=gac_|"access_token"/, what)
      assert.deepEqual(selectAll(server, 'select * from sessions'), [], what)
    }
  }
  const right = await submitTo(browser, page, '/sign-in/code', { code: app.code() })
  assert.match(locationOf(right), /\/consent\?/, 'the sign-in still waits')
})

test('UI-14: a waiting sign-in is refused in another browser, for another target, altered, late and a second time', async (t) => {
  const { server, client, app } = await openWithApp(t)
  const browser = new PlainBrowser(server)
  const page = await doFirstStep(browser, client)
  const { waiting = '', ...own } = hiddenFields(page)
  const [payload = '', mac = ''] = waiting.split('.')
  const [time, nonce, members] = JSON.parse(Buffer.from(payload, 'base64url').toString()) as [number, string, unknown[]]
  const sealed = (...whole: readonly unknown[]): string =>
    `${Buffer.from(JSON.stringify(whole)).toString('base64url')}.${mac}`
  const stranger = new PlainBrowser(server)
  const ofStranger = hiddenFields(await doFirstStep(stranger, client))
  const other = hiddenFields(await doFirstStep(browser, client))
  const account = await browser.get(ACCOUNT)
  const ofAccount = hiddenFields(await browser.submit(account, { email: EMAIL, password: PASSWORD }))
  const accountOfStranger = hiddenFields(await stranger.get(ACCOUNT))
  const send = (by: PlainBrowser, form: Readonly<Record<string, string>>) =>
    by.post('/v2/oauth/sign-in/code', { ...form, code: app.code() })
  const cases: readonly (readonly [what: string, by: PlainBrowser, form: Readonly<Record<string, string>>])[] = [
    ['the form in another browser', stranger, { ...own, waiting }],
    ['the form in a browser without cookies', new PlainBrowser(server), { ...own, waiting }],
    ['the value in the form of another browser', stranger, { ...ofStranger, waiting }],
    ['the value of another browser in the own form', browser, { ...own, waiting: ofStranger['waiting'] ?? '' }],
    ['the value in the form of another authorization', browser, { ...other, waiting }],
    ['the value in the form of an account page', browser, { ...ofAccount, waiting }],
    ['the value of an account page in the form of a client', browser, { ...own, waiting: ofAccount['waiting'] ?? '' }],
    ['the value of an account page in another browser', stranger, { ...ofAccount, ...accountOfStranger }],
    ['without the value', browser, own],
    ['an empty value', browser, { ...own, waiting: '' }],
    ['the cookie of the browser in its place', browser, { ...own, waiting: [...browser.cookies.values()].join('') }],
    ['a later time', browser, { ...own, waiting: sealed(time + 1, nonce, members) }],
    ['more methods', browser, { ...own, waiting: sealed(time, nonce, members.with(1, ['pwd', 'mfa'])) }],
    ['another user', browser, { ...own, waiting: sealed(time, nonce, members.with(0, 'gus_x')) }],
    ['without the signature', browser, { ...own, waiting: payload }],
  ]
  for (const [what, by, form] of cases) {
    const answer = await assertStoreUnchanged(server, () => send(by, form), what)
    assert.equal(answer.statusCode, 403, what)
  }
  server.clock.advance(10 * 60_000 - 1)
  const [copy, late] = [copyOf(browser, server), copyOf(browser, server)]
  assert.match(locationOf(await send(copy, { ...own, waiting })), /\/consent\?/, 'the last moment')
  const [recoveryCode = ''] = app.recoveryCodes
  const again = { ...own, waiting, code: recoveryCode }
  const repeated = await late.post('/v2/oauth/sign-in/recovery-code', again)
  assert.match(repeated.body, /reason=second-step-expired/)
  assert.equal(selectAll(server, 'select * from recovery_codes').length, 10, 'no code is used up')
  const fresh = hiddenFields(await doFirstStep(late, client))
  server.clock.advance(10 * 60_000)
  const expired = await assertStoreUnchanged(server, () => send(late, fresh))
  assert.equal(expired.statusCode, 403)
  assert.equal(selectAll(server, 'select * from sessions').length, 1)
})

/** What ends a sign-in that waits. Without its app, the person may set up another one. */
const CHANGES: Readonly<Record<string, (server: TestServer) => Promise<unknown>>> = {
  'user.disable': ({ context }) => performOnUser(context, 'user.disable', EMAIL),
  'user.delete': ({ context }) => performOnUser(context, 'user.delete', EMAIL),
  'user.set-password': ({ context }) =>
    performOnUser(context, 'user.set-password', EMAIL, { password: 'another long horse' }),
  'user.revoke-tokens': ({ context }) => performOnUser(context, 'user.revoke-tokens', EMAIL),
  'user.reset-second-factor': ({ context }) => performOnUser(context, 'user.reset-second-factor', EMAIL),
  'token.revoke-all': ({ context }) => perform(context, 'token.revoke-all', { confirm: 'everything' }),
}

for (const [name, change] of Object.entries(CHANGES)) {
  test(`UI-14: after ${name} between the steps, the second step starts no session`, async (t) => {
    const { server, client, app } = await openWithApp(t)
    const browser = new PlainBrowser(server)
    const page = await doFirstStep(browser, client)
    server.clock.advance(1)
    await change(server)
    // Not-before times of the server are read once a second.
    server.clock.advance(1001)
    const answer = await submitTo(browser, page, '/sign-in/code', { code: app.code() })
    assert.equal(answer.statusCode, name === 'user.reset-second-factor' ? 200 : 403)
    assert.ok(!hasSession(browser))
    assert.deepEqual(selectAll(server, 'select * from sessions'), [])
  })
}

for (const factor of ['app', 'passkey'] as const) {
  test(`OTP-02: a server that fails and restarts between the stored ${factor} and the session leaves the ${factor}, with which the user signs in`, async (t) => {
    const failing = await openTestServer(t, { env: REQUIRED })
    await createAda(failing)
    const client = await registerClient(failing)
    const browser = new PlainBrowser(failing)
    const page = await doFirstStep(browser, client)
    const [app, authenticator] = [appOfPage(failing, page), openAuthenticator()]
    define(failing, `create trigger full before insert on sessions begin select raise(abort, 'full'); end`)
    const shown = factor === 'app' ? await submitTo(browser, page, '/sign-in/app', { code: app.code() }) : page
    const own = () =>
      factor === 'app' ? browser.submit(shown, {}) : browser.post(NEW, madeFields(page, authenticator))
    assert.equal((await own()).statusCode, 503)
    assert.ok(!hasSession(browser))
    const server = await failing.reopen()
    define(server, 'drop trigger full')
    // The sign-in that waited was used up.
    const again = copyOf(browser, server)
    const late = factor === 'app' ? again.submit(shown, {}) : again.post(NEW, madeFields(page, openAuthenticator()))
    assert.equal((await late).statusCode, factor === 'app' ? 403 : 200)
    assert.ok(!hasSession(again))
    server.clock.advance(30_000)
    const step = await doFirstStep(again, client)
    assert.match(step.body, pageTitled('secondStep'))
    const userId = (await server.context.store.findUserByEmail(EMAIL))?.id ?? assert.fail()
    const done =
      factor === 'app'
        ? submitTo(again, step, '/sign-in/code', { code: app.code() })
        : again.post(PASSKEY, signedFields(step, { userId, authenticator }))
    assert.match(locationOf(await done), /\/consent\?/)
    const counts = ['sessions', 'second_factors', 'passkeys'].map((table) =>
      selectAll(server, `select * from ${table}`),
    )
    assert.deepEqual(
      counts.map(({ length }) => length),
      factor === 'app' ? [1, 1, 0] : [1, 0, 1],
    )
  })
}

async function openWithApp(t: TestContext) {
  const server = await openTestServer(t, { clock: openStillClock(), env: { GRANTOR_AUTHORIZATION_LIFETIME: '3600' } })
  await createAda(server)
  const client = await registerClient(server)
  return { server, client, app: await addApp(server) }
}

function copyOf({ cookies }: PlainBrowser, server: TestServer): PlainBrowser {
  const copy = new PlainBrowser(server)
  for (const [name, value] of cookies) copy.cookies.set(name, value)
  return copy
}
