import assert from 'node:assert/strict'
import { test } from 'node:test'
import { coversAll } from '../../../src/endpoints/sign-in/changing-session.ts'
import { ACCOUNT_ROWS } from '../../../src/endpoints/account/index.ts'
import { accountPath } from '../../../src/endpoints/paths.ts'
import type { UserId } from '../../../src/protocol/ids.ts'
import {
  authorizeUrl,
  EMAIL,
  hiddenFields,
  locationOf,
  PASSWORD,
  PlainBrowser,
  registerClient,
} from '../../../tools/flow.ts'
import { createAccount, createAda } from '../../support/accounts.ts'
import { assertLocalPage, WHOLE_FILE } from '../../support/authorize-answers.ts'
import { openTestServer, type TestServer } from '../../support/server.ts'
import { assertStoreUnchanged, execute, selectAll } from '../../support/store/dump.ts'
import { formsOf, openOwner } from './owner.ts'
import { pageSays } from '../../texts/page-texts.ts'

const EVE = 'eve@acme.test'
const MINUTE_MS = 60_000
// Nothing is sent: with mail there are more pages.
const mail = { GRANTOR_SMTP_URL: 'smtp://127.0.0.1:9', GRANTOR_MAIL_FROM: 'no-reply@acme.test' }
const server = await openTestServer(WHOLE_FILE, { env: mail })
await createAda(server)
await createAccount(server, { email: EVE, password: PASSWORD, name: 'Eve' })
const ada = openOwner(server)
await ada.open('/account')

/** Each page, with fields of its form that would change something. */
const FORMS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  account: { name: 'Changed' },
  'account-email': { email: 'ada@new.test' },
  'account-confirm-email': { code: '12345678' },
  'account-remove-app': { client: `gci_${'0'.repeat(12)}${'A'.repeat(22)}` },
  'account-sessions': { others: 'all' },
  'account-password': { password: 'another long horse', repeated: 'another long horse' },
  'account-remove-password': {},
  'account-add-provider': { provider: 'acme' },
  'account-remove-provider': { identity: 'A'.repeat(43) },
  'account-add-passkey': { credential: 'AAAA' },
  'account-remove-passkey': { passkey: 'A'.repeat(22) },
  'account-app': { code: '000000' },
  'account-recovery-codes': {},
  'account-remove-two-step': {},
  'account-data': {},
}

for (const { name, page: row, submit } of ACCOUNT_ROWS) {
  const path = accountPath(row)
  test(`${name}: a browser that is signed out is sent to sign in, and then back to this page`, async () => {
    const stranger = openOwner(server, EVE)
    const start = await stranger.browser.get(path)
    assert.match(locationOf(start), /^http:\/\/localhost:3000\/v2\/oauth\/sign-in\?page=[a-z-]+$/)
    const asked = await stranger.browser.get(locationOf(start))
    // What opened the window sees the same of it as if the browser were signed in.
    for (const { headers } of [start, asked]) assert.equal(headers['cross-origin-opener-policy'], 'same-origin')
    const page = await stranger.open(path)
    assert.equal(page.statusCode, 200)
    assert.match(page.body, /<nav class="menu"[^]*aria-current="(?:page|true)"/)
    assert.ok(page.body.includes('Eve'))
  })

  if (submit !== undefined)
    test(`ACC-08, ${name}: a form without its token, with that of another user, or from another site is rejected`, async () => {
      const fields = FORMS[name] ?? {}
      const [page] = formsOf(await ada.open('/account'))
      const [other] = formsOf(await openOwner(server, EVE).open('/account'))
      for (const csrf of ['', 'x', other?.hidden['csrf'] ?? '']) {
        const post = () => ada.browser.post(path, { ...fields, csrf })
        assertLocalPage(await assertStoreUnchanged(server, post), 403)
      }
      for (const site of ['cross-site', 'same-site']) {
        const post = () => ada.browser.post(path, { ...page?.hidden, ...fields }, { 'sec-fetch-site': site })
        assertLocalPage(await assertStoreUnchanged(server, post), 403)
      }
      const signedOut = new PlainBrowser(server)
      const post = () => signedOut.post(path, { ...page?.hidden, ...fields })
      assert.match(locationOf(await assertStoreUnchanged(server, post)), /\/sign-in\?page=/)
    })

  test(`ACC-08, ${name}: no other site can show the page in a frame, load it, or keep its window, and nothing stores it`, async () => {
    const { headers } = await ada.open(path)
    assert.match(String(headers['content-security-policy']), /frame-ancestors 'none'/)
    assert.match(String(headers['content-security-policy']), /form-action 'self';/)
    assert.deepEqual([headers['x-frame-options'], headers['cache-control']], ['DENY', 'no-store'])
    assert.equal(headers['referrer-policy'], 'no-referrer')
    assert.deepEqual(
      [headers['cross-origin-opener-policy'], headers['cross-origin-resource-policy']],
      ['same-origin', 'same-origin'],
    )
  })
}

