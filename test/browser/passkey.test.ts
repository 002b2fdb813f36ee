import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import type { BrowserContextOptions } from 'playwright-core'
import { createLink } from '../../src/admin/user/link.ts'
import { EMAIL } from '../../tools/flow.ts'
import { addApp } from '../../tools/sign-in/app.ts'
import { sharedBrowser } from '../support/browser.ts'
import { WHOLE_FILE } from '../support/authorize-answers.ts'
import { readEvents } from '../../src/protocol/audit/audit-link.ts'
import type { EpochMs } from '../../src/base/brand.ts'
import type { PasskeyId } from '../../src/protocol/sign-in/passkey.ts'
import { NO_AUTOFILL, plugIn } from './authenticator.ts'
import { axeFindings, openIssuer, openTab, press, signIn, startClient, type WatchedTab } from './tab.ts'
import { pageSays, sentence } from '../texts/page-texts.ts'

/** Passkeys in a real browser, with an authenticator that Chromium simulates. */

const browser = await sharedBrowser()

for (const [locale, words, functions] of [
  [
    'en-GB',
    {
      add: 'Add a passkey',
      signIn: sentence('passkeySignIn'),
      done: pageSays('account.linkUsedByPasskey'),
      noted: /used/,
    },
    'fail',
  ],
  [
    'de-DE',
    {
      add: 'Passkey hinzufügen',
      signIn: 'Mit Passkey anmelden',
      done: /Ihr Passkey ist hinzugefügt/,
      noted: /benutzt/,
    },
    'undefined',
  ],
] as const)
  test(`PK-05: a user adds a passkey and signs in with it by the button, ${locale}; answers whose functions ${functions === 'fail' ? 'throw' : 'are missing, and which name no transports,'} work`, async (t) => {
    const server = await openIssuer(t, {})
    const { tab, complaints } = await openTab(t, browser, [server.origin], { locale })
    await tab.addInitScript(NO_AUTOFILL)
    // As extensions of common password managers do.
    await tab.addInitScript(`
      const fail = () => { throw new TypeError('Illegal invocation') }
      PublicKeyCredential.prototype.toJSON = ${functions}
      AuthenticatorAttestationResponse.prototype.getPublicKey = ${functions}
      AuthenticatorAttestationResponse.prototype.getTransports = ${functions}
    `)
    await tab.goto(`${server.origin}/account/security?ui_locales=en`)
    await signIn(tab)
    await tab.waitForURL(/\/account\/security/)
    await tab.goto(`${server.origin}/account/security/add-passkey`)
    await plugIn(tab, {})
    assert.deepEqual(await axeFindings(tab), [])
    await tab.getByRole('button', { name: words.add }).click()
    assert.match(await tab.getByRole('status').innerText(), words.done)
    assert.deepEqual(await axeFindings(tab), [])
    const [session] = await server.context.store.listSessions({ before: undefined, limit: 1 })
    assert.deepEqual(session?.authentication.methods, ['pwd'])
    await tab.context().clearCookies()
    await tab.goto(`${server.origin}/account/security`)
    await press(tab, words.signIn)
    await tab.waitForURL(/\/account\/security/)
    const [last] = await server.context.store.listSessions({ before: undefined, limit: 1 })
    assert.deepEqual(last?.authentication.methods, ['pop', 'mfa'])
    assert.match(await tab.locator('main').innerText(), words.noted)
    assert.deepEqual(complaints, [])
  })

