import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import type { Page as Tab } from 'playwright-core'
import { sharedBrowser } from '../support/browser.ts'
import { authorizeUrl, EMAIL, postJson, registerClient, type RegisteredClient } from '../../tools/flow.ts'
import { coversAll } from '../../src/endpoints/sign-in/changing-session.ts'
import { createLink } from '../../src/admin/user/link.ts'
import { createAccount } from '../support/accounts.ts'
import { aPasskey } from '../support/sign-in/factor-records.ts'
import { addApp } from '../../tools/sign-in/app.ts'
import { MAXIMA } from '../../src/base/maxima.ts'
import { normalizeEmail } from '../../src/protocol/sign-in/email-address.ts'
import type { UserId } from '../../src/protocol/ids.ts'
import { execute } from '../support/store/dump.ts'
import { openIssuer, openListener, openTab, press, signIn, startClient } from './tab.ts'
import { sentence } from '../texts/page-texts.ts'

/** Text that clients and callers chose, on the server's pages: it runs no script, adds no element and loads nothing. */
const PAYLOADS: readonly string[] = [
  '<script>alert(1)</script>',
  '<img src=x onerror=alert(1)>',
  '<img src="//evil.example/x.png">',
  '"><svg onload=alert(1)>',
  "' autofocus onfocus=alert(1) x='",
  '</title><script>alert(1)</script>',
  '</style><style>@import "//evil.example/x.css"</style>',
  '<iframe srcdoc="<script>alert(1)</script>"></iframe>',
  '<a href=javascript:alert(1)>Allow</a>',
  '<form action=//evil.example><button>Allow</button></form>',
  '<meta http-equiv=refresh content="0;url=//evil.example">',
  '<base href=//evil.example>',
  '{{7*7}}${7*7}<%= 7*7 %>',
  '\u202E\u2067wolla\u202D',
  'A\u200BB\uFEFFC',
  'line\u2028feed\u2029\u0000',
  `e${'\u0301'.repeat(127)}`,
]

/** All of them in a few texts, for pages that are slow to get to. */
const TOGETHER: readonly string[] = [0, 4, 8, 13].map((start, index, starts) =>
  PAYLOADS.slice(start, starts[index + 1]).join(' '),
)

const browser = await sharedBrowser()

test('REG-16: a hostile client name is refused, or shown as text', async (t) => {
  const server = await openIssuer(t, {})
  const { tab, complaints } = await openTab(t, browser, [server.origin], {})
  const { link: plain } = await startClient(server, 'https://app.example/callback', {}, {})
  await tab.goto(plain)
  const signInElements = await countElements(tab)
  await signIn(tab)
  await tab.getByRole('button', { name: 'Allow', exact: true }).waitFor()
  const consentElements = await countElements(tab)
  let refused = 0
  for (const name of PAYLOADS) {
    const response = await postJson(server, '/v2/oauth/register', {
      client_name: name,
      redirect_uris: ['https://app.example/callback'],
    })
    if (response.statusCode === 400) {
      refused += 1
      continue
    }
    const link =
      server.origin + authorizeUrl(response.json<RegisteredClient>(), { redirect_uri: 'https://app.example/callback' })
    await tab.goto(link)
    assert.equal(await countElements(tab), consentElements, name)
    assert.equal(await tab.getByRole('heading', { level: 1 }).count(), 1)
    const heading = await tab.locator('h1').innerText()
    if (/^[\x20-\x7e]+$/.test(name)) assert.ok(heading.includes(name), name)
    assert.doesNotMatch(heading, /[\u202A-\u202E\u2066-\u2069\u200B\uFEFF]/, 'nothing unseen, nothing reordered')
    await tab.goto((await tab.getByRole('link', { name: 'Switch', exact: true }).getAttribute('href')) ?? '')
    assert.equal(await countElements(tab), signInElements, name)
  }
  assert.equal(refused, 1, 'Only control characters and line separators are refused.')
  assert.deepEqual(complaints, [])
})

test('UI-17: with any parameters in a link, its pages run no script and load nothing', async (t) => {
  const server = await openIssuer(t, {})
  const client = await registerClient(server, { redirect_uris: ['https://app.example/callback'] })
  const { tab, complaints } = await openTab(t, browser, [server.origin], {})
  const redirect = { redirect_uri: 'https://app.example/callback' }
  const elements = new Map<string, number>()
  for (const payload of PAYLOADS) {
    const harmless = { login_hint: payload, state: payload, ui_locales: payload, [payload]: payload }
    const page = new URLSearchParams({ authorization: payload, ui_locales: payload })
    for (const [kind, link] of [
      ['sign-in', authorizeUrl(client, { ...redirect, ...harmless })],
      ['return', authorizeUrl(client, { ...redirect, ...harmless, resource: `#${payload}` })],
      ['error', authorizeUrl(client, { ...harmless, client_id: payload })],
      ['error of a page', `/v2/oauth/consent?${page.toString()}`],
    ] as const) {
      await tab.goto(server.origin + link)
      const count = await countElements(tab)
      assert.equal(count, elements.get(kind) ?? count, `${kind}: ${payload}`)
      elements.set(kind, count)
    }
  }
  assert.equal(new Set(elements.values()).size > 1, true, 'They are different pages.')
  assert.deepEqual(complaints, [])
})

test('UI-17: input of the form is shown again as text', async (t) => {
  const server = await openIssuer(t, {})
  const { link } = await startClient(server, 'https://app.example/callback', {}, {})
  const { tab, complaints } = await openTab(t, browser, [server.origin], {})
  for (const payload of PAYLOADS.filter((one) => one.includes('<'))) {
    await tab.goto(link)
    await tab.getByLabel('Email', { exact: true }).fill(payload)
    await press(tab, 'Sign in')
    await tab.getByRole('alert').waitFor()
    assert.equal(await tab.getByLabel('Email', { exact: true }).inputValue(), payload.trim())
  }
  assert.deepEqual(complaints, [])
})

