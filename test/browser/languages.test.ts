import assert from 'node:assert/strict'
import { test } from 'node:test'
import { TEXTS } from '../../src/texts/generated.ts'
import type { TextId } from '../../src/texts/texts.ts'
import { sharedBrowser } from '../support/browser.ts'
import { EMAIL, PASSWORD } from '../../tools/flow.ts'
import { axeFindings, openIssuer, openTab, press, signIn, startClient } from './tab.ts'

/** The real server's pages in browsers with different settings. */

const REDIRECT_URI = 'http://127.0.0.1:51004/callback'

const browser = await sharedBrowser()

for (const [language, how, locale, parameters] of [
  ['de', 'a German browser', 'de-AT', {}],
  ['fr', 'a French browser', 'fr-CA', {}],
  ['es', 'ui_locales=es-419', 'en-GB', { ui_locales: 'es-419' }],
] as const) {
  test(`with ${how} every page of the authorization is in ${language}`, async (t) => {
    const say = (id: TextId): string => TEXTS[language][id] ?? ''
    const server = await openIssuer(t, {})
    const { link } = await startClient(server, REDIRECT_URI, parameters, {})
    const { tab } = await openTab(t, browser, [server.origin], { locale })
    await tab.goto(link)
    await tab.getByLabel(say('email'), { exact: true }).fill(EMAIL)
    await press(tab, say('signIn'))
    assert.equal(await tab.getByRole('alert').innerText(), say('passwordMissing'))
    await tab.getByLabel(say('password'), { exact: true }).fill(PASSWORD)
    await press(tab, say('signIn'))
    await tab.getByRole('button', { name: say('allow'), exact: true }).waitFor()
    assert.equal(await tab.locator('html').getAttribute('lang'), language)
    await tab.getByRole('link', { name: say('switchAccount'), exact: true }).click()
    await tab.getByRole('button', { name: say('signIn'), exact: true }).waitFor()
  })
}

test('ui_locales=en takes precedence over a German browser', async (t) => {
  const server = await openIssuer(t, {})
  const { link } = await startClient(server, REDIRECT_URI, { ui_locales: 'xx en' }, {})
  const { tab } = await openTab(t, browser, [server.origin], { locale: 'de-DE' })
  await tab.goto(link)
  await signIn(tab)
  await tab.getByRole('button', { name: 'Allow', exact: true }).waitFor()
})

test('axe finds no problem on the pages of an authorization, in light and dark mode', async (t) => {
  const server = await openIssuer(t, {
    GRANTOR_TERMS_URI: 'https://acme.test/terms',
    GRANTOR_PRIVACY_URI: 'https://acme.test/privacy',
  })
  const { link } = await startClient(server, REDIRECT_URI, { scope: 'notes:read', resource: 'https://n.example' }, {})
  for (const colorScheme of ['light', 'dark'] as const) {
    const { tab, complaints } = await openTab(t, browser, [server.origin], { colorScheme })
    await tab.goto(link)
    assert.deepEqual(await axeFindings(tab), [], 'sign-in')
    await press(tab, 'Sign in')
    assert.deepEqual(await axeFindings(tab), [], 'sign-in with a problem')
    await signIn(tab)
    await tab.getByRole('button', { name: 'Allow', exact: true }).waitFor()
    assert.deepEqual(await axeFindings(tab), [], 'consent')
    await tab.goto(`${server.origin}/v2/oauth/sign-out`)
    assert.deepEqual(await axeFindings(tab), [], 'sign-out')
    await tab.goto(`${server.origin}/v2/oauth/authorize?client_id=nobody`)
    assert.deepEqual(await axeFindings(tab), [], 'error')
    await tab.goto(link.replace('scope=notes%3Aread', 'scope=%22'))
    assert.equal(await tab.getByRole('link', { name: 'Go back', exact: false }).count(), 1)
    assert.deepEqual(await axeFindings(tab), [], 'return')
    assert.deepEqual(complaints, [])
  }
})
