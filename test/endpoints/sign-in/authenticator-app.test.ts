import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { authorizeUrl, EMAIL, locationOf, PASSWORD, PlainBrowser, registerClient } from '../../../tools/flow.ts'
import { createAda } from '../../support/accounts.ts'
import { beginWindow, openTestServer, type TestServer, type TestServerOptions } from '../../support/server.ts'
import { addApp } from '../../../tools/sign-in/app.ts'
import { appOfPage, codesOfPage, doFirstStep, submitTo } from '../../support/sign-in/apps.ts'
import { execute, selectAll } from '../../support/store/dump.ts'
import { openMigratedDatabase } from '../../support/store/migrated-database.ts'
import { pageSays, pageTitled } from '../../texts/page-texts.ts'

const REQUIRED = { GRANTOR_SECOND_FACTOR: 'required' }
const STEP_MS = 30_000
const WINDOW_MS = 15 * 60_000

test('OTP-02, OTP-03: who needs a second step sets an app up with its first code, and then signs in with others', async (t) => {
  const { server, client } = await open(t, { env: REQUIRED })
  const browser = new PlainBrowser(server)
  const page = await doFirstStep(browser, client)
  assert.match(page.body, pageTitled('setUpSecondStep'))
  const app = appOfPage(server, page)
  const wrong = await browser.submit(page, { code: app.wrongCode() })
  assert.equal(wrong.statusCode, 401)
  assert.match(wrong.body, pageSays('codeWrong'))
  assert.equal(appOfPage(server, wrong).code(), app.code(), 'the page keeps the secret')
  assert.deepEqual(selectAll(server, 'select * from second_factors'), [])
  const codes = await browser.submit(wrong, { code: app.code() })
  assert.equal(codesOfPage(codes).length, 10)
  assert.match(codes.body, /download="recovery-codes.txt"/)
  assert.deepEqual(sessionsOf(server), [])
  const done = await browser.submit(codes, {})
  assert.match(locationOf(done), /\/consent\?/)
  assert.deepEqual(sessionsOf(server), ['pwd otp mfa'])
  const again = await doFirstStep(new PlainBrowser(server), client)
  assert.match(again.body, pageTitled('secondStep'))

  const other = new PlainBrowser(server)
  const second = await doFirstStep(other, client)
  const used = await submitTo(other, second, '/sign-in/code', { code: app.code() })
  assert.equal(used.statusCode, 401, 'OTP-04: the first code was used up')
  server.clock.advance(STEP_MS)
  assert.match(locationOf(await submitTo(other, used, '/sign-in/code', { code: app.code() })), /\/consent\?/)
  assert.deepEqual(sessionsOf(server), ['pwd otp mfa', 'pwd otp mfa'])
})

test('OTP-02: the steps of setting up cannot be skipped, mixed or repeated, nor used in another browser or by a user with an app', async (t) => {
  const { server, client } = await open(t, { env: REQUIRED })
  const browser = new PlainBrowser(server)
  const page = await doFirstStep(browser, client)
  const app = appOfPage(server, page)
  const skipped = await browser.post('/v2/oauth/sign-in/app/continue', hiddenOf(page))
  assert.equal(skipped.statusCode, 403)
  const bare = await browser.post('/v2/oauth/sign-in/app', { ...hiddenOf(page), waiting: '', code: app.code() })
  assert.equal(bare.statusCode, 403)
  const thief = new PlainBrowser(server)
  const own = await doFirstStep(thief, client)
  const stolen = await thief.post('/v2/oauth/sign-in/app', {
    ...hiddenOf(own),
    enrolment: hiddenOf(page)['enrolment'] ?? '',
    code: app.code(),
  })
  assert.match(stolen.body, pageTitled('setUpSecondStep'))
  assert.deepEqual(selectAll(server, 'select * from second_factors'), [])
  const codes = await browser.submit(page, { code: app.code() })
  assert.equal(codesOfPage(codes).length, 10)
  const late = await thief.submit(own, { code: appOfPage(server, own).code() })
  assert.match(late.body, pageTitled('secondStep'), 'the page now asks for a code of the app')
  assert.equal(selectAll(server, 'select * from second_factors').length, 1)
  const sealed = hiddenOf(codes)['enabled'] ?? ''
  const mixed = await thief.post('/v2/oauth/sign-in/app/continue', { ...hiddenOf(own), enabled: sealed })
  assert.equal(mixed.statusCode, 403)
  assert.deepEqual(sessionsOf(server), [])
  assert.equal((await browser.submit(codes, {})).statusCode, 303)
  assert.equal((await browser.submit(codes, {})).statusCode, 403, 'the sign-in was used up')
})

