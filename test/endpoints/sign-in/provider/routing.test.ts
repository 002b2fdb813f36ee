import assert from 'node:assert/strict'
import { test } from 'node:test'
import { trySuspects } from '../../../../src/server/background/suspect-providers.ts'
import { createLink } from '../../../../src/admin/user/link.ts'
import { updateProvider } from '../../../../src/admin/provider/provider.ts'
import { setPassword } from '../../../../src/admin/user/user.ts'
import { coversAll } from '../../../../src/endpoints/sign-in/changing-session.ts'
import type { UserId } from '../../../../src/protocol/ids.ts'
import type { ProviderId } from '../../../../src/protocol/sign-in/authentication.ts'
import { EMAIL, locationOf, PASSWORD, PlainBrowser } from '../../../../tools/flow.ts'
import { createAccount, createAda } from '../../../support/accounts.ts'
import type { Claims } from '../../../support/provider/provider-host.ts'
import { execute } from '../../../support/store/dump.ts'
import { sendJson } from '../../../support/hosts/web-host.ts'
import { ADA_CLAIMS, addProvider, freshClaims, signInAt } from '../../../support/provider/providers.ts'
import { givePasskey, passkeyFormOf, signedFields } from '../../../../tools/sign-in/passkeys.ts'
import { aPasskey } from '../../../support/sign-in/factor-records.ts'
import { leadsTo, pressProvider } from '../../../../tools/provider-page.ts'
import { formsOf, openOwner } from '../../account/owner.ts'
import { isSignedIn, openServerWithProvider } from './server-with-provider.ts'
import { perform } from '../../../support/tasks.ts'
import { pageSays } from '../../../texts/page-texts.ts'

const REQUIRED = { domains: ['acme.test'], routing: 'required' } as const
const IDP = 'idp' as ProviderId

test('with a required provider the page asks for the address first, and sends a user of its domain to the provider', async (t) => {
  const setup = await openServerWithProvider(t, REQUIRED)
  const { browser, page } = await setup.arrive()
  assert.ok(!page.body.includes('type="password"'))
  const form = formsOf(page).find(({ names }) => names.has('email'))
  const left = await browser.post(form?.action ?? '', { ...form?.hidden, email: 'Ada@ACME.test' })
  assert.equal(new URL(leadsTo(left)).searchParams.get('login_hint'), EMAIL)
  const others = await browser.post(form?.action ?? '', { ...form?.hidden, email: 'bob@elsewhere.test' })
  assert.match(others.body, /value="bob@elsewhere\.test"[^]*type="password"/)
})

test('UP-19: an account with an address of a required provider has no password, no reset and no link for one', async (t) => {
  const setup = await openServerWithProvider(t, REQUIRED)
  const { server } = setup
  await createAda(server)
  const { browser, page } = await setup.arrive()
  const form = formsOf(page).find(({ names }) => names.has('email'))
  const answer = await browser.post(form?.action ?? '', { ...form?.hidden, email: EMAIL, password: PASSWORD })
  assert.ok(leadsTo(answer).startsWith(setup.host.issuer))
  assert.deepEqual(setup.rows('sessions'), [])
  await assert.rejects(setPassword(server.context, EMAIL, 'another password'), /signs in at Acme ID only/)
  const { address } = await createLink(server.context, EMAIL)
  const link = await browser.get(address)
  assert.ok(!link.body.includes('type="password"') && link.body.includes('Continue with'))
  const [hidden] = formsOf(link).map((one) => one.hidden)
  const forced = await browser.post('/account/link', {
    token: hidden?.['token'] ?? '',
    password: 'another password',
    repeated: 'another password',
  })
  assert.equal(forced.statusCode, 400)
  // The rule stays while the provider is disabled: the password of before does not become valid again.
  await perform(server.context, 'provider.disable', { provider_id: IDP })
  server.clock.advance(1001)
  const after = await browser.post(form?.action ?? '', { ...form?.hidden, email: EMAIL, password: PASSWORD })
  assert.equal(after.statusCode, 403)
  await assert.rejects(
    createLink(server.context, EMAIL),
    /signs in at Acme ID only.* disabled.* enable idp.* --routing offered/,
  )
  assert.deepEqual(setup.rows('sessions'), [])
})