test('an app may open the pages of an authorization in a window, and keeps access to the window', async () => {
  const browser = new PlainBrowser(server)
  const begun = await browser.get(authorizeUrl(await registerClient(server)))
  for (const answer of [begun, await browser.get(locationOf(begun)), await browser.get('/v2/oauth/authorize?page=x')])
    assert.equal(answer.headers['cross-origin-opener-policy'], undefined)
})

test('a link on another site cannot make a page report a success', async () => {
  const path = '/account/security?done=password-changed'
  for (const [site, isSaid] of [
    ['same-origin', true],
    ['none', true],
    ['same-site', false],
    ['cross-site', false],
  ] as const) {
    const page = await ada.browser.get(path, { 'sec-fetch-site': site })
    assert.equal(page.body.includes('Your password was changed'), isSaid, site)
  }
})

test('the tests above try every form of the account pages except that of links', () => {
  const names = ACCOUNT_ROWS.filter(({ submit }) => submit !== undefined).map(({ name }) => name)
  assert.deepEqual(Object.keys(FORMS), names)
})

test('UI-07: the sign-in page leads to an account page by its name only', async () => {
  for (const page of ['https://evil.test', '//evil.test', 'link', '__proto__', '']) {
    const shown = await new PlainBrowser(server).get(`/v2/oauth/sign-in?page=${encodeURIComponent(page)}`)
    assertLocalPage(shown)
  }
  const browser = new PlainBrowser(server)
  const signIn = await browser.get(locationOf(await browser.get('/account/apps?done=x&next=//evil.test')))
  const fields = { ...hiddenFields(signIn), email: EMAIL, password: PASSWORD, next: '//evil.test' }
  const answer = await browser.post('/v2/oauth/sign-in', fields)
  assert.equal(locationOf(answer), 'http://localhost:3000/account/apps')
  const forged = await browser.post('/v2/oauth/sign-in', { ...fields, page: 'security' })
  assertLocalPage(forged, 403)
})

test('UI-01: the sign-in form of an account page needs its token and its browser', async () => {
  const browser = new PlainBrowser(server)
  const signIn = await browser.get(locationOf(await browser.get('/account')))
  const right = { email: EMAIL, password: PASSWORD }
  for (const csrf of ['', 'x']) assertLocalPage(await browser.submit(signIn, { ...right, csrf }), 403)
  const stranger = new PlainBrowser(server)
  assertLocalPage(await stranger.submit(signIn, right), 403)
  assert.equal((await browser.submit(signIn, right)).statusCode, 303)
})

