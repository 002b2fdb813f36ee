import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createLink } from '../../../src/admin/user/link.ts'
import { createUser, setEmail, setPassword } from '../../../src/admin/user/user.ts'
import {
  authorizeUrl,
  EMAIL,
  locationOf,
  obtainTokens,
  PASSWORD,
  PlainBrowser,
  refresh,
  registerClient,
} from '../../../tools/flow.ts'
import { openAuthenticator } from '../../../tools/sign-in/authenticator.ts'
import { madeFields } from '../../../tools/sign-in/passkeys.ts'
import { createAccount, createAda } from '../../support/accounts.ts'
import { assertLocalPage } from '../../support/authorize-answers.ts'
import { openTestServer, type TestServer } from '../../support/server.ts'
import { assertStoreUnchanged, selectAll } from '../../support/store/dump.ts'
import { assertInvalidGrant } from '../../support/token-answers.ts'
import { formsOf, openOwner } from './owner.ts'
import { performOnUser } from '../../support/tasks.ts'
import { pageSays } from '../../texts/page-texts.ts'

const NEW = 'another long horse'
const BOTH = { password: NEW, repeated: NEW }
const DAY_MS = 86_400_000

test('a user without a password sets one with the invitation, and signs in with it', async (t) => {
  const server = await openTestServer(t)
  await createUser(server.context, { email: EMAIL, password: undefined, name: undefined })
  const { address, purpose, expiresAt } = await createLink(server.context, EMAIL)
  assert.equal(purpose, 'invitation')
  assert.ok(Math.abs(expiresAt - server.clock.now() - 7 * DAY_MS) < 60_000)
  const browser = new PlainBrowser(server)
  const page = await browser.get(address)
  assert.equal(page.statusCode, 200)
  assert.match(page.body, /Set up your account at <bdi>Grantor<\/bdi>[^]*ada@acme\.test/)
  assert.deepEqual(cookiesOf(browser), ['grantor-browser'], 'Nothing of the link is in a cookie.')
  const set = await browser.submit(page, BOTH)
  assert.match(set.body, pageSays('account.linkUsedHeading'))
  assert.deepEqual(cookiesOf(browser), ['grantor-browser'], 'The link signs no user in.')
  assert.equal((await openOwner(server, EMAIL, NEW).open('/account')).statusCode, 200)
})

test('PWD-01: NIST SP 800-63B-4 §3.1.1.2: where a second factor is required, a password has at least 8 characters', async (t) => {
  const server = await openTestServer(t, { env: { GRANTOR_SECOND_FACTOR: 'required' } })
  await createUser(server.context, { email: EMAIL, password: undefined, name: undefined })
  const browser = new PlainBrowser(server)
  const page = await browser.get((await createLink(server.context, EMAIL)).address)
  for (const [password, says] of [
    ['hors ba', /A password has at least 8 characters/],
    ['hors bat', /Your password is set/],
  ] as const)
    assert.match((await browser.submit(page, { password, repeated: password })).body, says)
})

test('a reset ends the sessions and grants of the user', async (t) => {
  const server = await openTestServer(t)
  await createAda(server)
  const client = await registerClient(server)
  const tokens = await obtainTokens(server, client)
  const owner = openOwner(server)
  await owner.open('/account')
  const { address, purpose } = await createLink(server.context, EMAIL)
  assert.equal(purpose, 'reset')
  const browser = new PlainBrowser(server)
  const page = await browser.get(address)
  assert.match(page.body, pageSays('account.resetConsequence'))
  await browser.submit(page, BOTH)
  assert.equal((await owner.browser.get('/account')).statusCode, 303)
  assertInvalidGrant(await refresh(server, client, tokens.refresh_token ?? ''))
  await assert.rejects(openOwner(server).open('/account'), pageSays('wrongCredentials'))
})

test('PWD-01: opening a link, also often, does not use it up; a rejected password does not either', async (t) => {
  const { server, address } = await openLink(t)
  const browser = new PlainBrowser(server)
  const page = await assertStoreUnchanged(server, async () => {
    for (let count = 0; count < 3; count += 1) await new PlainBrowser(server).get(address)
    const shown = await browser.get(address)
    assert.equal((await browser.submit(shown, { ...BOTH, repeated: 'x' })).statusCode, 400)
    for (const [password, says] of [
      ['four words, up', /at least 15 characters\. Four words/],
      [`${EMAIL} 1815`, /easy to guess\. Four words/],
    ] as const) {
      const refused = await browser.submit(shown, { password, repeated: password })
      assert.equal(refused.statusCode, 400)
      assert.match(refused.body, says)
    }
    return shown
  })
  assert.equal((await browser.submit(page, BOTH)).statusCode, 200)
})