test('OTP-02: an app that the owner sets up while a thief of the password does the same stays', async (t) => {
  const { server, client } = await open(t, { env: REQUIRED })
  const { store } = server.context
  const { findSecondFactor } = store
  const [owner, thief] = [new PlainBrowser(server), new PlainBrowser(server)]
  const [own, other] = [await doFirstStep(owner, client), await doFirstStep(thief, client)]
  const apps: unknown[] = []
  const findBefore: typeof findSecondFactor = async (id) => {
    const found = await findSecondFactor(id)
    Object.assign(store, { findSecondFactor })
    const codes = await submitTo(owner, own, '/sign-in/app', { code: appOfPage(server, own).code() })
    assert.equal(codesOfPage(codes).length, 10)
    apps.push(await findSecondFactor(id))
    return found
  }
  Object.assign(store, { findSecondFactor: findBefore })
  await submitTo(thief, other, '/sign-in/app', { code: appOfPage(server, other).code() })
  const { id } = (await store.findUserByEmail(EMAIL)) ?? assert.fail()
  assert.deepEqual([await findSecondFactor(id)], apps)
})

test('OTP-02: the key of a page is valid for ten minutes, also if the first step is done again', async (t) => {
  const { server, client } = await open(t, { env: { ...REQUIRED, GRANTOR_AUTHORIZATION_LIFETIME: '3600' } })
  const browser = new PlainBrowser(server)
  const page = await doFirstStep(browser, client)
  const app = appOfPage(server, page)
  server.clock.advance(9 * 60_000)
  const again = await doFirstStep(browser, client)
  server.clock.advance(60_000)
  const form = { ...hiddenOf(again), enrolment: hiddenOf(page)['enrolment'] ?? '', code: app.code() }
  const answer = await browser.post('/v2/oauth/sign-in/app', form)
  assert.notEqual(appOfPage(server, answer).code(), app.code())
  assert.equal((await browser.submit(page, { code: app.code() })).statusCode, 403, 'the sign-in waits as long')
  assert.deepEqual(selectAll(server, 'select * from second_factors'), [])
})

test('OTP-04: a code of the step before or after is accepted, and none of two steps away', async (t) => {
  const { server, client } = await open(t)
  const app = await addApp(server)
  const tries = [-2, 2, -1, 0, 1].map(async (later) => {
    const browser = new PlainBrowser(server)
    const page = await doFirstStep(browser, client)
    return { later, browser, page }
  })
  const statuses: number[] = []
  for (const one of tries) {
    const { later, browser, page } = await one
    statuses.push((await submitTo(browser, page, '/sign-in/code', { code: app.code(later) })).statusCode)
  }
  assert.deepEqual(statuses, [401, 401, 303, 303, 303])
})

test('OTP-01, OTP-04: on two nodes at once, a hundred guesses are five, and one right code is one session', async (t) => {
  const url = await openMigratedDatabase(t)
  const env = { DATABASE_URL: url, GRANTOR_SECRET: 'a root secret that is long enough for it' }
  const first = await openTestServer(t, { env })
  const second = await openTestServer(t, { env, clock: first.clock })
  const nodes = [first, second]
  beginWindow(first)
  await createAda(first)
  const client = await registerClient(first)
  const app = await addApp(first)
  const browser = new PlainBrowser(first)
  const page = await doFirstStep(browser, client)
  const guess = (index: number, code: string) => {
    const there = new PlainBrowser(nodes[index % 2] ?? first)
    for (const [name, value] of browser.cookies) there.cookies.set(name, value)
    return submitTo(there, page, '/sign-in/code', { code })
  }
  const right = await Promise.all(Array.from({ length: 5 }, (_, index) => guess(index, app.code())))
  assert.deepEqual(tallyOf(right), { 303: 1, 401: 4 })
  first.clock.advance(WINDOW_MS)
  const third = new PlainBrowser(first)
  const fresh = await doFirstStep(third, client)
  const guesses = await Promise.all(
    Array.from({ length: 100 }, (_, index) => {
      const there = new PlainBrowser(nodes[index % 2] ?? first)
      for (const [name, value] of third.cookies) there.cookies.set(name, value)
      return submitTo(there, fresh, '/sign-in/code', { code: app.wrongCode() })
    }),
  )
  assert.deepEqual(tallyOf(guesses), { 401: 5, 429: 95 })
})