test('the user changes the name, and removes it; a name that pages cannot show is rejected beside the field', async () => {
  const page = await ada.open('/account')
  assert.match(page.body, /ada@acme\.test<\/bdi>\s*<span[^>]*>not verified/)
  const changed = await ada.submit(page, 'name', { name: '  Ada King ' })
  assert.match(changed.body, pageSays('account.notices.name-changed'))
  assert.match(changed.body, /value="Ada King"/)
  const wrong = await ada.submit(changed, 'name', { name: 'Ada\u202eKing' })
  assert.equal(wrong.statusCode, 400)
  assert.match(wrong.body, /id="name-problem"/)
  const removed = await ada.submit(changed, 'name', { name: '' })
  assert.match(removed.body, /value=""/)
  assert.equal(selectAll(server, 'select name from users').filter(({ name }) => name === null).length, 1)
})

test('a form works after the user has signed in again in another tab', async () => {
  const page = await ada.open('/account')
  const signIn = await ada.browser.get('/v2/oauth/sign-in?page=overview')
  assert.match(signIn.body, pageSays('continueConfirmed'))
  assert.match(signIn.body, /value="ada@acme.test"/)
  assert.equal((await ada.browser.submit(signIn, { email: EMAIL, password: PASSWORD })).statusCode, 303)
  assert.match((await ada.submit(page, 'name', { name: 'Ada' })).body, pageSays('account.notices.name-changed'))
})

test('the password is changed only by a user who signed in within five minutes', async (t) => {
  const own = await openTestServer(t)
  await createAda(own)
  const owner = openOwner(own)
  const fresh = await owner.open('/account/security/password')
  const form = formsOf(fresh)[0]
  assert.ok(form)
  assert.ok(form.names.has('password'))
  own.clock.advance(6 * MINUTE_MS)
  const late = await owner.browser.post('/account/security/password', {
    ...form.hidden,
    password: 'another long horse',
    repeated: 'another long horse',
  })
  assert.equal(late.statusCode, 200)
  const [user] = selectAll(own, 'select password_hash from users')
  assert.deepEqual(formsOf(late), [])
  const confirm = /href="([^"]+)"[^>]*><span>Confirm that it is you/.exec(late.body)?.[1] ?? ''
  assert.equal(locationOf(await owner.browser.get('/account/security/password')), confirm)
  const signIn = await owner.browser.get(confirm)
  const back = await owner.browser.submit(signIn, { email: EMAIL, password: PASSWORD })
  assert.equal(locationOf(back), 'http://localhost:3000/account/security/password')
  assert.equal(formsOf(await owner.browser.get('/account/security/password')).length, 1)
  assert.deepEqual(selectAll(own, 'select password_hash from users'), [user])
})

test('PWD-01: a new password keeps the rules, signs all other browsers out, and is the one to sign in with', async (t) => {
  const own = await openTestServer(t)
  await createAda(own)
  const [owner, elsewhere] = [openOwner(own), openOwner(own)]
  await elsewhere.open('/account')
  const page = await owner.open('/account/security/password')
  const wrong = [
    ['short', 'short', /at least 15 characters/],
    ['x'.repeat(1025), 'x'.repeat(1025), /longer than any we accept/],
    ['Ada@ACME.test 1815', 'Ada@ACME.test 1815', /easy to guess/],
    ['another long horse', 'another hose', pageSays('account.passwordProblems.passwords-differ')],
  ] as const
  for (const [password, repeated, says] of wrong) {
    const answer = await owner.submit(page, 'password', { password, repeated })
    assert.equal(answer.statusCode, 400)
    assert.match(answer.body, says)
  }
  const changed = await owner.submit(page, 'password', {
    password: 'another long horse',
    repeated: 'another long horse',
  })
  assert.match(changed.body, pageSays('account.notices.password-changed'))
  assert.equal((await elsewhere.browser.get('/account')).statusCode, 303)
  assert.equal((await owner.browser.get('/account')).statusCode, 200)
  await assert.rejects(openOwner(own).open('/account'), pageSays('wrongCredentials'))
  assert.equal((await openOwner(own, EMAIL, 'another long horse').open('/account')).statusCode, 200)
})

