import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Response as LightMyRequestResponse } from 'light-my-request'
import { setPassword } from '../../../src/admin/user/user.ts'
import { approve } from '../../../src/endpoints/authorization/approval.ts'
import { nextStep } from '../../../src/endpoints/authorization/next-step.ts'
import { findSignedIn, type SignedIn } from '../../../src/endpoints/authorization/session.ts'
import { mintUserId } from '../../../src/protocol/ids.ts'
import { evaluateClient } from '../../../src/clients/evaluate-client.ts'
import {
  authorizeUrl,
  EMAIL,
  hiddenFields,
  locationOf,
  PASSWORD,
  PlainBrowser,
  redeem,
  registerClient,
  REDIRECT_URI,
  signInAndAllow,
  type RegisteredClient,
} from '../../../tools/flow.ts'
import { signOut } from '../../../tools/sign-out.ts'
import { createAccount, createAda } from '../../support/accounts.ts'
import { openTestServer } from '../../support/server.ts'
import { SESSION_COOKIE } from '../../support/session-cookie.ts'
import { assertStoreUnchanged, selectAll } from '../../support/store/dump.ts'
import {
  assertErrorRedirect,
  assertLocalPage,
  consentedBrowser,
  isCodeAnswer,
  WHOLE_FILE,
} from '../../support/authorize-answers.ts'
import { perform, performOnUser } from '../../support/tasks.ts'

const EVE = 'eve@acme.test'
const server = await openTestServer(WHOLE_FILE)
await createAda(server)
await createAccount(server, { email: EVE, password: PASSWORD, name: 'Eve' })
const allow = { decision: 'allow' }

test('UI-01: a consent form without its token, with another token, or from another site is rejected', async () => {
  const client = await registerClient(server)
  const { browser, page } = await consentPage(client)
  const other = await consentPage(client)
  const { page: otherTab } = await consentPage(client, {}, browser)
  const tokens = ['', 'x', '.', hiddenFields(otherTab)['csrf'] ?? '', hiddenFields(other.page)['csrf'] ?? '']
  for (const csrf of tokens) await assertForged(() => browser.submit(page, { ...allow, csrf }))
  for (const site of ['cross-site', 'same-site'])
    await assertForged(() =>
      browser.post('/v2/oauth/consent', { ...hiddenFields(page), ...allow }, { 'sec-fetch-site': site }),
    )
  assert.ok(isCodeAnswer(await browser.submit(page, allow)))
})

test('UI-01: the consent form rejects the token of the sign-in form', async () => {
  const client = await registerClient(server)
  const browser = new PlainBrowser(server)
  const signIn = await browser.get(locationOf(await browser.get(authorizeUrl(client))))
  await browser.submit(signIn, { email: EMAIL, password: PASSWORD })
  await assertForged(() => browser.post('/v2/oauth/consent', { ...hiddenFields(signIn), ...allow }))
})

test('UI-02: request parameters in the consent form are ignored', async () => {
  const client = await registerClient(server, {
    redirect_uris: [REDIRECT_URI, 'https://app.example/two'],
    scope: 'read admin',
  })
  const evil = await registerClient(server)
  const { browser, page } = await consentPage(client, { scope: 'read' })
  const answer = await browser.submit(page, {
    ...allow,
    redirect_uri: 'https://app.example/two',
    client_id: evil.client_id,
    scope: 'read admin',
    resource: 'https://evil.test',
    org_id: 'x',
    user_id: 'x',
    code_challenge: 'x'.repeat(43),
    state: 'another',
  })
  const location = new URL(locationOf(answer))
  assert.equal(location.origin + location.pathname, REDIRECT_URI)
  assert.equal(location.searchParams.get('state'), 'the-state')
  const code = location.searchParams.get('code') ?? ''
  const tokens = await redeem(server, client, code)
  assert.equal(tokens.statusCode, 200, tokens.body)
  assert.equal(tokens.json().scope, 'read')
})