test('RFC 9470 §5: a signed-in user confirms with a code for two factors, then with a passkey for phr, and reaches the consent page', async (t) => {
  const server = await openIssuer(t, {})
  const { tab, complaints } = await openTab(t, browser, [server.origin], {})
  await tab.addInitScript(NO_AUTOFILL)
  await tab.goto(`${server.origin}/account/security`)
  await signIn(tab)
  await tab.goto(`${server.origin}/account/security/add-passkey`)
  await plugIn(tab, {})
  await press(tab, 'Add a passkey')
  await tab.getByRole('status').waitFor()
  const app = await addApp(server)
  const stepUp = async (acr_values: string, confirm: () => Promise<void>, methods: readonly string[]) => {
    const { link } = await startClient(server, 'http://127.0.0.1:9/cb', { acr_values }, {})
    await tab.goto(link)
    assert.match(await tab.locator('main').innerText(), /Cursor asks for more: confirm with your second step\./)
    assert.equal(await tab.locator('#code').count(), acr_values === 'phr' ? 0 : 1)
    assert.deepEqual(await axeFindings(tab), [])
    await confirm()
    await tab.getByRole('button', { name: 'Allow', exact: true }).waitFor()
    const [session] = await server.context.store.listSessions({ before: undefined, limit: 1 })
    assert.deepEqual(session?.authentication.methods, methods)
  }
  const typeCode = async () => {
    await tab.locator('#code').fill(app.code())
    await tab.locator('form:has(#code) button[type="submit"]').click()
  }
  await stepUp('urn:grantor:acr:2fa', typeCode, ['pwd', 'otp', 'mfa'])
  await stepUp('phr', () => press(tab, sentence('passkeyStep')), ['pwd', 'otp', 'mfa', 'pop'])
  assert.deepEqual(complaints, [])
})

/** Ada's passkey, as her authenticator has it, and as the server of the following tests has it. */
const issuer = await openIssuer(WHOLE_FILE, {})
const { store } = issuer.context
const key = await addPasskey()

async function addPasskey() {
  const { tab } = await openTab(WHOLE_FILE, browser, [issuer.origin], {})
  await tab.goto(`${issuer.origin}/account/security`)
  await signIn(tab)
  await tab.goto(`${issuer.origin}/account/security/add-passkey`)
  const list = await plugIn(tab, {})
  await press(tab, 'Add a passkey')
  await tab.getByRole('status').waitFor()
  const [credential] = await list()
  const [account] = await store.listUsers({ before: undefined, limit: 1 })
  assert.ok(credential !== undefined && account !== undefined)
  await tab.context().close()
  return { credential, userId: account.id }
}

/** Opens the sign-in page in a new browser, whose authenticator has Ada's passkey with this counter. */
async function openWithKey(
  t: Pick<TestContext, 'after'>,
  signCount: number,
  { isUserVerified = true, script = '' }: { readonly isUserVerified?: boolean; readonly script?: string } = {},
): Promise<WatchedTab> {
  const watched = await openTab(t, browser, [issuer.origin], {})
  const { tab } = watched
  await plugIn(tab, { isUserVerified, passkeys: [{ ...key.credential, signCount }] })
  await tab.addInitScript(script)
  await tab.goto(`${issuer.origin}/account/security`)
  return watched
}

/** A browser that asks for less than the page wants. */
const UNVERIFIED = `${NO_AUTOFILL}
  const get = navigator.credentials.get.bind(navigator.credentials)
  navigator.credentials.get = (options) => {
    options.publicKey.userVerification = 'discouraged'
    return get(options)
  }`

async function countEvents(name: string): Promise<number> {
  const links = await store.listAuditLinks({ before: undefined, limit: 200, since: 0 as EpochMs })
  return links.flatMap((link) => readEvents(link)).filter((one) => one.event === name).length
}

async function countSessions(): Promise<number> {
  return (await store.listSessions({ before: undefined, limit: 50 })).length
}

test('WebAuthn §5.1.4: the field of the address offers the passkey, and its choice signs in', async (t) => {
  const { tab, complaints } = await openWithKey(t, 10)
  await tab.waitForURL(/\/account\/security/)
  const [last] = await store.listSessions({ before: undefined, limit: 1 })
  assert.deepEqual(last?.authentication.methods, ['pop', 'mfa'])
  assert.deepEqual(complaints, [])
})

