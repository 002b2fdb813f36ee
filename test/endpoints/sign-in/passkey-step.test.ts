import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import {
  authorizeUrl,
  locationOf,
  PlainBrowser,
  registerClient,
  EMAIL,
  type RegisteredClient,
} from '../../../tools/flow.ts'
import { addApp } from '../../../tools/sign-in/app.ts'
import { openAuthenticator } from '../../../tools/sign-in/authenticator.ts'
import { madeFields, passkeyFormOf, signedFields } from '../../../tools/sign-in/passkeys.ts'
import type { UserId } from '../../../src/protocol/ids.ts'
import { createAccount, createAda } from '../../support/accounts.ts'
import { doFirstStep, submitTo } from '../../support/sign-in/apps.ts'
import { openTestServer, type TestServer } from '../../support/server.ts'
import { execute, selectAll } from '../../support/store/dump.ts'
import { pageSays, pageTitled } from '../../texts/page-texts.ts'

const NEW = '/v2/oauth/sign-in/new-passkey'
const STEP = '/v2/oauth/sign-in/second-passkey'

test('OTP-03: who needs a second step sets a passkey up, and confirms later sign-ins with it', async (t) => {
  const { server, client, userId } = await open(t)
  const authenticator = openAuthenticator()
  const browser = new PlainBrowser(server)
  const page = await doFirstStep(browser, client)
  assert.match(page.body, pageTitled('setUpSecondStep'))
  assert.equal(new URL(passkeyFormOf(page).action).pathname, NEW)
  const wrong = await browser.post(NEW, madeFields(page, authenticator, { origin: 'https://evil.test' }))
  assert.equal(wrong.statusCode, 401)
  assert.match(wrong.body, pageSays('passkeyFailed'))
  assert.match(locationOf(await browser.post(NEW, madeFields(wrong, authenticator))), /\/consent\?/)
  assert.deepEqual(sessionsOf(server), ['pwd pop mfa'])

  const later = new PlainBrowser(server)
  const second = await doFirstStep(later, client)
  assert.match(second.body, pageTitled('secondStep'))
  assert.ok(!second.body.includes('class="key"'), 'a password alone sets no app up beside the passkey')
  assert.deepEqual(passkeyFormOf(second).asked.credentials, [authenticator.credentialId])
  const fields = { ...signedFields(second, { userId, authenticator }), userHandle: '' }
  assert.match(locationOf(await later.post(STEP, fields)), /\/consent\?/)
  assert.deepEqual(sessionsOf(server), ['pwd pop mfa', 'pwd pop mfa'])
  assert.equal((await later.post(STEP, fields)).statusCode, 401, 'the signature was used up')
})

test('PK-02, PK-04: a second step takes no signature of another user, sign-in or browser, and no new passkey beside a factor', async (t) => {
  const { server, client, userId } = await open(t)
  const authenticator = openAuthenticator()
  const browser = new PlainBrowser(server)
  await browser.post(NEW, madeFields(await doFirstStep(browser, client), authenticator))
  const grace = await createAccount(server, { email: 'grace@acme.test', password: undefined, name: undefined })
  const passkeys = selectAll(server, 'select * from passkeys')

  const thief = new PlainBrowser(server)
  const signIn = await thief.get(locationOf(await thief.get(authorizeUrl(client))))
  const page = await doFirstStep(thief, client)
  const right = signedFields(page, { userId, authenticator })
  const { hidden } = passkeyFormOf(page)
  const other = await doFirstStep(new PlainBrowser(server), client)
  const refused: readonly (readonly [string, Readonly<Record<string, string>>])[] = [
    ['another user', { ...right, userHandle: Buffer.from(grace.id).toString('base64url') }],
    ['the challenge of the sign-in page', { ...signedFields(signIn, { userId, authenticator }), ...hidden }],
    ['the challenge of another browser', { ...signedFields(other, { userId, authenticator }), ...hidden }],
    ['another authenticator', { ...signedFields(page, { userId, authenticator: openAuthenticator() }), ...hidden }],
    ['no verification of the user', signedFields(page, { userId, authenticator, flags: 0x01 })],
  ]
  for (const [name, fields] of refused) {
    const { credential = '', clientDataJSON = '', authenticatorData = '', signature = '', userHandle = '' } = fields
    const answer = { ...hidden, credential, clientDataJSON, authenticatorData, signature, userHandle }
    assert.equal((await thief.post(STEP, answer)).statusCode, 401, name)
  }
  await thief.post(NEW, madeFields(page, openAuthenticator()))
  assert.deepEqual(sessionsOf(server), ['pwd pop mfa'])
  assert.deepEqual(selectAll(server, 'select * from passkeys'), passkeys)
})

test('a user with an app and a passkey chooses between them', async (t) => {
  const { server, client, userId } = await open(t)
  const authenticator = openAuthenticator()
  const browser = new PlainBrowser(server)
  await browser.post(NEW, madeFields(await doFirstStep(browser, client), authenticator))
  const app = await addApp(server)
  for (const confirm of [
    (by: PlainBrowser, page: Page) => submitTo(by, page, '/sign-in/code', { code: app.code() }),
    (by: PlainBrowser, page: Page) => by.post(STEP, signedFields(page, { userId, authenticator })),
  ]) {
    const by = new PlainBrowser(server)
    assert.match(locationOf(await confirm(by, await doFirstStep(by, client))), /\/consent\?/)
  }
  assert.deepEqual(sessionsOf(server), ['pwd pop mfa', 'pwd otp mfa', 'pwd pop mfa'])
})

test('OTP-01, OTP-07: a passkey of the account works beside an app that is locked or void', async (t) => {
  for (const [state, sql] of [
    ['locked', 'update second_factors set failures = 100'],
    ['void', `update second_factors set secret = 'x'`],
  ] as const) {
    const { server, client, userId } = await open(t)
    const authenticator = openAuthenticator()
    const browser = new PlainBrowser(server)
    await browser.post(NEW, madeFields(await doFirstStep(browser, client), authenticator))
    await addApp(server)
    execute(server, sql)
    const by = new PlainBrowser(server)
    const page = await doFirstStep(by, client)
    assert.equal(page.body.includes('/sign-in/code"'), state === 'locked', state)
    assert.doesNotMatch(page.body, /sign-in\/(?:app|new-passkey)"/, state)
    assert.equal((await by.post(STEP, signedFields(page, { userId, authenticator }))).statusCode, 303, state)
    assert.equal(selectAll(server, 'select failures from second_factors')[0]?.['failures'], 0, state)
  }
})

type Page = Awaited<ReturnType<typeof doFirstStep>>

async function open(
  t: TestContext,
): Promise<{ readonly server: TestServer; readonly client: RegisteredClient; readonly userId: UserId }> {
  const server = await openTestServer(t, { env: { GRANTOR_SECOND_FACTOR: 'required' } })
  await createAda(server)
  const user = await server.context.store.findUserByEmail(EMAIL)
  assert.ok(user)
  return { server, client: await registerClient(server), userId: user.id }
}

/** The methods of each session, the oldest first. */
function sessionsOf(server: TestServer): readonly unknown[] {
  return selectAll(server, 'select methods from sessions order by session_id').map(({ methods }) => methods)
}