test('UI-03: twenty simultaneous approvals return the same code', async () => {
  const client = await registerClient(server)
  const { browser, page } = await consentPage(client)
  const answers = await Promise.all(Array.from({ length: 20 }, () => browser.submit(page, allow)))
  assert.ok(answers.every(isCodeAnswer))
  assert.equal(new Set(answers.map(locationOf)).size, 1)
  const { authorization = '' } = hiddenFields(page)
  for (const path of ['sign-in', 'consent'])
    assertLocalPage(await browser.get(`/v2/oauth/${path}?authorization=${authorization}`), 409)
})

test('UI-03: a repeated approval returns the same code until the code is redeemed or expires, and changes nothing', async (t) => {
  const own = await openTestServer(t)
  await createAda(own)
  const client = await registerClient(own)
  const browser = new PlainBrowser(own)
  const signIn = await browser.get(locationOf(await browser.get(authorizeUrl(client))))
  const page = await browser.get(locationOf(await browser.submit(signIn, { email: EMAIL, password: PASSWORD })))
  const first = locationOf(await browser.submit(page, allow))
  const again = await assertStoreUnchanged(own, () => browser.submit(page, allow))
  assert.equal(locationOf(again), first)
  const tokens = await redeem(own, client, new URL(first).searchParams.get('code') ?? '')
  assert.equal(tokens.statusCode, 200, tokens.body)
  assertLocalPage(await assertStoreUnchanged(own, () => browser.submit(page, allow)), 409)

  const second = await browser.get(locationOf(await browser.get(authorizeUrl(client, { prompt: 'consent' }))))
  await browser.submit(second, allow)
  own.clock.advance(61_000)
  assertLocalPage(await assertStoreUnchanged(own, () => browser.submit(second, allow)), 400)
})

test('UI-03: a repeated approval by another user gets no code', async () => {
  const client = await registerClient(server)
  const { browser, page } = await consentPage(client)
  await browser.submit(page, allow)
  await consentPage(client, { prompt: 'login' }, browser, EVE)
  assertLocalPage(await assertStoreUnchanged(server, () => browser.submit(page, allow)), 403)
})

test('UI-03: allowing after denying, or denying after allowing, changes nothing', async () => {
  const client = await registerClient(server)
  for (const [first, second] of [
    ['allow', 'deny'],
    ['deny', 'allow'],
  ] as const) {
    const { browser, page } = await consentPage(client, { prompt: 'consent' })
    await browser.submit(page, { decision: first })
    const again = await assertStoreUnchanged(server, () => browser.submit(page, { decision: second }))
    assertLocalPage(again, 409)
  }
})

test('UI-04: after a denial the client gets access_denied, and there is no grant, no consent and no code', async () => {
  const client = await registerClient(server)
  const { browser, page } = await consentPage(client)
  const answer = await browser.submit(page, { decision: 'deny' })
  assertErrorRedirect(server, answer, 'access_denied')
  const [row] = selectAll(
    server,
    'select status, code_hash, user_id from authorizations where client_id = ?',
    client.client_id,
  )
  assert.deepEqual({ ...row }, { status: 'denied', code_hash: null, user_id: null })
  for (const table of ['grants', 'consents'])
    assert.deepEqual(selectAll(server, `select * from ${table} where client_id = ?`, client.client_id), [])
})

test('UI-04: a decision other than allow and deny is rejected', async () => {
  const { browser, page } = await consentPage(await registerClient(server))
  for (const decision of ['', 'ALLOW', 'yes'])
    assertLocalPage(await assertStoreUnchanged(server, () => browser.submit(page, { decision })))
})

test('decision 0022: consent fails if another user has signed in since', async () => {
  const client = await registerClient(server)
  const { browser, page } = await consentPage(client)
  const { page: evesTab } = await consentPage(client, { prompt: 'login' }, browser, EVE)
  const answer = await assertStoreUnchanged(server, () => browser.submit(page, allow))
  assertLocalPage(answer, 403)
  assert.ok(isCodeAnswer(await browser.submit(evesTab, allow)))
})

