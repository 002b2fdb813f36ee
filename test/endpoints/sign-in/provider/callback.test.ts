import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createLink } from '../../../../src/admin/user/link.ts'
import { updateProvider } from '../../../../src/admin/provider/provider.ts'
import type { ProviderId } from '../../../../src/protocol/sign-in/authentication.ts'
import type { ProviderSettings } from '../../../../src/protocol/sign-in/provider.ts'
import { EMAIL, locationOf, PASSWORD, PlainBrowser, pushedUrl, redeem } from '../../../../tools/flow.ts'
import { createAccount, createAda } from '../../../support/accounts.ts'
import { createOrganization } from '../../../support/organizations.ts'
import { ADA_CLAIMS, addProvider, signInAt } from '../../../support/provider/providers.ts'
import { leadsTo, pressProvider } from '../../../../tools/provider-page.ts'
import { aUser } from '../../../support/records.ts'
import type { TestServer } from '../../../support/server.ts'
import { assertStoreUnchanged } from '../../../support/store/dump.ts'
import { formsOf, openOwner } from '../../account/owner.ts'
import { isSignedIn, openServerWithProvider } from './server-with-provider.ts'
import { perform } from '../../../support/tasks.ts'
import { pageSays } from '../../../texts/page-texts.ts'

const ANYBODY = { signUp: 'anybody' } as const
const IDP = 'idp' as ProviderId

test('the browser is sent to the provider with PKCE, a nonce and one redirect URI, and with nothing of the client', async (t) => {
  const setup = await openServerWithProvider(t)
  const { browser, page } = await setup.arrive({ login_hint: EMAIL })
  const url = new URL(leadsTo(await pressProvider(browser, page)))
  const { state, nonce, code_challenge, ...fixed } = Object.fromEntries(url.searchParams)
  assert.deepEqual(fixed, {
    client_id: 'grantor',
    response_type: 'code',
    redirect_uri: 'http://localhost:3000/v2/oauth/callback/idp',
    scope: 'openid email profile',
    code_challenge_method: 'S256',
    login_hint: EMAIL,
  })
  for (const random of [nonce, code_challenge]) assert.match(random ?? '', /^[\w-]{43}$/)
  assert.ok((state ?? '').length < 700)
})

test('prompt=login of the client is handed on to the provider', async (t) => {
  const setup = await openServerWithProvider(t)
  const { browser, page } = await setup.arrive({ prompt: 'login' })
  const url = new URL(leadsTo(await pressProvider(browser, page)))
  assert.equal(url.searchParams.get('prompt'), 'login')
})

test('OpenID Connect Core §3.1.2.1: max_age of the client is handed on to the provider', async (t) => {
  const setup = await openServerWithProvider(t)
  const { browser, page } = await setup.arrive({ max_age: '300' })
  setup.server.clock.advance(2000)
  const { searchParams } = new URL(leadsTo(await pressProvider(browser, page)))
  assert.deepEqual([searchParams.get('max_age'), searchParams.get('prompt')], ['302', null])
})

test('UP-21, OpenID Connect Core §3.1.3.7: a provider whose auth_time is older than the client allows signs no user in', async (t) => {
  const setup = await openServerWithProvider(t, ANYBODY)
  const { host, server } = setup
  const secondsAgo = (seconds: number) => Math.floor(server.clock.now() / 1000) - seconds
  // The clock of the provider may be a minute behind.
  for (const [parameters, age, isAccepted] of [
    [{ prompt: 'login' }, 70, false],
    [{ prompt: 'login' }, 30, true],
    [{ max_age: '300' }, 370, false],
    [{ max_age: '300' }, 290, true],
    [{}, 100_000, true],
  ] as const) {
    const arrived = await setup.arrive(parameters)
    const answer = await signInAt({ ...arrived, host }, { ...ADA_CLAIMS, auth_time: secondsAgo(age) })
    assert.equal(isSignedIn(answer), isAccepted, JSON.stringify([parameters, age]))
  }
  assert.equal(isSignedIn(await signInAt({ ...(await setup.arrive({ prompt: 'login' })), host })), true)
})