test('UP-19, UP-34: an account from before the rule is connected once by its password, after its user signed in at the provider', async (t) => {
  const setup = await openServerWithProvider(t)
  const { server, host } = setup
  await createAda(server)
  await createAccount(server, { email: 'bob@acme.test', password: PASSWORD, name: undefined })
  await openOwner(server).open('/account')
  await updateProvider(server.context, IDP, { settings: REQUIRED, clientSecret: undefined })
  server.clock.advance(1001)
  const { browser, page } = await setup.arrive()
  const asked = await signInAt({ browser, page, host })
  const form = formsOf(asked).find(({ names }) => names.has('password'))
  // UP-34: the proof is of Ada's account alone, and no password of another one is tried.
  for (const password of [PASSWORD, 'not the password']) {
    const bob = await browser.post(form?.action ?? '', { ...form?.hidden, email: 'bob@acme.test', password })
    assert.ok(leadsTo(bob).startsWith(host.issuer))
  }
  const ada = await browser.post(form?.action ?? '', { ...form?.hidden, email: EMAIL, password: PASSWORD })
  assert.ok(isSignedIn(ada))
  assert.ok(isSignedIn(await setup.signIn()))
})

test('UP-19: an account with an address of a required provider signs in at no other one, which neither connects nor creates it', async (t) => {
  const setup = await openServerWithProvider(t)
  const { server, host } = setup
  await addProvider(server, host, { signUp: 'anybody' }, { id: 'second', name: 'Second' })
  server.clock.advance(1001)
  const at = async (claims: Claims) => signInAt({ ...(await setup.arrive()), host }, claims, {}, 'second')
  assert.ok(isSignedIn(await at(ADA_CLAIMS)))
  await createAccount(server, { email: 'bob@acme.test', password: PASSWORD, name: undefined })
  const { address } = await createLink(server.context, 'bob@acme.test')
  const invited = new PlainBrowser(server)
  const form = formsOf(await invited.get(address)).find(({ hidden }) => hidden['provider'] === 'second')
  const location = leadsTo(await invited.post(form?.action ?? '', form?.hidden ?? {}))
  await updateProvider(server.context, IDP, { settings: REQUIRED, clientSecret: undefined })
  server.clock.advance(1001)
  assert.ok(!(await invited.get(address)).body.includes('Continue with Second'))
  const read = () => (['users', 'identity_proofs', 'sessions'] as const).map((table) => setup.rows(table))
  const before = read()
  const answers = [
    await at(ADA_CLAIMS),
    await at({ sub: 'bob', email: 'bob@acme.test', email_verified: true }),
    await at({ sub: 'carol', email: 'carol@acme.test', email_verified: true }),
    await invited.get(host.approve(location, { sub: 'bob' })),
  ]
  assert.deepEqual(
    answers.map(({ statusCode }) => statusCode),
    [403, 403, 403, 403],
  )
  assert.deepEqual(read(), before)
  assert.equal(setup.rows('identities').length, 1)
  assert.ok(isSignedIn(await at({ sub: 'dan', email: 'dan@elsewhere.test', email_verified: true })))
})

for (const [language, off, down] of [
  [
    'en',
    /Sign-in with [^]*Acme ID[^]* is switched off here at the moment\. Ask the operator/,
    /does not answer right now\. Try again in a minute\.</,
  ],
  [
    'de',
    /Die Anmeldung mit [^]*Acme ID[^]* ist hier zurzeit abgeschaltet/,
    /antwortet gerade nicht\. Versuchen Sie es in einer Minute noch\s+einmal\.</,
  ],
] as const) {
  test(`UP-18, ${language}: while a required provider is disabled or down, the page names it and offers nothing that cannot work`, async (t) => {
    const setup = await openServerWithProvider(t, REQUIRED, {
      env: { GRANTOR_SMTP_URL: 'smtp://127.0.0.1:1', GRANTOR_MAIL_FROM: 'auth@acme.test' },
    })
    const { host, server } = setup
    const parameters = { ui_locales: language }
    const hinted = { ...parameters, login_hint: EMAIL }
    const { browser, page } = await setup.arrive(parameters)
    const form = formsOf(page).find(({ names }) => names.has('email'))
    const type = (email: string) => browser.post(form?.action ?? '', { ...form?.hidden, email })
    const offersNothing = (body: string) =>
      assert.doesNotMatch(body, /type="password"|data-passkey|name="ask"|formaction/)
    host.answer('/.well-known/openid-configuration', (_request, response) => void response.writeHead(500).end())
    const away = await type(EMAIL)
    assert.equal(away.statusCode, 503)
    assert.match(away.body, down)
    offersNothing(away.body)
    await perform(server.context, 'provider.disable', { provider_id: IDP })
    server.clock.advance(1001)
    for (const { body, statusCode } of [await type(EMAIL), (await setup.arrive(hinted)).page]) {
      assert.equal(statusCode, 403)
      assert.match(body, off)
      offersNothing(body)
    }
    const other = await type('bob@elsewhere.test')
    assert.match(other.body, /type="password"[^]*formaction="/)
    const forgotUri = (/formaction="([^"]*)"/.exec(other.body)?.[1] ?? '').replaceAll('&amp;', '&')
    assert.match((await browser.post(forgotUri, { email: EMAIL })).body, off)
  })
}