test('decision 0022: consent succeeds if the same user has signed in again since', async () => {
  const client = await registerClient(server)
  const { browser, page } = await consentPage(client)
  await consentPage(client, { prompt: 'login' }, browser)
  assert.ok(isCodeAnswer(await browser.submit(page, allow)))
})

test('UI-13: a user who was disabled or whose password changed during the flow must sign in again', async (t) => {
  for (const change of [
    (context: typeof server.context, email: string) => performOnUser(context, 'user.disable', email),
    (context: typeof server.context, email: string) => setPassword(context, email, 'another password'),
  ]) {
    const own = await openTestServer(t)
    await createAda(own)
    const client = await registerClient(own)
    const { browser, page } = await consentPage(client, {}, new PlainBrowser(own))
    await change(own.context, EMAIL)
    const answer = await assertStoreUnchanged(own, () => browser.submit(page, allow))
    assert.match(locationOf(answer), /\/sign-in\?/)
  }
})

test('UI-13: a client that was deleted or disabled during the flow gets no code', async () => {
  const client = await registerClient(server)
  const { browser, page } = await consentPage(client)
  await server.context.store.deleteClient(client.client_id as never)
  assertLocalPage(await assertStoreUnchanged(server, () => browser.submit(page, allow)))
})

test('after a sign-out in another tab, the consent page requires a new sign-in', async () => {
  const client = await registerClient(server)
  const { browser, page } = await consentPage(client)
  await signOut(browser)
  assert.match(locationOf(await browser.submit(page, allow)), /\/sign-in\?/)
})

test('UI-10: the page shows the client, that it is unverified, its age, the access, the destination and the account', async () => {
  const client = await registerClient(server, { client_name: 'Tom & "Jerry"', logo_uri: 'https://evil.test/logo.png' })
  server.clock.advance(5 * 60_000)
  const { page } = await consentPage(client, { scope: 'read files:write', resource: 'https://api.example/v1' })
  const text = visible(page)
  for (const part of [
    'Tom & "Jerry"',
    'Unverified',
    '5 minutes ago',
    'app.example',
    'read',
    'files:write',
    'https://api.example/v1',
    EMAIL,
  ])
    assert.ok(text.includes(part), `${part} is missing in ${text}`)
  assert.ok(!page.body.includes('evil.test') && !/<img|<script/.test(page.body))
  assert.match(String(page.headers['content-security-policy']), /form-action 'self' https:\/\/app\.example;/)
})

test('a registration answers with the names by language, and a page shows the one of its language', async () => {
  const names = { client_name: 'Board', 'client_name#de': 'Tafel' }
  const client = await registerClient(server, names)
  assert.partialDeepStrictEqual(client, names)
  for (const [ui_locales, name] of [
    ['de', 'Tafel'],
    ['en', 'Board'],
  ] as const)
    assert.ok((await consentPage(client, { ui_locales })).page.body.includes(`<bdi>${name}</bdi>`), ui_locales)
})

test('UI-10: the page for a loopback client names this computer, and warns against pasting the address', async () => {
  const client = await registerClient(server, { redirect_uris: ['http://127.0.0.1/cb'] })
  const { page } = await consentPage(client, { redirect_uri: 'http://127.0.0.1:51004/cb' })
  const text = visible(page)
  assert.ok(text.includes('this computer') && text.includes('never paste it anywhere'), text)
  assert.match(String(page.headers['content-security-policy']), /form-action 'self' http:\/\/127\.0\.0\.1:51004;/)
})

test('UI-10: the page of a verified client does not call it unverified', async () => {
  const client = await registerClient(server)
  await perform(server.context, 'client.verify', { client_id: client.client_id })
  assert.ok(!visible((await consentPage(client)).page).includes('Unverified'))
})