test('UP-21: an account page that asks the user to sign in again takes no earlier authentication of the provider', async (t) => {
  const setup = await openServerWithProvider(t)
  const { host, server } = setup
  await createAda(server)
  const owner = openOwner(server)
  const location = leadsTo(await owner.submit(await owner.open('/account/security/add-provider'), 'provider'))
  const yesterday = Math.floor(server.clock.now() / 1000) - 86_400
  const answer = await owner.browser.get(host.approve(location, { ...ADA_CLAIMS, auth_time: yesterday }))
  assert.equal(answer.statusCode, 403)
  assert.deepEqual(setup.rows('identities'), [])
})

test('UP-04: a proof of one person and browser links no other person and no other browser', async (t) => {
  const setup = await openServerWithProvider(t)
  const { server, host } = setup
  await createAda(server)
  await createAccount(server, { email: 'bob@acme.test', password: PASSWORD, name: undefined })
  const first = await setup.arrive()
  const asked = await signInAt({ ...first, host })
  const form = formsOf(asked).find(({ names }) => names.has('password'))
  const proof = form?.hidden['connect'] ?? ''
  assert.match(proof, /^gup_/)
  // Another browser, with its own form.
  const second = await setup.arrive()
  const own = formsOf(second.page).find(({ names }) => names.has('password'))
  const used = await second.browser.post(own?.action ?? '', {
    ...own?.hidden,
    connect: proof,
    email: EMAIL,
    password: PASSWORD,
  })
  assert.ok(isSignedIn(used))
  // The same browser, but the account of another user.
  const bob = await first.browser.post(form?.action ?? '', {
    ...form?.hidden,
    email: 'bob@acme.test',
    password: PASSWORD,
  })
  assert.ok(isSignedIn(bob))
  assert.deepEqual(setup.rows('identities'), [])
  // Another person of the provider in the same browser has a proof of their own, which replaces the first.
  const other = await setup.arrive()
  await signInAt({ ...other, host }, { ...ADA_CLAIMS, sub: 'somebody-else' })
  const late = await first.browser.post(form?.action ?? '', { ...form?.hidden, email: EMAIL, password: PASSWORD })
  assert.ok(isSignedIn(late))
  assert.deepEqual(setup.rows('identities'), [])
})

test('PAR-01: a user signs in at a provider for a pushed request, which the approval uses up', async (t) => {
  const { server, host, client } = await openServerWithProvider(t, ANYBODY)
  const browser = new PlainBrowser(server)
  const url = await pushedUrl(server, client, { state: 'pushed' })
  const page = await browser.get(locationOf(await browser.get(url)))
  const consent = await browser.get(locationOf(await signInAt({ browser, page, host })))
  const { searchParams: answer } = new URL(locationOf(await browser.submit(consent, { decision: 'allow' })))
  assert.equal(answer.get('state'), 'pushed')
  assert.equal((await redeem(server, client, answer.get('code') ?? '')).statusCode, 200)
  assert.equal((await browser.get(url)).statusCode, 400)
})

test('UP-04: a proof or a link that another one replaces while the provider answers is not used', async (t) => {
  const setup = await openServerWithProvider(t)
  const { server, host } = setup
  await addProvider(server, host, ANYBODY, { id: 'second', name: 'Second' })
  server.clock.advance(1001)
  const second = { sub: 'ada-at-second', email: EMAIL, email_verified: true }
  await signInAt({ ...(await setup.arrive()), host }, second, {}, 'second')
  const { browser, page } = await setup.arrive()
  const asked = await signInAt({ browser, page, host })
  const proving = host.approve(leadsTo(await pressProvider(browser, asked, 'second')), second)
  const eve = await setup.arrive()
  host.during('/token', () => signInAt({ ...eve, host }, { ...ADA_CLAIMS, sub: 'eve' }))
  assert.ok(isSignedIn(await browser.get(proving)))
  assert.equal(setup.rows('identities').length, 1)

  const { address } = await createLink(server.context, EMAIL)
  const invited = new PlainBrowser(server)
  const methods = await invited.submit(await invited.get(address), {})
  const form = formsOf(methods).find(({ hidden }) => hidden['provider'] === 'idp')
  const left = leadsTo(await invited.post(form?.action ?? '', form?.hidden ?? {}))
  host.during('/token', () => createLink(server.context, EMAIL))
  assert.equal((await invited.get(host.approve(left, { sub: 'eve' }))).statusCode, 403)
  assert.equal(setup.rows('identities').length, 1)
})