test('ACC-04: a link works once, also for ten requests at once', async (t) => {
  const { server, address } = await openLink(t)
  const browser = new PlainBrowser(server)
  const page = await browser.get(address)
  const answers = await Promise.all(
    Array.from({ length: 10 }, (_, index) =>
      browser.submit(page, { password: `another horse ${index}`, repeated: `another horse ${index}` }),
    ),
  )
  assert.equal(answers.filter(({ statusCode }) => statusCode === 200).length, 1)
  assertLocalPage(await browser.submit(page, BOTH))
  assertLocalPage(await browser.get(address))
})

test('ACC-04: an edited link and a credential of another kind are refused', async (t) => {
  const { server, address } = await openLink(t)
  const token = new URL(address).searchParams.get('token') ?? ''
  const browser = new PlainBrowser(server)
  const owner = openOwner(server)
  await owner.open('/account')
  const edited = [...token].map(
    (letter, index) => token.slice(0, index) + (letter === 'A' ? 'B' : 'A') + token.slice(index + 1),
  )
  const [cookie = ''] = [...owner.browser.cookies.values()]
  for (const wrong of ['', 'x', token.slice(0, -1), `${token}A`, cookie, ...edited]) {
    const shown = await browser.get(`/account/link?token=${encodeURIComponent(wrong)}`)
    assertLocalPage(shown)
  }
  const [first = ''] = edited
  const post = () => browser.post('/account/link', { token: first, ...BOTH })
  assertLocalPage(await assertStoreUnchanged(server, post))
})

test('ACC-04: a link that was replaced or has expired, and one whose user changed since, are refused', async (t) => {
  const { server } = await openLink(t)
  const { context, clock } = server
  const ends: readonly ((email: string) => Promise<unknown>)[] = [
    (email) => createLink(context, email),
    (email) => setEmail(context, email, { email: `new.${email}`, isVerified: true }),
    (email) => setPassword(context, email, 'set by an operator'),
    (email) => performOnUser(context, 'user.revoke-tokens', email),
    (email) => performOnUser(context, 'user.disable', email),
    async (email) => {
      await performOnUser(context, 'user.disable', email)
      await performOnUser(context, 'user.enable', email)
    },
    (email) => performOnUser(context, 'user.delete', email),
    async () => clock.advance(DAY_MS),
  ]
  for (const [index, end] of ends.entries()) {
    const email = `user-${index}@acme.test`
    await createAccount(server, { email, password: PASSWORD, name: undefined })
    const { address } = await createLink(context, email)
    const browser = new PlainBrowser(server)
    const page = await browser.get(address)
    assert.equal(page.statusCode, 200)
    clock.advance(1)
    await end(email)
    assertLocalPage(await browser.get(address))
    assertLocalPage(await assertStoreUnchanged(server, () => browser.submit(page, BOTH)))
  }
})

test('ACC-04: with GRANTOR_PASSWORDS=off a link from before sets no password, and adds a passkey where those are offered', async (t) => {
  const { server, address } = await openLink(t)
  const page = await new PlainBrowser(server).get(address)
  await server.close()
  const { folder, clock } = server
  const off = await openTestServer(t, { folder, clock, env: { GRANTOR_PASSWORDS: 'off' } })
  const browser = new PlainBrowser(off)
  const shown = await browser.get(address)
  assert.ok(!shown.body.includes('name="password"'))
  assertLocalPage(await assertStoreUnchanged(off, () => new PlainBrowser(off).submit(page, BOTH)))
  const added = await browser.post('/account/link', madeFields(shown, openAuthenticator()))
  assert.match(added.body, pageSays('account.linkUsedByPasskey'))
})

/** The names of the cookies of a browser, without the port. */
function cookiesOf({ cookies }: PlainBrowser): readonly string[] {
  return [...cookies.keys()].map((name) => name.replace(/-\d+$/, ''))
}