test('UI-11: an earlier consent skips the page for the same access, and for no other access', async () => {
  const uris = [REDIRECT_URI, 'https://other.example/cb', 'https://app.example:8443/cb']
  const client = await registerClient(server, { redirect_uris: uris, scope: 'read write' })
  const browser = await consentedBrowser(server, client, { scope: 'read' })
  const asks = async (parameters: Readonly<Record<string, string>>, asked = client): Promise<boolean> =>
    !isCodeAnswer(await browser.get(authorizeUrl(asked, parameters)))
  assert.equal(await asks({ scope: 'read' }), false, 'the same again')
  assert.equal(await asks({ scope: 'read', redirect_uri: uris[0] ?? '', state: 'x' }), false, 'another state')
  assert.equal(await asks({ scope: 'read write' }), true, 'a wider scope')
  assert.equal(await asks({ scope: 'write' }), true, 'another scope')
  assert.equal(await asks({}), true, 'no scope named, which means all that is registered')
  assert.equal(await asks({ scope: 'read', redirect_uri: uris[1] ?? '' }), true, 'another host')
  assert.equal(await asks({ scope: 'read', redirect_uri: uris[2] ?? '' }), true, 'another port')
  assert.equal(await asks({ scope: 'read', resource: 'https://api.example' }), true, 'another resource')
  assert.equal(await asks({ scope: 'read', prompt: 'consent' }), true, 'asked for it')
  const twin = await registerClient(server, { redirect_uris: uris, scope: 'read write' })
  assert.equal(await asks({ scope: 'read' }, twin), true, 'another client of the same name')
  const eve = new PlainBrowser(server)
  await consentPage(client, { scope: 'read' }, eve, EVE)
  assert.ok(!isCodeAnswer(await eve.get(authorizeUrl(client, { scope: 'read' }))), 'another person')
})

test('UI-11: two consents together cover the scopes of both', async () => {
  const client = await registerClient(server, { scope: 'read write' })
  const browser = await consentedBrowser(server, client, { scope: 'read' })
  await signInAndAllow(browser, authorizeUrl(client, { scope: 'write' }))
  assert.ok(isCodeAnswer(await browser.get(authorizeUrl(client, { scope: 'read write' }))))
})

test('UI-11: an unverified loopback or app client requires consent every time, a verified one does not', async () => {
  for (const redirect_uri of [
    'http://127.0.0.1:51004/cb',
    'http://localhost:51004/cb',
    'http://[::1]:51004/cb',
    'cursor://anysphere.cursor-mcp/oauth/callback',
  ]) {
    const client = await registerClient(server, { redirect_uris: [redirect_uri] })
    const browser = await consentedBrowser(server, client, { redirect_uri })
    const url = authorizeUrl(client, { redirect_uri })
    assert.match(locationOf(await browser.get(url)), /\/consent\?/)
    await perform(server.context, 'client.verify', { client_id: client.client_id })
    await signInAndAllow(browser, url)
    assert.ok(isCodeAnswer(await browser.get(url)), redirect_uri)
  }
})

test('UI-11: a consent that was denied is not remembered', async () => {
  const client = await registerClient(server)
  const { browser, page } = await consentPage(client)
  await browser.submit(page, { decision: 'deny' })
  assert.match(locationOf(await browser.get(authorizeUrl(client))), /\/consent\?/)
})

