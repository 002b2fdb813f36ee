import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { decodeJwt } from 'jose'
import type { BrowserContextOptions } from 'playwright-core'
import type { OrganizationId, UserId } from '../../src/protocol/ids.ts'
import { sharedBrowser } from '../support/browser.ts'
import { EMAIL, PASSWORD, redeem, type Tokens } from '../../tools/flow.ts'
import { addMember, createOrganization } from '../support/organizations.ts'
import { axeFindings, openIssuer, openListener, openTab, press, signIn, startClient } from './tab.ts'

/** Users choose an organization in a real browser. */

const browser = await sharedBrowser()

test('an organization can be chosen by its first letter with the keyboard, and the token is for that organization', async (t) => {
  const { tab, organizations, redeemNext, complaints } = await openConsent(t, ['Acme', 'Beta'], {})
  await signIn(tab)
  const picker = tab.getByLabel('Organization', { exact: true })
  await picker.waitFor()
  assert.deepEqual(await axeFindings(tab), [])
  const reached: string[] = []
  while (reached.at(-1) !== 'SELECT' && reached.length < 10) {
    await tab.keyboard.press('Tab')
    reached.push(await tab.evaluate<string>('document.activeElement.tagName'))
  }
  assert.deepEqual(reached, ['A', 'SELECT'])
  await tab.keyboard.type('B')
  await tab.keyboard.press('Tab')
  await tab.keyboard.press('Tab')
  await tab.keyboard.press('Enter')
  assert.equal(await redeemNext(), organizations[1])
  assert.deepEqual(complaints, [])
})

test('without a chosen organization the browser asks for one before Allow, and not before Deny', async (t) => {
  const { tab, next } = await openConsent(t, ['Acme', 'Beta'], {})
  await signIn(tab)
  await press(tab, 'Allow')
  await tab.locator('select:focus').waitFor()
  assert.equal(await tab.evaluate<boolean>('document.activeElement.validity.valueMissing'), true)
  await press(tab, 'Deny')
  assert.equal((await next()).searchParams.get('error'), 'access_denied')
})

test('for a user of one organization Allow needs no choice, and the token is for that organization', async (t) => {
  const { tab, organizations, redeemNext } = await openConsent(t, ['Acme'], { javaScriptEnabled: false })
  await signIn(tab)
  await press(tab, 'Allow')
  assert.equal(await redeemNext(), organizations[0])
})

test('in a German browser the choice of no organization is in German', async (t) => {
  const { tab, redeemNext } = await openConsent(t, ['Acme', 'Beta'], { locale: 'de-AT' })
  await tab.getByLabel('E-Mail', { exact: true }).fill(EMAIL)
  await tab.getByLabel('Passwort', { exact: true }).fill(PASSWORD)
  await press(tab, 'Anmelden')
  await tab.getByLabel('Organisation', { exact: true }).selectOption({ label: 'Ohne Organisation' })
  await press(tab, 'Erlauben')
  assert.equal(await redeemNext(), undefined)
})

/** Opens a tab in which Ada, a member of these organizations, is about to sign in for a client on this computer. */
async function openConsent(t: TestContext, names: readonly string[], options: BrowserContextOptions) {
  const server = await openIssuer(t, {})
  const ada = (await server.context.store.findUserByEmail(EMAIL))?.id as UserId
  const organizations: OrganizationId[] = []
  for (const name of names) organizations.push(await createOrganization(server, name))
  for (const organization of organizations) await addMember(server, ada, organization)
  const { port, next } = await openListener(t)
  const redirectUri = `http://127.0.0.1:${port}/callback`
  const { client, link } = await startClient(server, redirectUri, {}, {})
  const { tab, complaints } = await openTab(t, browser, [server.origin, `http://127.0.0.1:${port}`], options)
  await tab.goto(link)
  /** The organization of the tokens that the client gets with the next answer. */
  const redeemNext = async (): Promise<unknown> => {
    const code = (await next()).searchParams.get('code') ?? ''
    const answer = await redeem(server, client, code, { redirect_uri: redirectUri })
    return decodeJwt(answer.json<Tokens>().access_token)['org_id']
  }
  return { tab, complaints, organizations, next, redeemNext }
}