test('ACC-05: a link leads nowhere but to its own page, whatever its address has besides', async (t) => {
  const { server, address } = await openLink(t)
  const browser = new PlainBrowser(server)
  const evils = ['next', 'return_to', 'redirect_uri', 'url'].map((name) => `&${name}=https%3A%2F%2Fevil.test`)
  const page = await browser.get(address + evils.join(''))
  assert.ok(!page.body.includes('evil.test'))
  const answer = await browser.submit(page, { ...BOTH, next: 'https://evil.test', email: 'eve@acme.test' })
  assert.equal(answer.headers.location, undefined)
  assert.ok(!answer.body.includes('evil.test'))
  assert.match(answer.body, /href="http:\/\/localhost:3000\/account"/)
  assert.deepEqual(
    selectAll(server, 'select email from users').map(({ email }) => email),
    [EMAIL],
  )
})

test('ACC-08: the form of a link from another site is rejected, and changes nothing', async (t) => {
  const { server, address } = await openLink(t)
  const browser = new PlainBrowser(server)
  const [form] = formsOf(await browser.get(address))
  for (const site of ['cross-site', 'same-site']) {
    const post = () => browser.post('/account/link', { ...form?.hidden, ...BOTH }, { 'sec-fetch-site': site })
    assertLocalPage(await assertStoreUnchanged(server, post), 403)
  }
})

test('ACC-08: a form whose Origin is of another site is refused without Sec-Fetch-Site, too; that of this server is null', async (t) => {
  const { server, address } = await openLink(t)
  const token = new URL(address).searchParams.get('token') ?? ''
  const post = (origin: string, url: string, fields: Readonly<Record<string, string>>) =>
    server.inject({
      method: 'POST',
      url,
      payload: new URLSearchParams(fields).toString(),
      headers: { 'content-type': 'application/x-www-form-urlencoded', origin },
    })
  for (const origin of ['https://evil.test', 'http://localhost:3001', 'https://localhost:3000'])
    for (const url of ['/account/link', '/v2/oauth/sign-in/forgot'])
      assertLocalPage(
        await assertStoreUnchanged(server, () => post(origin, url, { token, ...BOTH })),
        url.endsWith('forgot') ? 404 : 403,
      )
  for (const origin of ['null', 'http://localhost:3000']) {
    const answer = await post(origin, '/account/link', { token, password: 'short', repeated: 'short' })
    assert.match(answer.body, /at least 15 characters/)
  }
})

test('UI-08: wrong passwords of others do not lock out the browser in which the link was used', async (t) => {
  const { server, address } = await openLink(t)
  const browser = new PlainBrowser(server)
  await browser.submit(await browser.get(address), BOTH)
  for (let count = 0; count < 11; count += 1)
    await assert.rejects(openOwner(server, EMAIL, `wrong ${count}`).open('/account'))
  const signIn = await browser.get(locationOf(await browser.get('/account')))
  assert.equal((await browser.submit(signIn, { email: EMAIL, password: NEW })).statusCode, 303)
  await assert.rejects(openOwner(server, EMAIL, NEW).open('/account'), /Too many/)
})

test('ACC-04: a browser that opened a link of another user signs in to its own account, and nothing is linked', async (t) => {
  const { server, address } = await openLink(t)
  await createUser(server.context, { email: 'eve@acme.test', password: PASSWORD, name: undefined })
  const victim = openOwner(server, 'eve@acme.test')
  await victim.browser.get(address)
  const page = await victim.open('/account')
  assert.ok(page.body.includes('eve@acme.test') && !page.body.includes(EMAIL))
  const client = await registerClient(server)
  const consent = await victim.browser.get((await victim.browser.get(authorizeUrl(client))).headers.location ?? '')
  assert.ok(consent.body.includes('eve@acme.test') && !consent.body.includes(EMAIL))
})

test('the token of a link is in no log and not in the store', async (t) => {
  const { server, address } = await openLink(t)
  const token = new URL(address).searchParams.get('token') ?? ''
  const browser = new PlainBrowser(server)
  await browser.submit(await browser.get(address), BOTH)
  assert.ok(token.length > 100)
  assert.ok(!server.log().includes(token))
  const rows = selectAll(server, 'select events from audit_links').map((row) => String(row['events']))
  assert.ok(rows.some((text) => text.includes('link.used')) && !rows.some((text) => text.includes(token)))
})

async function openLink(
  t: Parameters<typeof openTestServer>[0],
): Promise<{ readonly server: TestServer; readonly address: string }> {
  const server = await openTestServer(t)
  await createAda(server)
  server.clock.advance(1000)
  return { server, address: (await createLink(server.context, EMAIL)).address }
}