const MARKUP = [`"><script>alert(1)</script>`, `'><img src=x onerror=alert(1)>`, `</title><svg onload=alert(1)>`]
test('UI-17: values of the request are escaped as text on the consent page', async () => {
  for (const markup of MARKUP) {
    const client = await registerClient(server, { client_name: markup })
    const scope = markup.replaceAll(/[" \\]/g, '')
    const parameters = {
      scope,
      state: markup,
      ui_locales: markup,
      resource: `https://api.example/${encodeURI(markup)}`,
    }
    const { page } = await consentPage(client, parameters)
    for (const live of ['<script', '<img', '<svg onload']) assert.ok(!page.body.includes(live), page.body)
  }
})

/** The consent page, after a sign-in where one is asked for. */
async function consentPage(
  client: RegisteredClient,
  parameters: Readonly<Record<string, string>> = {},
  browser = new PlainBrowser(server),
  email = EMAIL,
): Promise<{ browser: PlainBrowser; page: LightMyRequestResponse }> {
  let page = await browser.get(
    locationOf(await browser.get(authorizeUrl(client, { prompt: 'consent', ...parameters }))),
  )
  if (page.body.includes('type="password"'))
    page = await browser.get(locationOf(await browser.submit(page, { email, password: PASSWORD })))
  assert.match(page.body, /name="decision"/)
  return { browser, page }
}

async function assertForged(act: () => Promise<LightMyRequestResponse>): Promise<void> {
  assertLocalPage(await assertStoreUnchanged(server, act), 403)
}

/** The text of a page. */
function visible({ body }: LightMyRequestResponse): string {
  return body
    .replaceAll(/<style>.*?<\/style>|<[^>]*>/gs, '')
    .replaceAll('&quot;', '"')
    .replaceAll('&lt;', '<')
    .replaceAll('&amp;', '&')
    .replaceAll(/[\u2066-\u2069]/g, '')
    .replaceAll(/\s+/g, ' ')
}

/** What ends the session of an approval that has read it already. */
const ENDS: Readonly<Record<string, (signedIn: SignedIn) => Promise<unknown>>> = {
  'a sign-out': ({ session: { id } }) => {
    const now = server.clock.now()
    return server.context.store.endSession({ id, now, codesSince: now, about: {} })
  },
  'another password': ({ user }) => setPassword(server.context, user.id, PASSWORD),
  'user revoke-tokens': ({ user }) => perform(server.context, 'user.revoke-tokens', { user_id: user.id }),
  'user disable': ({ user }) => perform(server.context, 'user.disable', { user_id: user.id }),
}

for (const [way, end] of Object.entries(ENDS)) {
  for (const scope of ['', 'read', 'openid', 'openid offline_access']) {
    test(`UI-13: ${way} while the user allows the scope '${scope}': no code, and no consent is remembered`, async () => {
      const { context, clock } = server
      const email = `${mintUserId(clock.now(), context.random).toLowerCase()}@acme.test`
      await createAccount(server, { email, password: PASSWORD, name: undefined })
      const asked = scope === '' ? {} : { scope }
      const client = await registerClient(server, asked)
      const { browser, page } = await consentPage(client, asked, new PlainBrowser(server), email)
      const authorization = await context.store.findAuthorization(hiddenFields(page)['authorization'] as never)
      const found = await context.store.findClient(client.client_id as never)
      assert.ok(authorization && found)
      const allowed = await evaluateClient(context, found, { phase: 'use', redirectUri: authorization.redirectUri })
      assert.ok('client' in allowed)
      const subject = { ...allowed, authorization, uiLocales: undefined }
      const signedIn = await findSignedIn(context, {
        browser: [],
        session: [browser.cookies.get(SESSION_COOKIE) ?? ''],
      })
      assert.ok(signedIn)
      const choice = { organization: undefined, isAllowed: () => true, isOwnDevice: false, isOfApplication: false }
      const answer = { kind: 'allow', isRemembered: true, ...choice } as const
      const step = await nextStep(context, subject, signedIn, answer)
      assert.equal(step.kind, 'approve')

      clock.advance(1000)
      await end(signedIn)
      clock.advance(1000)
      const reply = step.kind === 'approve' ? await approve(context, subject, step, {}) : undefined
      assert.deepEqual([reply?.kind, reply?.event?.event], ['page', 'request.refused'])
      assert.equal((await context.store.findAuthorization(authorization.id))?.status.kind, 'pending')
      assert.deepEqual(await context.store.listConsents(signedIn.user.id, 5), [])
    })
  }
}
