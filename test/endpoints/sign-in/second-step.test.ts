import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  authorizeUrl,
  locationOf,
  PlainBrowser,
  registerClient,
  signInAndAllow,
  EMAIL,
  PASSWORD,
} from '../../../tools/flow.ts'
import { createAda } from '../../support/accounts.ts'
import { openTestServer } from '../../support/server.ts'
import { selectAll } from '../../support/store/dump.ts'

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
  assert.match(answer.body, /<h1>Set up two-step sign-in<\/h1>/)
  assert.deepEqual([...browser.cookies.keys()], cookies)
  assert.deepEqual(selectAll(server, 'select * from sessions'), [])
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
