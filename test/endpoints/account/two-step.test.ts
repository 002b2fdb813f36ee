import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { authorizeUrl, PASSWORD, EMAIL, PlainBrowser, registerClient, signInAndAllow } from '../../../tools/flow.ts'
import { createAda } from '../../support/accounts.ts'
import { openTestServer, type TestServerOptions } from '../../support/server.ts'
import { addApp } from '../../../tools/sign-in/app.ts'
import { appOfPage, codesOfPage, doFirstStep, submitTo } from '../../support/sign-in/apps.ts'
import { selectAll } from '../../support/store/dump.ts'
import { openOwner } from './owner.ts'
import { pageSays } from '../../texts/page-texts.ts'

const [APP, CODES, OFF] = [
  '/account/security/app',
  '/account/security/recovery-codes',
  '/account/security/remove-two-step',
]

test('a user sets an app up, signs in with it, makes new codes, replaces it, and switches it off', async (t) => {
  const { server, client } = await open(t)
  const elsewhere = new PlainBrowser(server)
  await signInAndAllow(elsewhere, authorizeUrl(client))
  const owner = openOwner(server)
  assert.match((await owner.open('/account/security')).body, /It is off/)
  const page = await owner.open(APP)
  const app = appOfPage(server, page)
  const wrong = await owner.submit(page, 'code', { code: app.wrongCode() })
  assert.equal(wrong.statusCode, 400)
  assert.deepEqual(rowsOf(server), [0, 0])
  const codes = codesOfPage(await owner.submit(wrong, 'code', { code: app.code() }))
  assert.equal(codes.length, 10)
  assert.deepEqual(rowsOf(server), [1, 10])
  assert.equal(selectAll(server, 'select * from sessions').length, 1, 'the other browsers are signed out')
  assert.match((await owner.open('/account/security')).body, /It is on[^]*10 recovery codes left/)

  server.clock.advance(30_000)
  const other = new PlainBrowser(server)
  const second = await doFirstStep(other, client)
  assert.equal((await submitTo(other, second, '/sign-in/code', { code: app.code() })).statusCode, 303)

  // The session in which the app was set up has no second factor itself.
  assert.equal((await owner.browser.get(CODES)).statusCode, 303)
  for (const [name, value] of other.cookies) owner.browser.cookies.set(name, value)
  const asked = await owner.open(CODES)
  assert.deepEqual(codesOfPage(asked), [])
  const fresh = codesOfPage(await owner.submit(asked, 'csrf', {}))
  assert.equal(fresh.length, 10)
  assert.ok(fresh.every((code) => !codes.includes(code)))
  const third = new PlainBrowser(server)
  const waiting = await doFirstStep(third, client)
  assert.equal((await submitTo(third, waiting, '/recovery-code', { code: codes[0] ?? '' })).statusCode, 401)
  assert.equal((await submitTo(third, waiting, '/recovery-code', { code: fresh[0] ?? '' })).statusCode, 303)

  const replacing = await owner.open(APP)
  const next = appOfPage(server, replacing)
  assert.notEqual(next.code(), app.code())
  assert.equal(codesOfPage(await owner.submit(replacing, 'code', { code: next.code() })).length, 10)
  const off = await owner.submit(await owner.open(OFF), 'csrf', {})
  assert.match(off.body, /Two-step sign-in is off/)
  assert.deepEqual(rowsOf(server), [0, 0])
  assert.equal((await doFirstStep(new PlainBrowser(server), client)).statusCode, 303)
})

test('OTP-02: a session older than five minutes, another site and another user change no second factor', async (t) => {
  const { server } = await open(t)
  const app = await addApp(server)
  const owner = openOwner(server)
  const first = await owner.browser.get('/account/security')
  const signIn = await owner.browser.get(first.headers.location ?? '')
  const step = await owner.browser.submit(signIn, { email: EMAIL, password: PASSWORD })
  await submitTo(owner.browser, step, '/sign-in/code', { code: app.code() })
  const pages = await Promise.all([APP, CODES, OFF].map((path) => owner.browser.get(path)))
  assert.deepEqual(
    pages.map(({ statusCode }) => statusCode),
    [200, 200, 200],
  )
  const before = [
    ...selectAll(server, 'select * from second_factors'),
    ...selectAll(server, 'select * from recovery_codes'),
  ]
  const [set] = pages
  const code = { code: appOfPage(server, set ?? first).code() }
  for (const [index, path] of [APP, CODES, OFF].entries()) {
    const fields = /name="csrf" value="([^"]+)"/.exec(pages[index]?.body ?? '')?.[1] ?? ''
    const foreign = await owner.browser.post(path, { csrf: fields, ...code }, { 'sec-fetch-site': 'cross-site' })
    assert.equal(foreign.statusCode, 403, path)
    const stranger = await owner.browser.post(path, { csrf: 'wrong', ...code })
    assert.equal(stranger.statusCode, 403, path)
  }
  server.clock.advance(5 * 60_000 + 1)
  for (const page of pages) {
    const late = await owner.submit(page, 'csrf', code)
    assert.match(late.body, /Confirm/)
  }
  const after = [
    ...selectAll(server, 'select * from second_factors'),
    ...selectAll(server, 'select * from recovery_codes'),
  ]
  assert.deepEqual(after, before)
})

test('OTP-03: where two factors are required, an app is replaced, and not switched off', async (t) => {
  const { server } = await open(t, { env: { GRANTOR_SECOND_FACTOR: 'required' } })
  const app = await addApp(server)
  const browser = new PlainBrowser(server)
  const start = await browser.get((await browser.get('/account/security')).headers.location ?? '')
  const step = await browser.submit(start, { email: EMAIL, password: PASSWORD })
  await submitTo(browser, step, '/sign-in/code', { code: app.code() })
  const security = await browser.get('/account/security')
  assert.match(security.body, pageSays('account.replaceApp'))
  assert.doesNotMatch(security.body, /remove-two-step/)
  assert.equal((await browser.get(OFF)).statusCode, 303)
  const { csrf = '' } = /name="csrf" value="(?<csrf>[^"]+)"/.exec((await browser.get(CODES)).body)?.groups ?? {}
  await browser.post(OFF, { csrf })
  assert.deepEqual(rowsOf(server), [1, 10])
})

async function open(t: TestContext, options: TestServerOptions = {}) {
  const server = await openTestServer(t, options)
  await createAda(server)
  return { server, client: await registerClient(server) }
}

function rowsOf(server: Parameters<typeof selectAll>[0]): readonly number[] {
  return ['second_factors', 'recovery_codes'].map((table) => selectAll(server, `select * from ${table}`).length)
}