/** Does something each time the server has verified or hashed a password, before it continues. */
function afterPassword(own: TestServer, step: 'hash' | 'verify', work: () => Promise<unknown>): void {
  const { passwords } = own.context
  const doing = async (...given: never[]): Promise<unknown> => {
    const result = await (passwords[step] as (...values: never[]) => Promise<unknown>)(...given)
    await work()
    return result
  }
  Object.assign(own.context, { passwords: { ...passwords, [step]: doing } })
}

test('a session that ends while it changes the password changes nothing', async (t) => {
  const own = await openTestServer(t)
  await createAda(own)
  const [thief, owner] = [openOwner(own), openOwner(own)]
  const page = await thief.open('/account/security/password')
  const others = await owner.open('/account/sessions')
  const before = selectAll(own, 'select password_hash from users')
  afterPassword(own, 'hash', () => owner.submit(others, 'others'))
  const answer = await thief.submit(page, 'password', {
    password: 'another long horse',
    repeated: 'another long horse',
  })
  assert.equal(answer.statusCode, 303)
  assert.match(locationOf(answer), /\/sign-in\?page=security$/)
  assert.deepEqual(selectAll(own, 'select password_hash from users'), before)
})

test('UI-13: a password that changes while a sign-in verifies the old one signs no user in', async (t) => {
  const own = await openTestServer(t)
  await createAda(own)
  const owner = openOwner(own)
  const [user] = selectAll(own, 'select user_id, password_hash from users')
  const id = user?.['user_id'] as UserId
  await owner.open('/account')
  const [session] = await own.context.store.listSessions({ userId: id, before: undefined, limit: 1 })
  assert.ok(session)
  const previousHash = String(user?.['password_hash'])
  const change = { id, passwordHash: 'another', previousHash, session: coversAll(session), mails: [] }
  afterPassword(own, 'verify', () => own.context.store.changePassword(change))
  await assert.rejects(openOwner(own).open('/account'), pageSays('wrongCredentials'))
  assert.equal((await owner.open('/account')).statusCode, 200)
  assert.equal(selectAll(own, 'select * from sessions').length, 1)
})

test('without passwords, or without an address, the account page offers no password', async (t) => {
  const own = await openTestServer(t)
  await createAda(own)
  const owner = openOwner(own)
  const page = await owner.open('/account/security/password')
  await own.close()
  const { folder, clock } = own
  const off = await openTestServer(t, { folder, clock, env: { GRANTOR_PASSWORDS: 'off' } })
  const after = openOwner(off)
  for (const [name, value] of owner.browser.cookies) after.browser.cookies.set(name, value)
  const shown = await after.open('/account/security')
  assert.match(shown.body, /<h2 id="row-0">Passkeys</)
  assert.doesNotMatch(shown.body, />Password</)
  assert.match(locationOf(await after.browser.get('/account/security/password')), /\/account\/security$/)
  const fields = { ...formsOf(page)[0]?.hidden, password: 'another long horse', repeated: 'another long horse' }
  assertLocalPage(await assertStoreUnchanged(off, () => after.browser.post('/account/security/password', fields)))
})

test('a user without a password sets one on a page that says so', async (t) => {
  const own = await openTestServer(t)
  await createAda(own)
  const owner = openOwner(own)
  assert.match((await owner.open('/account/security')).body, /You have a password[^]*>Change</)
  execute(own, 'update users set password_hash = null')
  assert.match((await owner.open('/account/security')).body, /You have no password[^]*>Set up</)
  const page = await owner.open('/account/security/password')
  assert.match(page.body, /<h1>Set password<\/h1>/)
  const set = await owner.submit(page, 'password', { password: 'another long horse', repeated: 'another long horse' })
  assert.match(set.body, /Your password is set[^]*You have a password/)
  assert.equal((await openOwner(own, EMAIL, 'another long horse').open('/account')).statusCode, 200)
})
