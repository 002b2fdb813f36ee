import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { BrowserContextOptions } from 'playwright-core'
import { createLink } from '../../src/admin/user/link.ts'
import { EMAIL, PASSWORD, redeem, refresh, type Tokens } from '../../tools/flow.ts'
import { sharedBrowser } from '../support/browser.ts'
import { assertInvalidGrant } from '../support/token-answers.ts'
import { axeFindings, openIssuer, openListener, openTab, press, signIn, startClient } from './tab.ts'
import { pageSays, sentence } from '../texts/page-texts.ts'

/** A user at the account pages in a real browser. */

const browser = await sharedBrowser()

test('a user allows an app a part of what it asks for, finds it under Connected apps, and removes it', async (t) => {
  const server = await openIssuer(t, { GRANTOR_NAME: 'Acme Cloud' })
  const { port, next } = await openListener(t)
  const redirectUri = `http://127.0.0.1:${port}/callback`
  const { client, link } = await startClient(server, redirectUri, { scope: 'notes:read notes:write' }, {})
  const allowed = [server.origin, new URL(redirectUri).origin]
  const { tab, complaints } = await openTab(t, browser, allowed, { viewport: { width: 360, height: 740 } })
  await tab.goto(link)
  await signIn(tab)
  await tab.getByLabel('notes:write').uncheck()
  await press(tab, 'Allow')
  const code = (await next()).searchParams.get('code') ?? ''
  const tokens = (await redeem(server, client, code, { redirect_uri: redirectUri })).json<Tokens>()
  assert.equal(tokens.scope, 'notes:read')
  assert.equal((await refresh(server, client, tokens.refresh_token ?? '')).statusCode, 200)

  await tab.goto(`${link}&prompt=consent`)
  await tab.getByRole('link', { name: 'Connected apps' }).click()
  const entry = tab.getByRole('listitem').filter({ hasText: 'Cursor' })
  assert.match(
    await entry.innerText(),
    /Unverified · [^]*this computer[^]*notes:read[^]*Allowed less than a minute ago/,
  )
  await tab.getByRole('link', { name: 'Remove Cursor' }).click()
  await tab.getByRole('heading', { name: 'Remove Cursor?' }).waitFor()
  assert.deepEqual(await axeFindings(tab), [])
  await press(tab, 'Remove')
  await tab.getByRole('status').waitFor()
  assert.match(await tab.locator('main').innerText(), pageSays('account.noApps'))
  assertInvalidGrant(await refresh(server, client, tokens.refresh_token ?? ''))
  assert.deepEqual(complaints, [])
})

const CASES: readonly (readonly [string, BrowserContextOptions])[] = [
  ['English, without script', { javaScriptEnabled: false }],
  ['German, dark, 360 px', { locale: 'de-DE', colorScheme: 'dark', viewport: { width: 360, height: 740 } }],
  ['French, 360 px', { locale: 'fr-FR', viewport: { width: 360, height: 740 } }],
]

for (const [name, options] of CASES) {
  test(`every account page is reached by its links: ${name}`, async (t) => {
    const server = await openIssuer(t, {})
    const { tab, complaints } = await openTab(t, browser, [server.origin], options)
    await tab.goto(`${server.origin}/account`)
    await tab.locator('#email').fill(EMAIL)
    await tab.locator('#password').fill(PASSWORD)
    await tab.getByRole('button', { name: /^(Sign in|Anmelden|Se connecter)$/ }).click()
    const count = await tab.locator('.menu a').count()
    assert.equal(count, 5)
    for (let index = 0; index < count; index++) {
      await tab.locator('.menu a').nth(index).click()
      await tab.locator('.menu a[aria-current]').nth(0).waitFor()
      const [link, heading] = [tab.locator('.menu a[aria-current]'), tab.getByRole('heading', { level: 1 })]
      if (options.javaScriptEnabled === false) assert.equal(await link.innerText(), await heading.innerText())
      else {
        assert.ok((await heading.innerText()).includes(await link.locator('.long').innerText()))
        assert.ok((await tab.evaluate<number>(`document.querySelector('.menu ul').offsetHeight`)) < 48, 'one row')
        assert.deepEqual(await axeFindings(tab), [])
        assert.ok((await tab.evaluate<number>('document.documentElement.scrollWidth')) <= 360)
      }
    }
    assert.deepEqual(complaints, [])
  })
}

test('with only the keyboard a user sets a password with a link, and signs the other browsers out', async (t) => {
  const server = await openIssuer(t, {})
  const { tab, complaints } = await openTab(t, browser, [server.origin], {})
  const { address } = await createLink(server.context, EMAIL)
  await tab.goto(address)
  const type = async (...keys: readonly string[]): Promise<void> => {
    for (const key of keys)
      await (key.length > 1 && key !== 'Tab' && key !== 'Enter' ? tab.keyboard.type(key) : tab.keyboard.press(key))
  }
  // The first stop is the button of a passkey.
  await type('Tab', 'Tab', 'another long horse', 'Tab', 'Tab', 'another long horse', 'Enter')
  await tab.getByRole('heading', { name: sentence('account.linkUsedHeading') }).waitFor()
  await type('Tab', 'Enter')
  await tab.locator('#email:focus').waitFor()
  await type(EMAIL, 'Tab', 'another long horse', 'Enter')
  await tab.getByRole('heading', { name: 'Your account' }).waitFor()
  await tab.getByRole('link', { name: sentence('account.pages.sessions') }).focus()
  await type('Enter')
  await tab.getByText('This browser').waitFor()
  assert.match(await tab.locator('main').innerText(), /Chrome on Linux/)
  assert.deepEqual(complaints, [])
})