test('PK-06: on the pages of an account that have a script, a hostile name of the user is text', async (t) => {
  const server = await openIssuer(t, {})
  const { context } = server
  const { store, clock } = context
  const id = (await store.findUserByEmail(normalizeEmail(EMAIL)))?.id as UserId
  const invited = await createAccount(server, { email: 'bob@acme.test', password: undefined, name: undefined })
  const { tab, complaints } = await openTab(t, browser, [server.origin], {})
  const security = `${server.origin}/account/security`
  await tab.goto(security)
  await signIn(tab)
  await tab.waitForURL(/\/account\/security/)
  const [session] = await store.listSessions({ userId: id, before: undefined, limit: 1 })
  assert.ok(session)
  const reason = { kind: 'session', session: coversAll(session) } as const
  assert.equal(await store.addPasskey({ passkey: aPasskey({ userId: id }), reason, mails: [] }), 'added')
  // The page that adds another one is for those who signed in with it.
  execute(server, `update sessions set methods = 'pop mfa'`)
  const { address } = await createLink(context, invited.email ?? '')
  const pages = [`${security}/password`, address, `${security}/add-passkey`]
  const elements = new Map<string, number>()
  for (const name of ['Ada', ...TOGETHER]) {
    for (const user of [id, invited.id])
      assert.equal(await store.renameUser({ id: user, name, now: clock() }), 'changed')
    for (const page of pages) {
      await tab.goto(page)
      assert.ok((await tab.locator('script').count()) > 0, page)
      const count = await countElements(tab)
      assert.equal(count, elements.get(page) ?? count, `${page}: ${name}`)
      elements.set(page, count)
    }
    const asked = await tab.locator('form[data-passkey]').getAttribute('data-passkey')
    const shown = JSON.parse(asked ?? '') as { readonly user: { readonly displayName: string } }
    if (/^[\x20-\x7e]+$/.test(name)) assert.equal(shown.user.displayName, name)
    assert.doesNotMatch(asked ?? '', /[\u202A-\u202E\u2066-\u2069\u200B\uFEFF]/, 'nothing unseen, nothing reordered')
  }
  assert.deepEqual(complaints, [])
})

test('PK-06: on the page of the second step and the one that posts the answer, a hostile name and state of a client are text', async (t) => {
  const server = await openIssuer(t, {})
  const app = await addApp(server)
  const elements = new Map<string, number>()
  for (const [index, text] of ['Notes', ...TOGETHER].entries()) {
    // Without scripts the page that posts stays.
    const { tab, complaints } = await openTab(t, browser, [server.origin], { javaScriptEnabled: false })
    const client_name = text.replaceAll(/[\p{Cc}\p{Zl}\p{Zp}]/gu, '').slice(0, MAXIMA.clientName.most)
    const redirects = { redirect_uris: ['https://app.example/callback'] }
    const client = await registerClient(server, { client_name, ...redirects })
    const asked = {
      redirect_uri: 'https://app.example/callback',
      response_mode: 'form_post',
      state: `${text}  two spaces`,
    }
    await tab.goto(server.origin + authorizeUrl(client, asked))
    await signIn(tab)
    const check = async (page: string): Promise<void> => {
      const count = await countElements(tab)
      assert.equal(count, elements.get(page) ?? count, `${page}: ${text}`)
      elements.set(page, count)
    }
    await tab.getByText(sentence('secondStep')).waitFor()
    await check('second step')
    await tab.locator('summary').click()
    await tab.locator('#recovery-code').fill(app.recoveryCodes[index] ?? '')
    await tab.locator('#recovery-code').press('Enter')
    await press(tab, 'Allow')
    await tab.locator('input[name=state]').waitFor({ state: 'attached' })
    // HTML has no U+0000.
    assert.equal(await tab.locator('input[name=state]').inputValue(), asked.state.replaceAll('\u0000', '\uFFFD'))
    await check('form post')
    assert.deepEqual(complaints, [])
  }
})

test('REG-14: neither the server nor the browser fetches the addresses in a registration', async (t) => {
  const server = await openIssuer(t, {})
  const hits: string[] = []
  const canary = createServer((request, response) => {
    hits.push(request.url ?? '')
    response.end()
  })
  await new Promise<void>((resolve) => canary.listen(0, '127.0.0.1', resolve))
  t.after(() => canary.close())
  const address = `http://127.0.0.1:${(canary.address() as AddressInfo).port}`
  const { port, next } = await openListener(t)
  const { link } = await startClient(
    server,
    `http://127.0.0.1:${port}/callback`,
    {},
    {
      client_uri: `${address}/client`,
      logo_uri: `${address}/logo.png`,
      tos_uri: `${address}/tos`,
      policy_uri: `${address}/policy`,
      jwks_uri: `${address}/jwks`,
      sector_identifier_uri: `${address}/sector`,
      initiate_login_uri: `${address}/login`,
      backchannel_logout_uri: `${address}/logout`,
      request_uris: [`${address}/request`],
    },
  )
  const { tab, complaints } = await openTab(t, browser, [server.origin, `http://127.0.0.1:${port}`], {})
  await tab.goto(link)
  await signIn(tab)
  await press(tab, 'Allow')
  await next()
  assert.deepEqual(hits, [])
  assert.deepEqual(complaints, [])
})

function countElements(tab: Tab): Promise<number> {
  return tab.evaluate<number>("document.querySelectorAll('*').length")
}