test('OTP-01: wrong codes of an unknown browser lock neither its owner nor its network out, nor wrong recovery codes', async (t) => {
  const { server, client } = await open(t)
  const app = await addApp(server)
  const owner = new PlainBrowser(server)
  const start = await doFirstStep(owner, client)
  assert.equal((await submitTo(owner, start, '/sign-in/code', { code: app.code() })).statusCode, 303)
  const thief = new PlainBrowser(server)
  const stolen = await doFirstStep(thief, client)
  const wrong = () => submitTo(thief, stolen, '/sign-in/code', { code: app.wrongCode() })
  for (let count = 0; count < 5; count += 1) assert.equal((await wrong()).statusCode, 401)
  const refused = await wrong()
  assert.deepEqual([refused.statusCode, Number(refused.headers['retry-after']) > 0], [429, true])
  server.clock.advance(STEP_MS)
  assert.equal((await submitTo(thief, stolen, '/sign-in/code', { code: app.code() })).statusCode, 429)
  for (const name of owner.cookies.keys()) if (name.includes('session')) owner.cookies.delete(name)
  const known = await doFirstStep(owner, client)
  assert.equal((await submitTo(owner, known, '/sign-in/code', { code: app.code() })).statusCode, 303)
  const guess = () => submitTo(thief, stolen, '/sign-in/recovery-code', { code: 'abcd-efgh-jkmn-pqrs' })
  for (let count = 0; count < 50; count += 1) assert.equal((await guess()).statusCode, 401)
  assert.equal((await guess()).statusCode, 429)
  const [code = ''] = app.recoveryCodes
  const elsewhere = new PlainBrowser(server)
  const page = await doFirstStep(elsewhere, client)
  const typed = { code: ` ${code.toUpperCase().replaceAll('-', ' ')}` }
  assert.equal((await submitTo(elsewhere, page, '/sign-in/recovery-code', typed)).statusCode, 303)
  const more = new PlainBrowser(server)
  const again = await doFirstStep(more, client)
  const twice = await submitTo(more, again, '/sign-in/recovery-code', { code })
  assert.equal(twice.statusCode, 401)
  assert.match(twice.body, pageSays('recoveryCodeWrong'))
  assert.deepEqual(sessionsOf(server).at(-1), 'pwd mfa recovery')
})

test('OTP-01: after 100 wrong codes over days, a right one of an unknown browser is refused', async (t) => {
  const { server, client } = await open(t)
  const app = await addApp(server)
  execute(server, 'update second_factors set failures = 98')
  const guesser = new PlainBrowser(server)
  const guessed = await doFirstStep(guesser, client)
  for (const status of [401, 401, 403])
    assert.equal((await submitTo(guesser, guessed, '/sign-in/code', { code: app.wrongCode() })).statusCode, status)
  const browser = new PlainBrowser(server)
  const page = await doFirstStep(browser, client)
  const locked = await submitTo(browser, page, '/sign-in/code', { code: app.code() })
  assert.equal(locked.statusCode, 403)
  assert.match(locked.body, pageSays('codesLocked'))
  const [code = ''] = app.recoveryCodes
  assert.equal((await submitTo(browser, locked, '/sign-in/recovery-code', { code })).statusCode, 303)
})

test('OTP-05: an app that is set up between the right password and the session refuses a session without its step', async (t) => {
  const { server, client } = await open(t)
  const { store } = server.context
  const browser = new PlainBrowser(server)
  const page = await browser.get(locationOf(await browser.get(authorizeUrl(client))))
  // The read of the sign-in, as it was before the app.
  const before = await store.findUserByEmail(EMAIL)
  await addApp(server)
  const answer = await browser.submit(page, { email: EMAIL, password: PASSWORD })
  assert.match(answer.body, pageTitled('secondStep'))
  assert.equal(before?.passwordHash, (await store.findUserByEmail(EMAIL))?.passwordHash)
  assert.deepEqual(sessionsOf(server), [])
})

async function open(t: TestContext, options: TestServerOptions = {}) {
  const server = await openTestServer(t, options)
  beginWindow(server)
  await createAda(server)
  return { server, client: await registerClient(server) }
}

function sessionsOf(server: TestServer): readonly unknown[] {
  return selectAll(server, 'select methods from sessions order by session_id').map((row) => row['methods'])
}

function hiddenOf({ body }: { readonly body: string }): Record<string, string> {
  const inputs = body.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)"/g)
  return Object.fromEntries([...inputs].map(([, name = '', value = '']) => [name, value]))
}

function tallyOf(answers: readonly { readonly statusCode: number }[]): Record<number, number> {
  const counts: Record<number, number> = {}
  for (const { statusCode } of answers) counts[statusCode] = (counts[statusCode] ?? 0) + 1
  return counts
}