test('UP-04: a proof expires after ten minutes', async (t) => {
  const setup = await openServerWithProvider(t, {}, { env: { GRANTOR_AUTHORIZATION_LIFETIME: '3600' } })
  await createAda(setup.server)
  const { browser, page } = await setup.arrive()
  const form = formsOf(await signInAt({ browser, page, host: setup.host })).find(({ names }) => names.has('password'))
  setup.server.clock.advance(10 * 60_000)
  assert.ok(isSignedIn(await browser.post(form?.action ?? '', { ...form?.hidden, email: EMAIL, password: PASSWORD })))
  assert.deepEqual(setup.rows('identities'), [])
})

test('UP-05: a provider that the user adds or removes ends every proof that is left over', async (t) => {
  const setup = await openServerWithProvider(t)
  const { server, host } = setup
  await createAda(server)
  await addProvider(server, host, {}, { id: 'second', name: 'Second' })
  server.clock.advance(1001)
  const late = await setup.arrive()
  const asked = await signInAt({ ...late, host })
  const form = formsOf(asked).find(({ names }) => names.has('password'))
  assert.equal(setup.rows('identity_proofs').length, 1)
  const owner = openOwner(server)
  const security = await owner.open('/account/security/add-provider')
  const left = await owner.submit(security, 'provider', {}, 'second')
  await owner.browser.get(host.approve(leadsTo(left), { sub: 'ada-at-second' }))
  assert.deepEqual(setup.rows('identity_proofs'), [])
  assert.ok(
    isSignedIn(await late.browser.post(form?.action ?? '', { ...form?.hidden, email: EMAIL, password: PASSWORD })),
  )
  assert.equal(setup.rows('identities').length, 1)
  await signInAt({ ...(await setup.arrive()), host })
  assert.equal(setup.rows('identity_proofs').length, 1)
  await owner.remove(await owner.open('/account/security'), 'identity')
  assert.deepEqual([setup.rows('identity_proofs'), setup.rows('identities')], [[], []])
})

test('UP-06: of 50 callbacks with one state one signs in, and a second tab with it does nothing', async (t) => {
  const setup = await openServerWithProvider(t, ANYBODY)
  const { browser, page } = await setup.arrive()
  const callback = setup.host.approve(leadsTo(await pressProvider(browser, page)), ADA_CLAIMS)
  const answers = await Promise.all(Array.from({ length: 50 }, () => browser.get(callback)))
  assert.equal(answers.filter(isSignedIn).length, 1)
  assert.equal(answers.filter(({ statusCode }) => statusCode === 409).length, 49)
  assert.equal(setup.rows('sessions').length, 1)
  assert.equal(setup.host.paths().filter((path) => path === '/token').length, 1)
})

test('UP-07: a provider that was disabled, deleted or changed meanwhile signs no user in', async (t) => {
  const changes: readonly ((setup: Awaited<ReturnType<typeof openServerWithProvider>>) => Promise<unknown>)[] = [
    ({ server }) => perform(server.context, 'provider.disable', { provider_id: IDP }),
    ({ server }) => server.context.store.deleteProvider({ id: IDP, now: server.clock.now() }),
    ({ server }) => updateProvider(server.context, IDP, { settings: { signUp: 'off' }, clientSecret: undefined }),
  ]
  for (const [index, change] of changes.entries()) {
    const setup = await openServerWithProvider(t, ANYBODY)
    const { browser, page } = await setup.arrive()
    const callback = setup.host.approve(leadsTo(await pressProvider(browser, page)), ADA_CLAIMS)
    await change(setup)
    const answer = await assertStoreUnchanged(setup.server, () => browser.get(callback))
    assert.equal(answer.statusCode, index === 1 ? 404 : 403)
    assert.deepEqual(setup.rows('sessions'), [])
  }
})

