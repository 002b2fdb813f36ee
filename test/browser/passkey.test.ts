import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page as Tab } from 'playwright-core'
import { sharedBrowser } from '../support/browser.ts'
import { axeFindings, openIssuer, openTab, signIn } from './tab.ts'

/** Passkeys in a real browser, with an authenticator that Chromium simulates. */

const browser = await sharedBrowser()

/** `isUserVerified`: the user proves to be the owner of the authenticator. */
async function plugIn(tab: Tab, isUserVerified: boolean): Promise<void> {
  const session = await tab.context().newCDPSession(tab)
  await session.send('WebAuthn.enable')
  await session.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified,
      automaticPresenceSimulation: true,
    },
  })
}

for (const [locale, words] of [
  [
    'en-GB',
    { add: 'Add a passkey', signIn: 'Sign in with a passkey', done: /You can sign in this way/, noted: /used/ },
  ],
  ['de-DE', { add: 'Passkey hinzufügen', signIn: 'Mit Passkey anmelden', done: /ab jetzt auch so/, noted: /benutzt/ }],
] as const)
  test(`PK-05: a user adds a passkey and signs in with it by the button, ${locale}; answers whose functions throw work`, async (t) => {
    const server = await openIssuer(t, {})
    const { tab, complaints } = await openTab(t, browser, [server.origin], { locale })
    // As extensions of common password managers do.
    await tab.addInitScript(`
      const fail = () => { throw new TypeError('Illegal invocation') }
      PublicKeyCredential.prototype.toJSON = fail
      AuthenticatorAttestationResponse.prototype.getPublicKey = fail
      AuthenticatorAttestationResponse.prototype.getTransports = fail
    `)
    await tab.goto(`${server.origin}/account/security?ui_locales=en`)
    await signIn(tab)
    await tab.waitForURL(/\/account\/security/)
    await tab.goto(`${server.origin}/account/security/add-passkey`)
    await plugIn(tab, true)
    assert.deepEqual(await axeFindings(tab), [])
    await tab.getByRole('button', { name: words.add }).click()
    assert.match(await tab.getByRole('status').innerText(), words.done)
    assert.deepEqual(await axeFindings(tab), [])
    const [session] = await server.context.store.listSessions({ before: undefined, limit: 1 })
    assert.deepEqual(session?.authentication.methods, ['pwd'])
    await tab.context().clearCookies()
    await tab.goto(`${server.origin}/account/security`)
    // Where the browser offers it, the conditional request may have been answered before the button is pressed.
    await tab
      .getByRole('button', { name: words.signIn })
      .click({ timeout: 3000 })
      .catch(() => undefined)
    await tab.waitForURL(/\/account\/security/)
    const [last] = await server.context.store.listSessions({ before: undefined, limit: 1 })
    assert.deepEqual(last?.authentication.methods, ['pop', 'mfa'])
    assert.match(await tab.locator('main').innerText(), words.noted)
    assert.deepEqual(complaints, [])
  })