test('UP-19: a proof of a required provider allows no password after the provider was disabled', async (t) => {
  const setup = await openServerWithProvider(t, REQUIRED)
  const { server, host } = setup
  await createAda(server)
  execute(server, 'update users set first_signed_in_at = 1')
  const { browser, page } = await setup.arrive()
  const form = formsOf(await signInAt({ browser, page, host })).find(({ names }) => names.has('password'))
  await perform(server.context, 'provider.disable', { provider_id: IDP })
  const answer = await browser.post(form?.action ?? '', { ...form?.hidden, email: EMAIL, password: PASSWORD })
  assert.equal(answer.statusCode, 401)
  assert.deepEqual([setup.rows('sessions'), setup.rows('identities')], [[], []])
})

test('UP-19, ACR-06: a user cannot remove a required provider, and sets an app up beside a passkey from before, which cannot sign in', async (t) => {
  const setup = await openServerWithProvider(t, { ...REQUIRED, signUp: 'domains' })
  const { browser, page } = await setup.arrive()
  await signInAt({ browser, page, host: setup.host }, freshClaims(setup.server))
  const security = await browser.get('/account/security')
  assert.match(security.body, /the operator requires it/)
  const [csrf] = [/name="csrf" value="([^"]*)"/.exec((await browser.get('/account')).body)?.[1] ?? '']
  const [identity] = setup.rows('identities')
  await browser.post('/account/security/remove-provider', { csrf, identity: String(identity?.['identity_key']) })
  assert.equal(setup.rows('identities').length, 1)

  const { store } = setup.server.context
  const userId = String(identity?.['user_id']) as UserId
  const [session] = await store.listSessions({ userId, before: undefined, limit: 1 })
  const reason = { kind: 'session', session: coversAll(session ?? assert.fail()) } as const
  assert.equal(await store.addPasskey({ passkey: aPasskey({ userId }), reason, mails: [] }), 'added')
  const app = await browser.get('/account/security/app')
  assert.deepEqual([app.statusCode, app.body.includes('class="key"')], [200, true])
})

test('with one provider and without passwords the sign-in page is left out', async (t) => {
  const setup = await openServerWithProvider(t, { signUp: 'anybody' }, { env: { GRANTOR_PASSWORDS: 'off' } })
  const { browser, page } = await setup.arrive()
  const location = locationOf(page)
  assert.ok(location.startsWith(`${setup.host.issuer}/authorize?`))
  assert.ok(isSignedIn(await browser.get(setup.host.approve(location, ADA_CLAIMS))))
  // A person who cancelled sees the page, and is not sent back and forth.
  const second = await setup.arrive()
  const cancelled = setup.host.approve(locationOf(second.page), ADA_CLAIMS, {
    callback: { code: null, error: 'access_denied' },
  })
  assert.match((await second.browser.get(cancelled)).body, /Continue with/)
})

test('with one provider and without passwords the sign-in page is shown from the first passkey on, which signs in', async (t) => {
  const setup = await openServerWithProvider(t, { signUp: 'anybody' }, { env: { GRANTOR_PASSWORDS: 'off' } })
  const { id } = await createAccount(setup.server, { email: EMAIL, password: undefined, name: undefined })
  const { authenticator } = await givePasskey(setup.server, id)
  const { browser, page } = await setup.arrive()
  assert.match(page.body, /Continue with[^]*Sign in with a passkey/)
  const fields = signedFields(page, { userId: id, authenticator })
  assert.ok(isSignedIn(await browser.post(passkeyFormOf(page).action, fields)))
  // A required provider of a hint stays the only way.
  await updateProvider(setup.server.context, IDP, { settings: REQUIRED, clientSecret: undefined })
  setup.server.clock.advance(1001)
  assert.ok(locationOf((await setup.arrive({ login_hint: EMAIL })).page).startsWith(setup.host.issuer))
})