test('PK-04: an answer whose authenticator did not verify the user is refused', async (t) => {
  const before = await countSessions()
  const { tab, complaints } = await openWithKey(t, 20, { isUserVerified: false, script: UNVERIFIED })
  await press(tab, sentence('passkeySignIn'))
  await tab.getByText(sentence('passkeyFailed')).filter({ visible: true }).waitFor()
  assert.equal(await countSessions(), before)
  assert.deepEqual(complaints, [])
})

test('WebAuthn §5.1.4.1: a person who cancels, or whose device has no passkey, reads that none was used', async (t) => {
  const cancel = `navigator.credentials.get = async () => { throw new DOMException('cancelled', 'NotAllowedError') }`
  const { tab, complaints } = await openWithKey(t, 20, { script: `${NO_AUTOFILL}; ${cancel}` })
  await press(tab, sentence('passkeySignIn'))
  await tab.getByText('No passkey was used.').filter({ visible: true }).waitFor()
  assert.deepEqual(complaints, [])
})

test('PK-05: a large counter signs in, and one that is lower then, too, which the audit records', async (t) => {
  const largest = 2 ** 31 - 2
  for (const [signCount, events] of [
    [largest, 0],
    [5, 1],
  ] as const) {
    const { tab, complaints } = await openWithKey(t, signCount, { script: NO_AUTOFILL })
    await press(tab, sentence('passkeySignIn'))
    await tab.waitForURL(/\/account\/security/)
    assert.equal(await countEvents('passkey.counter-back'), events)
    const [stored] = await store.listPasskeys(key.userId)
    assert.equal(stored?.counter, largest + 1)
    assert.deepEqual(complaints, [])
  }
})

test('a browser without scripts shows no button for passkeys, and the password signs in', async (t) => {
  const options: BrowserContextOptions = { javaScriptEnabled: false }
  const { tab, complaints } = await openTab(t, browser, [issuer.origin], options)
  await tab.goto(`${issuer.origin}/account/security`)
  const buttons = tab.getByRole('button').filter({ visible: true })
  assert.deepEqual(await buttons.allInnerTexts(), ['Sign in'])
  await signIn(tab)
  await tab.waitForURL(/\/account\/security/)
  assert.deepEqual(complaints, [])
})

test('PK-10: a passkey that was removed does not sign in, and the page says so', async (t) => {
  const [stored] = await store.listPasskeys(key.userId)
  const removal = { userId: key.userId, id: stored?.id as PasskeyId, by: { kind: 'operator' }, mails: [] } as const
  assert.equal(await store.removePasskey(removal), 'removed')
  const { tab, complaints } = await openWithKey(t, 2 ** 31 - 1, { script: NO_AUTOFILL })
  await press(tab, sentence('passkeySignIn'))
  await tab.getByText(sentence('passkeyUnknown')).waitFor()
  assert.equal(await countSessions(), 0)
  assert.deepEqual(complaints, [])
})

test('LNK-01: a reset by a link adds a passkey, which signs in, and the password of before does not', async (t) => {
  const server = await openIssuer(t, {})
  const { tab, complaints } = await openTab(t, browser, [server.origin], {})
  const { address } = await createLink(server.context, EMAIL)
  await tab.goto(address)
  await plugIn(tab, {})
  assert.deepEqual(await axeFindings(tab), [])
  await press(tab, 'Add a passkey')
  await tab.getByRole('heading', { name: sentence('account.linkUsedByPasskey') }).waitFor()
  assert.equal((await server.context.store.findUserByEmail(EMAIL))?.passwordHash, undefined)
  await tab.goto(`${server.origin}/account/security`)
  await tab
    .getByRole('button', { name: sentence('passkeySignIn') })
    .click({ timeout: 3000 })
    .catch(() => undefined)
  await tab.waitForURL(/\/account\/security/)
  const [session] = await server.context.store.listSessions({ before: undefined, limit: 1 })
  assert.deepEqual(session?.authentication.methods, ['pop', 'mfa'])
  assert.deepEqual(complaints, [])
})