test('UP-07: a provider that is disabled or deleted while it answers signs no user in', async (t) => {
  const changes: readonly ((server: TestServer) => Promise<unknown>)[] = [
    ({ context }) => perform(context, 'provider.disable', { provider_id: IDP }),
    ({ context, clock }) => context.store.deleteProvider({ id: IDP, now: clock.now() }),
  ]
  for (const change of changes) {
    const setup = await openServerWithProvider(t, ANYBODY)
    const { host, server } = setup
    assert.ok(isSignedIn(await setup.signIn()))
    host.during('/token', () => change(server))
    assert.equal((await setup.signIn()).statusCode, 403)
    assert.equal(setup.rows('sessions').length, 1)
  }
})

test('UP-07: settings that change while a provider answers count: for the account, its address, its membership and its links', async (t) => {
  const before = { signUp: 'domains', domains: ['acme.test'], emailTrust: 'claim', link: 'verified-email' } as const
  const changes: readonly (readonly [
    change: Partial<ProviderSettings>,
    isMade: boolean,
    isMember: boolean,
    isLinked: boolean,
  ])[] = [
    [{ name: 'Acme' }, true, true, true],
    [{ signUp: 'off' }, false, true, true],
    [{ emailTrust: 'none', link: 'ask' }, false, false, false],
    [{ signUp: 'anybody', emailTrust: 'none', link: 'ask' }, true, false, true],
    [{ organizationId: undefined }, true, false, true],
    [{ domains: ['other.test'] }, false, false, false],
    [{ link: 'ask' }, true, true, false],
    [{ clientId: 'another' }, false, false, false],
    [{ subjectClaim: 'tenant-object' }, false, false, false],
  ]
  const setup = await openServerWithProvider(t)
  const { host, server } = setup
  const { context } = server
  const update = (settings: Partial<ProviderSettings>) =>
    updateProvider(context, IDP, { settings, clientSecret: undefined })
  const organizationId = await createOrganization(server, 'Acme')
  const { clientId, subjectClaim } = (await update({ ...before, organizationId })).provider.settings
  for (const [index, [change, isMade, isMember, isLinked]] of changes.entries()) {
    const message = JSON.stringify(change)
    for (const [email, isExpected] of [
      [`new-${index}@acme.test`, isMade],
      [`known-${index}@acme.test`, isLinked],
    ] as const) {
      const now = server.clock.now()
      const user = aUser({ email, createdAt: now, notBefore: now, emailVerifiedAt: now, firstSignedInAt: now })
      if (email.startsWith('known')) await context.store.createUser(user)
      const counts = () => (['identities', 'memberships'] as const).map((table) => setup.rows(table).length)
      const [identities = 0, members = 0] = counts()
      host.during('/token', () => update(change))
      await setup.signIn({ sub: email, email, email_verified: true, name: email })
      const isJoined = isExpected && isMember
      assert.deepEqual(counts(), [identities + Number(isExpected), members + Number(isJoined)], `${message} ${email}`)
      await update({ ...before, organizationId, clientId, subjectClaim, name: 'Acme ID' })
    }
  }
})

test('UP-07: a provider that is disabled while a person proves the account is not linked', async (t) => {
  const setup = await openServerWithProvider(t)
  await createAda(setup.server)
  const { browser, page } = await setup.arrive()
  const form = formsOf(await signInAt({ browser, page, host: setup.host })).find(({ names }) => names.has('password'))
  await perform(setup.server.context, 'provider.disable', { provider_id: IDP })
  assert.ok(isSignedIn(await browser.post(form?.action ?? '', { ...form?.hidden, email: EMAIL, password: PASSWORD })))
  assert.deepEqual(setup.rows('identities'), [])
})

