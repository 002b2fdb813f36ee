import assert from 'node:assert/strict'
import { test } from 'node:test'
import { auth } from '@modelcontextprotocol/client'
import type { BrowserContextOptions, Page as Tab } from 'playwright-core'
import { openResourceServer } from '../../tools/mcp-server.ts'
import { callTool } from '../clients/mcp-client.ts'
import { codeOf, linkOf } from '../clients/mcp-walk.ts'
import { openMemoryProvider } from '../clients/memory-provider.ts'
import { sharedBrowser } from '../support/browser.ts'
import { addProvider } from '../support/provider/providers.ts'
import { openRealProvider, type RealProvider } from '../support/provider/real-provider.ts'
import { openTestServer, type TestServer } from '../support/server.ts'
import { selectAll } from '../support/store/dump.ts'
import { axeFindings, openListener, openTab, press } from './tab.ts'

/** A person who has an account at another provider, in a real browser. The provider is oidc-provider of npm. */

const browser = await sharedBrowser()

interface Place {
  readonly server: TestServer
  readonly idp: RealProvider
}

async function openPlace(
  t: Parameters<typeof openTestServer>[0],
  env: Readonly<Record<string, string>>,
): Promise<Place> {
  const server = await openTestServer(t, { listen: true, env })
  const idp = await openRealProvider(t, `${server.origin}/v2/oauth/callback/idp`)
  await addProvider(server, idp, { signUp: 'anybody' })
  return { server, idp }
}

async function signInAtAcme(tab: Tab, name: string): Promise<void> {
  await tab.getByLabel('Name').fill(name)
  await tab.getByRole('button', { name: 'Sign in at Acme' }).click()
}

test('an MCP client connects, the person signs in by a provider, allows it, uses the API, and removes it under Connected apps', async (t) => {
  const { server, idp } = await openPlace(t, {})
  const api = await openResourceServer(t, { issuer: server.origin, path: '/mcp', scopes: ['notes:read'] })
  // The browser must arrive: while it shows that nothing listens there, that page can end the next navigation.
  const listener = await openListener(t)
  const provider = openMemoryProvider({ redirect_uris: [`http://localhost:${listener.port}/callback`] })
  const { tab, complaints } = await openTab(
    t,
    browser,
    [server.origin, idp.issuer, new URL(provider.redirectUrl).origin],
    {},
  )
  await assert.rejects(callTool(provider, api.url))
  await tab.goto(linkOf(provider).href)
  await press(tab, 'Continue with Acme ID')
  await signInAtAcme(tab, 'ada')
  assert.match(await tab.locator('main').innerText(), /Signed in as\s+ada/)
  await press(tab, 'Allow')
  const callback = await listener.next()
  await tab.getByText('You may close this.').waitFor()
  const iss = callback.searchParams.get('iss') ?? ''
  assert.equal(await auth(provider, { serverUrl: api.url, authorizationCode: codeOf(callback), iss }), 'AUTHORIZED')
  assert.equal(await callTool(provider, api.url), '7')

  await tab.goto(`${server.origin}/account/apps`)
  await tab.getByRole('link', { name: 'Remove Notes for Ada' }).click()
  await press(tab, 'Remove')
  await tab.getByText('You have not allowed any app').waitFor()
  assert.equal(await auth(provider, { serverUrl: api.url }), 'REDIRECT')
  assert.deepEqual(provider.thrownAway, ['tokens'])
  assert.deepEqual(complaints, [])
})

const CASES: readonly (readonly [
  string,
  BrowserContextOptions,
  button: string,
  change: string,
  heading: string,
  kept: RegExp,
])[] = [
  [
    'English, without script',
    { javaScriptEnabled: false },
    'Continue with Acme ID',
    'Set up Password',
    'Set password',
    /It stays, because/,
  ],
  [
    'German, dark, 360 px',
    { locale: 'de-DE', colorScheme: 'dark', viewport: { width: 360, height: 740 } },
    'Weiter mit Acme ID',
    'Einrichten Passwort',
    'Passwort setzen',
    /Bleibt, weil/,
  ],
]

for (const [name, options, button, change, heading, kept] of CASES) {
  test(`a person signs in, and confirms it at the provider, with only the keyboard: ${name}`, async (t) => {
    const { server, idp } = await openPlace(t, {})
    const { tab, complaints } = await openTab(t, browser, [server.origin, idp.issuer], options)
    await tab.goto(`${server.origin}/account/security`)
    if (options.javaScriptEnabled !== false) assert.deepEqual(await axeFindings(tab), [])
    const signIn = async (): Promise<void> => {
      await tab.getByRole('button', { name: button }).focus()
      await tab.keyboard.press('Enter')
      await tab.getByLabel('Name').fill('ada')
      await tab.keyboard.press('Enter')
    }
    await signIn()
    await tab.getByText(kept).waitFor()
    // This provider says auth_time only where the request has max_age, so the time of the first sign-in is unknown.
    await tab.getByRole('link', { name: change }).focus()
    await tab.keyboard.press('Enter')
    await signIn()
    await tab.getByRole('heading', { name: heading }).waitFor()
    if (options.javaScriptEnabled !== false) assert.deepEqual(await axeFindings(tab), [])
    assert.equal(selectAll(server, 'select * from identities').length, 1)
    assert.deepEqual(complaints, [])
  })
}

test('without passwords the person is at the provider at once', async (t) => {
  const { server, idp } = await openPlace(t, { GRANTOR_PASSWORDS: 'off' })
  const { tab, complaints } = await openTab(t, browser, [server.origin, idp.issuer], {})
  await tab.goto(`${server.origin}/account`)
  await signInAtAcme(tab, 'ada')
  await tab.getByText('ada@acme.test').first().waitFor()
  assert.deepEqual(complaints, [])
})
