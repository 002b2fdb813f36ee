import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page as Tab } from 'playwright-core'
import { DEFAULT_RULES } from '../../src/protocol/client/policy.ts'
import { createClient } from '../../src/admin/client/metadata.ts'
import { NO_SCOPE, type Scope } from '../../src/protocol/token/scope.ts'
import { authorizeUrl, REDIRECT_URI } from '../../tools/flow.ts'
import { sharedBrowser } from '../support/browser.ts'
import type { TestServer } from '../support/server.ts'
import { openIssuer, openListener, openTab, press, signIn, startClient } from './tab.ts'
import { perform } from '../support/tasks.ts'

/**
 * Browsers check `form-action` against the redirect that answers a form, and block it without a message. So each kind of
 * redirect URI that clients use is tried from each page whose answer can be a redirect (decision 0022).
 */
const REDIRECTS: readonly (readonly [kind: string, redirectUri: (port: number) => string])[] = [
  ['localhost', (port) => `http://localhost:${port}/callback`],
  ['127.0.0.1', (port) => `http://127.0.0.1:${port}/callback`],
  ['[::1]', (port) => `http://[::1]:${port}/callback`],
  ['an https origin', (port) => `https://localhost:${port}/callback`],
  ['a configured scheme', () => 'cursor://anysphere.cursor-mcp/oauth/callback'],
  ['a scheme with a dot', () => 'com.example.notes:/callback'],
]

const browser = await sharedBrowser()

for (const [kind, redirectUriOf] of REDIRECTS) {
  test(`RFC 8252 §7: Chromium follows the consent page's answer to ${kind}`, async (t) => {
    const server = await openIssuer(t, {})
    const { port } = await openListener(t)
    const redirectUri = redirectUriOf(port)
    const { link } = await startClient(server, redirectUri, {}, {})
    const { tab } = await openTab(t, browser, [], {})
    await tab.goto(link)
    await signIn(tab)
    const leaving = requestTo(tab, redirectUri)
    await press(tab, 'Allow')
    assert.ok((await leaving).searchParams.has('code'))
  })

  test(`RFC 8252 §7: Chromium follows the sign-in page's answer to ${kind}, after a remembered consent`, async (t) => {
    const server = await openIssuer(t, {})
    const { port } = await openListener(t)
    const redirectUri = redirectUriOf(port)
    const { client, link } = await startClient(server, redirectUri, {}, {})
    await perform(server.context, 'client.verify', { client_id: client.client_id })
    const { tab } = await openTab(t, browser, [], {})
    await tab.goto(link)
    await signIn(tab)
    const first = requestTo(tab, redirectUri)
    await press(tab, 'Allow')
    await first
    const { tab: later } = await openTab(t, browser, [], {})
    await later.goto(link)
    const second = requestTo(later, redirectUri)
    await signIn(later)
    assert.ok((await second).searchParams.has('code'))
  })
}

test('WAY-03: a user of a first-party client signs in and sees no other page, and later sees none', async (t) => {
  const server = await openIssuer(t, {})
  const metadata = {
    client_name: 'Board',
    redirect_uris: [REDIRECT_URI],
    token_endpoint_auth_method: 'client_secret_basic' as const,
    scope: 'notes:read' as Scope,
  }
  const input = { metadata, rules: { ...DEFAULT_RULES, consent: 'implied' }, approvedScope: NO_SCOPE } as const
  const { client } = await createClient(server.context, input)
  const link = server.origin + authorizeUrl({ client_id: client.id })
  const { tab } = await openTab(t, browser, [], {})
  const requested: string[] = []
  tab.on('request', (request) => requested.push(new URL(request.url()).pathname))
  await tab.goto(link)
  const first = requestTo(tab, REDIRECT_URI)
  await signIn(tab)
  assert.ok((await first).searchParams.has('code'))
  const second = requestTo(tab, REDIRECT_URI)
  // No server has the address of the redirect URI.
  await assert.rejects(tab.goto(link), /net::ERR/)
  assert.ok((await second).searchParams.has('code'))
  assert.deepEqual(
    requested.map((path) => path.split('/').at(-1)),
    ['authorize', 'sign-in', 'sign-in', 'callback', 'authorize', 'callback'],
  )
})

test('with a policy that does not allow the redirect these tests fail', async (t) => {
  const server = await openIssuer(t, {})
  const { link } = await startClient(server, 'cursor://anysphere.cursor-mcp/oauth/callback', {}, {})
  const { tab } = await openTab(t, browser, [], {})
  await forgetScheme(tab, server)
  const left: string[] = []
  tab.on('request', (request) => left.push(new URL(request.url()).protocol))
  await tab.goto(link)
  await signIn(tab)
  const stopped = tab.waitForEvent('requestfailed')
  await press(tab, 'Allow')
  assert.equal((await stopped).url(), `${server.origin}/v2/oauth/consent`)
  assert.ok(!left.includes('cursor:'))
})

/** Waits until the tab requests an address with this beginning, and returns the address. */
async function requestTo(tab: Tab, redirectUri: string): Promise<URL> {
  const request = await tab.waitForEvent('request', (one) => one.url().startsWith(redirectUri))
  return new URL(request.url())
}

async function forgetScheme(tab: Tab, server: TestServer): Promise<void> {
  await tab.route(`${server.origin}/v2/oauth/consent?*`, async (route) => {
    const response = await route.fetch()
    const { 'content-security-policy': policy = '', ...headers } = response.headers()
    assert.match(policy, / cursor:;/)
    await route.fulfill({
      response,
      headers: { ...headers, 'content-security-policy': policy.replace(' cursor:', '') },
    })
  })
}