test('UP-10: the answer of one provider is refused at another, and no request is sent', async (t) => {
  const setup = await openServerWithProvider(t, ANYBODY)
  await addProvider(setup.server, setup.host, ANYBODY, { id: 'other', name: 'Other' })
  setup.server.clock.advance(1001)
  const { browser, page } = await setup.arrive()
  const callback = setup.host.approve(leadsTo(await pressProvider(browser, page)), ADA_CLAIMS)
  const mixedUp = callback.replace('/callback/idp', '/callback/other')
  const answer = await assertStoreUnchanged(setup.server, () => browser.get(mixedUp))
  assert.equal(answer.statusCode, 403)
  assert.ok(!setup.host.paths().includes('/token'))
})

test('UP-10, RFC 9207 §2.4: an answer with another issuer, or without the promised one, is refused before the code is sent', async (t) => {
  const setup = await openServerWithProvider(t, ANYBODY)
  for (const iss of ['https://evil.test', null]) {
    const answer = await setup.signIn(ADA_CLAIMS, { callback: { iss } })
    assert.match(answer.body, pageSays('providerFailed'))
  }
  assert.ok(!setup.host.paths().includes('/token'))
  assert.deepEqual(setup.rows('users'), [])
})

test('UP-11: a callback in another browser than the one that began the sign-in is refused, and signs no user in', async (t) => {
  const setup = await openServerWithProvider(t, ANYBODY)
  const attacker = await setup.arrive()
  const callback = setup.host.approve(leadsTo(await pressProvider(attacker.browser, attacker.page)), { sub: 'mallory' })
  const victims = [new PlainBrowser(setup.server), (await setup.arrive()).browser]
  for (const victim of victims) {
    const answer = await victim.get(callback)
    assert.equal(answer.statusCode, 403)
    assert.match(answer.body, pageSays('errors.other-browser.heading'))
  }
  assert.deepEqual([setup.rows('users'), setup.rows('sessions')], [[], []])
})

test('a state that was changed, or that this server did not make, is refused', async (t) => {
  const setup = await openServerWithProvider(t, ANYBODY)
  const { browser, page } = await setup.arrive()
  const callback = new URL(setup.host.approve(leadsTo(await pressProvider(browser, page)), ADA_CLAIMS))
  const state = callback.searchParams.get('state') ?? ''
  const [payload = '', seal = ''] = state.split('.')
  const members = JSON.parse(Buffer.from(payload, 'base64url').toString()) as string[]
  const changed = Buffer.from(JSON.stringify(members.with(1, 'connect'))).toString('base64url')
  for (const wrong of [
    '',
    'x',
    `${changed}.${seal}`,
    `${payload}.${seal.slice(1)}`,
    payload,
    `${state}.x.y`.slice(1),
  ]) {
    callback.searchParams.set('state', wrong)
    assert.equal((await browser.get(callback.href)).statusCode, 403, wrong)
  }
  assert.ok(!setup.host.paths().includes('/token'))
})

test('a state expires with the time that a user has to sign in', async (t) => {
  const setup = await openServerWithProvider(t, ANYBODY)
  const owner = openOwner(setup.server)
  const start = await owner.browser.get('/account')
  const page = await owner.browser.get(start.headers.location ?? '')
  const callback = setup.host.approve(leadsTo(await pressProvider(owner.browser, page)), ADA_CLAIMS)
  setup.server.clock.advance(600_000)
  assert.match((await owner.browser.get(callback)).body, pageSays('errors.expired.heading'))
})

test('a person who cancels at the provider is back at the sign-in page', async (t) => {
  const setup = await openServerWithProvider(t)
  const answer = await setup.signIn(ADA_CLAIMS, { callback: { code: null, error: 'access_denied' } })
  assert.equal(answer.statusCode, 403)
  assert.match(answer.body, /Acme ID[^]* did not confirm who you are[^]*Continue with/)
})