test('a login_hint of a required domain leads to its provider, and never to a disabled one', async (t) => {
  const setup = await openServerWithProvider(t, REQUIRED)
  const hint = { login_hint: EMAIL }
  assert.ok(locationOf((await setup.arrive(hint)).page).startsWith(setup.host.issuer))
  assert.equal((await setup.arrive({ login_hint: 'bob@elsewhere.test' })).page.statusCode, 200)
  await perform(setup.server.context, 'provider.disable', { provider_id: IDP })
  setup.server.clock.advance(1001)
  const { page } = await setup.arrive(hint)
  assert.equal(page.statusCode, 403)
  assert.ok(!page.body.includes('Continue with'))
})

test('the sign-in page has at most eight buttons of providers', async (t) => {
  const setup = await openServerWithProvider(t)
  for (let index = 0; index < 9; index++) {
    await addProvider(setup.server, setup.host, {}, { id: `idp-${index}`, name: `Number ${index}` })
  }
  setup.server.clock.advance(1001)
  const { page } = await setup.arrive()
  assert.equal(page.body.match(/Continue with/g)?.length, 8)
})

test('UP-18: the button of a failing provider says so, other methods stay, and the server tries the provider again', async (t) => {
  const setup = await openServerWithProvider(t, { signUp: 'anybody' })
  const { host, server } = setup
  const { browser, page } = await setup.arrive()
  for (const path of ['/token', '/jwks'])
    host.answer(path, (request, response) => {
      response.writeHead(500).end()
      request.resume()
    })
  for (let count = 0; count < 5; count += 1) {
    const callback = host.approve(leadsTo(await pressProvider(browser, page)), ADA_CLAIMS)
    const failed = await browser.get(callback)
    assert.equal(failed.statusCode, 503)
    assert.match(failed.body, pageSays('providerDown'))
  }
  await trySuspects(server.context)
  const asked = host.paths().length
  const shown = await setup.arrive()
  assert.match(shown.page.body, /aria-describedby="down-idp"[^]*It does not answer right now[^]*type="password"/)
  const pressed = await pressProvider(browser, page)
  assert.equal(pressed.statusCode, 503)
  assert.equal(host.paths().length, asked)
  for (const path of ['/token', '/jwks']) host.answer(path, undefined)
  await trySuspects(server.context)
  assert.equal(host.paths().length, asked, 'not before 15 seconds')
  server.clock.advance(15_000)
  assert.equal((await pressProvider(browser, page)).statusCode, 503, 'a person’s browser is not sent to try')
  await trySuspects(server.context)
  assert.ok(isSignedIn(await setup.signIn()))
  assert.ok(!(await setup.arrive()).page.body.includes('down-idp'))
})

test('the provider’s metadata are used for a day while it is down', async (t) => {
  const setup = await openServerWithProvider(t, { signUp: 'anybody' })
  const { host, server } = setup
  await setup.signIn()
  host.answer('/.well-known/openid-configuration', (_request, response) => void response.writeHead(500).end())
  server.clock.advance(3_600_000)
  assert.ok(isSignedIn(await setup.signIn()))
  server.clock.advance(24 * 3_600_000)
  const { browser, page } = await setup.arrive()
  assert.equal((await pressProvider(browser, page)).statusCode, 503)
  host.answer('/.well-known/openid-configuration', sendJson({ issuer: 'https://evil.test' }))
  assert.equal((await pressProvider(browser, page)).statusCode, 503)
})

test('an outage of the provider ends no session and no grant', async (t) => {
  const setup = await openServerWithProvider(t, { signUp: 'anybody' })
  const { browser, page } = await setup.arrive()
  await signInAt({ browser, page, host: setup.host })
  await setup.server.context.store.disableProvider({ id: IDP, now: setup.server.clock.now() })
  const asked = setup.host.paths().length
  assert.equal((await browser.get('/account')).statusCode, 200)
  assert.equal(setup.host.paths().length, asked)
})
