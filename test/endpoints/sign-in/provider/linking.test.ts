import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createLink } from '../../../../src/admin/user/link.ts'
import { updateProvider } from '../../../../src/admin/provider/provider.ts'
import { setEmail, setPassword } from '../../../../src/admin/user/user.ts'
import type { ProviderId } from '../../../../src/protocol/sign-in/authentication.ts'
import type { UserId } from '../../../../src/protocol/ids.ts'
import type { ProviderSettings } from '../../../../src/protocol/sign-in/provider.ts'
import {
  authorizeUrl,
  EMAIL,
  hiddenFields,
  locationOf,
  obtainTokens,
  PASSWORD,
  PlainBrowser,
  refresh,
  registerClient,
} from '../../../../tools/flow.ts'
import { givePasskey, passkeyFormOf, signedFields } from '../../../../tools/sign-in/passkeys.ts'
import { createAccount, createAda } from '../../../support/accounts.ts'
import { addMember, createOrganization } from '../../../support/organizations.ts'
import { ADA_CLAIMS, addProvider, signInAt } from '../../../support/provider/providers.ts'
import { leadsTo, pressProvider } from '../../../../tools/provider-page.ts'
import { assertStoreUnchanged, execute } from '../../../support/store/dump.ts'
import { assertInvalidGrant } from '../../../support/token-answers.ts'
import { formsOf, openOwner } from '../../account/owner.ts'
import { isSignedIn, openServerWithProvider, type ServerWithProvider } from './server-with-provider.ts'
import { pageSays } from '../../../texts/page-texts.ts'

/** docs/providers.md: the rules L1 to L10, in their order. */

const ANYBODY = { signUp: 'anybody' } as const
const ACME = { domains: ['acme.test'] } as const

async function userIdOf({ server }: ServerWithProvider, email = EMAIL): Promise<UserId> {
  const user = await server.context.store.findUserByEmail(email)
  assert.ok(user)
  return user.id
}

test('L9, L1: a person without an account gets one, and the next sign-in finds it whatever the address is then', async (t) => {
  const setup = await openServerWithProvider(t, ANYBODY)
  assert.ok(isSignedIn(await setup.signIn()))
  assert.ok(isSignedIn(await setup.signIn({ ...ADA_CLAIMS, email: 'ada@new.test' })))
  const [user, ...others] = setup.rows('users')
  assert.deepEqual(others, [])
  assert.equal(user?.['email'], 'ada@acme.test')
  assert.ok(Number(user['email_verified_at']) > 0 && user['password_hash'] === null && user['name'] === 'Ada')
  assert.deepEqual(
    setup.rows('identities').map(({ email, subject, user_id }) => ({ email, subject, user_id })),
    [{ email: 'ada@new.test', subject: 'ada-at-idp', user_id: user['user_id'] }],
  )
  assert.deepEqual(
    setup.rows('sessions').map(({ methods, provider_id }) => ({ methods, provider_id })),
    Array.from({ length: 2 }, () => ({ methods: 'fed', provider_id: 'idp' })),
  )
})

test('L2, UP-15: the identity of a disabled account signs no user in, and links nothing', async (t) => {
  const setup = await openServerWithProvider(t, { ...ANYBODY, ...ACME, link: 'verified-email' })
  await setup.signIn()
  const { store } = setup.server.context
  await store.disableUser({ id: await userIdOf(setup), now: setup.server.clock.now() })
  const answers = [await setup.signIn(), await setup.signIn({ ...ADA_CLAIMS, sub: 'another-subject' })]
  for (const answer of answers) {
    assert.equal(answer.statusCode, 403)
    assert.match(answer.body, pageSays('accountRefused'))
  }
  assert.equal(setup.rows('identities').length, 1)
})

test('L3: a person who accepts a link with a provider is signed in as its user, and the link is used up', async (t) => {
  const setup = await openServerWithProvider(t)
  const { server, host } = setup
  await createAccount(server, { email: EMAIL, password: undefined, name: undefined })
  const { address } = await createLink(server.context, EMAIL)
  const browser = new PlainBrowser(server)
  const page = await browser.get(address)
  const form = formsOf(page).find(({ hidden }) => hidden['provider'] === 'idp')
  assert.ok(form)
  const left = await browser.post(form.action, form.hidden)
  const answer = await browser.get(host.approve(leadsTo(left), { sub: 'another', email: 'other@elsewhere.test' }))
  assert.equal(locationOf(answer), 'http://localhost:3000/account')
  assert.match((await browser.get('/account')).body, /ada@acme\.test/)
  assert.equal((await browser.get(address)).statusCode, 400)
})

test('L3: a link that was only opened in a browser links no sign-in there (login CSRF)', async (t) => {
  const setup = await openServerWithProvider(t, ANYBODY)
  const { server, host } = setup
  await createAccount(server, { email: 'mallory@evil.test', password: PASSWORD, name: undefined })
  const { address } = await createLink(server.context, 'mallory@evil.test')
  const { browser, page } = await setup.arrive()
  await browser.get(address)
  await signInAt({ browser, page, host })
  const [identity] = setup.rows('identities')
  assert.notEqual(identity?.['user_id'], await userIdOf(setup, 'mallory@evil.test'))
})

test('L3: a link that was replaced or used since the person left for the provider links nothing', async (t) => {
  const setup = await openServerWithProvider(t, ANYBODY)
  const { server, host } = setup
  await createAda(server)
  const { address } = await createLink(server.context, EMAIL)
  const browser = new PlainBrowser(server)
  const form = formsOf(await browser.get(address)).find(({ hidden }) => hidden['provider'] === 'idp')
  const location = leadsTo(await browser.post(form?.action ?? '', form?.hidden ?? {}))
  await createLink(server.context, EMAIL)
  const answer = await assertStoreUnchanged(server, () => browser.get(host.approve(location, ADA_CLAIMS)))
  assert.equal(answer.statusCode, 400)
  assert.match(answer.body, pageSays('errors.link-invalid.heading'))
})

test('L4: a user adds a provider on the account page, and signs in there from then on', async (t) => {
  const setup = await openServerWithProvider(t)
  const { server, host } = setup
  await createAda(server)
  const owner = openOwner(server)
  const security = await owner.open('/account/security/add-provider')
  const left = await owner.submit(security, 'provider')
  const claims = { sub: 'another-name', email: 'ada@private.test', email_verified: true }
  const added = await owner.browser.get(host.approve(leadsTo(left), claims))
  assert.match((await owner.browser.get(locationOf(added))).body, pageSays('account.notices.method-added'))
  assert.ok(isSignedIn(await setup.signIn(claims)))
  assert.equal(setup.rows('users').length, 1)
})

test('L4: a session of another user, or no session, at the return links nothing', async (t) => {
  const setup = await openServerWithProvider(t)
  const { server, host } = setup
  await createAda(server)
  await createAccount(server, { email: 'bob@acme.test', password: PASSWORD, name: undefined })
  const owner = openOwner(server)
  const location = leadsTo(await owner.submit(await owner.open('/account/security/add-provider'), 'provider'))
  const callback = host.approve(location, ADA_CLAIMS)
  const bob = openOwner(server, 'bob@acme.test')
  await bob.open('/account')
  for (const [name, value] of bob.browser.cookies) {
    if (name.includes('session')) owner.browser.cookies.set(name, value)
  }
  assert.match((await owner.browser.get(callback)).body, pageSays('errors.user-changed.heading'))
  for (const name of owner.browser.cookies.keys()) if (name.includes('session')) owner.browser.cookies.delete(name)
  assert.equal((await owner.browser.get(callback)).statusCode, 403)
  assert.deepEqual(setup.rows('identities'), [])
})

test('L4: an account at the provider that belongs to another user is not moved', async (t) => {
  const setup = await openServerWithProvider(t, ANYBODY)
  const { server, host } = setup
  await setup.signIn({ sub: 'eve', name: 'Eve' })
  await createAda(server)
  const owner = openOwner(server)
  const left = await owner.submit(await owner.open('/account/security/add-provider'), 'provider')
  const answer = await assertStoreUnchanged(server, () =>
    owner.browser.get(host.approve(leadsTo(left), { sub: 'eve' })),
  )
  assert.equal(answer.statusCode, 409)
  assert.match(answer.body, pageSays('errors.identity-taken.heading'))
})

test('L5: an address links a verified account if the operator said so of the provider and its domains', async (t) => {
  const setup = await openServerWithProvider(t, { ...ACME, link: 'verified-email' })
  await createAda(setup.server)
  await setEmail(setup.server.context, EMAIL, { email: EMAIL, isVerified: true })
  assert.ok(isSignedIn(await setup.signIn()))
  assert.equal(setup.rows('users').length, 1)
  assert.ok(setup.rows('users')[0]?.['password_hash'])
})

test('L5: an address that the provider gave to another person since links nothing (recycled addresses)', async (t) => {
  const setup = await openServerWithProvider(t, { ...ACME, link: 'verified-email' })
  await createAda(setup.server)
  await setEmail(setup.server.context, EMAIL, { email: EMAIL, isVerified: true })
  await setup.signIn()
  const answer = await setup.signIn({ ...ADA_CLAIMS, sub: 'the-next-employee' })
  assert.match(answer.body, pageSays('noAccountOf'))
  assert.equal(setup.rows('identities').length, 1)
})

test('L5, UP-03: an account that a person of another provider made with the address is not linked without its sign-in', async (t) => {
  const setup = await openServerWithProvider(t)
  const { server, host } = setup
  await addProvider(server, host, ANYBODY, { id: 'lax', name: 'Lax' })
  server.clock.advance(1001)
  const earlier = { ...ADA_CLAIMS, sub: 'had-the-address-before' }
  await signInAt({ ...(await setup.arrive()), host }, earlier, {}, 'lax')
  const settings = { ...ACME, link: 'verified-email' } as const
  await updateProvider(server.context, 'idp' as ProviderId, { settings, clientSecret: undefined })
  server.clock.advance(1001)
  const { browser, page } = await setup.arrive()
  const asked = await signInAt({ browser, page, host })
  assert.match(asked.body, pageSays('signInToConnect'))
  assert.equal(setup.rows('identities').length, 1)
  const location = leadsTo(await pressProvider(browser, asked, 'lax'))
  assert.ok(isSignedIn(await browser.get(host.approve(location, earlier))))
  assert.ok(isSignedIn(await setup.signIn()))
  assert.deepEqual([setup.rows('identities').length, setup.rows('users').length], [2, 1])
})

test('L7: a person whose address has an account signs in to it once, and then signs in with either', async (t) => {
  const setup = await openServerWithProvider(t)
  const { server, host } = setup
  await createAda(server)
  const { browser, page } = await setup.arrive()
  const asked = await signInAt({ browser, page, host })
  assert.equal(asked.statusCode, 200)
  assert.match(asked.body, /You already have an account here[^]*Acme ID[^]*value="ada@acme\.test"/)
  const form = formsOf(asked).find(({ names }) => names.has('password'))
  assert.ok(form)
  const wrong = await browser.post(form.action, { ...form.hidden, email: EMAIL, password: 'wrong' })
  assert.match(wrong.body, pageSays('signInToConnect'))
  assert.deepEqual(setup.rows('identities'), [])
  const right = await browser.post(form.action, { ...form.hidden, email: EMAIL, password: PASSWORD })
  assert.ok(isSignedIn(right))
  assert.ok(isSignedIn(await setup.signIn()))
  assert.equal(setup.rows('users').length, 1)
})

test('L7, ACR-06: an account with a passkey is connected after a sign-in with it, and not after the password alone', async (t) => {
  for (const multiFactor of [true, false]) {
    const setup = await openServerWithProvider(t, { multiFactor })
    const { server, host } = setup
    await createAda(server)
    const id = await userIdOf(setup)
    const { authenticator } = await givePasskey(server, id)
    await setPassword(server.context, EMAIL, PASSWORD)
    server.clock.advance(1)
    const thief = await setup.arrive()
    const asked = await signInAt({ ...thief, host })
    assert.match(
      asked.body,
      /Sign in to it once to connect[^]*sign in with the passkey: a password does not connect it/,
    )
    assert.ok(isSignedIn(await thief.browser.submit(asked, { email: EMAIL, password: PASSWORD })))
    assert.deepEqual(setup.rows('identities'), [])
    const owner = await setup.arrive()
    const again = await signInAt({ ...owner, host })
    const fields = signedFields(again, { userId: id, authenticator })
    assert.ok(isSignedIn(await owner.browser.post(passkeyFormOf(again).action, fields)))
    assert.equal(setup.rows('identities').length, 1)
  }
})

test('L7: the person may sign in to the account at another provider', async (t) => {
  const setup = await openServerWithProvider(t)
  const { server, host } = setup
  await addProvider(server, host, ANYBODY, { id: 'second', name: 'Second' })
  server.clock.advance(1001)
  await signInAt({ ...(await setup.arrive()), host }, ADA_CLAIMS, {}, 'second')
  const { browser, page } = await setup.arrive()
  const asked = await signInAt({ browser, page, host }, { ...ADA_CLAIMS, sub: 'ada-at-first' })
  assert.match(asked.body, pageSays('signInToConnect'))
  const location = leadsTo(await pressProvider(browser, asked, 'second'))
  assert.ok(isSignedIn(await browser.get(host.approve(location, ADA_CLAIMS))))
  assert.equal(setup.rows('identities').length, 2)
  assert.equal(setup.rows('users').length, 1)
})

test('L6, UP-03: an account that another person made with the address is taken over without what it had', async (t) => {
  const setup = await openServerWithProvider(t, ACME)
  const { server } = setup
  await createAccount(server, { email: EMAIL, password: 'the password of an attacker', name: undefined })
  await addMember(server, await userIdOf(setup), await createOrganization(server, 'Acme'))
  assert.ok(isSignedIn(await setup.signIn()))
  const [user] = setup.rows('users')
  assert.equal(user?.['password_hash'], null)
  assert.ok(Number(user['email_verified_at']) > 0)
  assert.deepEqual(setup.rows('memberships'), [])
  assert.equal(setup.rows('sessions').length, 1)
})

test('L6: an account whose user has signed in is never taken over', async (t) => {
  const setup = await openServerWithProvider(t, ACME)
  const { server, client } = setup
  await createAda(server)
  const tokens = await obtainTokens(server, client)
  assert.match((await setup.signIn()).body, pageSays('signInToConnect'))
  assert.ok(setup.rows('users')[0]?.['password_hash'])
  assert.equal((await refresh(server, client, tokens.refresh_token ?? '')).statusCode, 200)
  // Other providers than that of the domain cannot take over either.
  execute(server, 'update users set first_signed_in_at = null')
  execute(server, `update providers set settings = replace(settings, '"acme.test"', '')`)
  assert.match((await setup.signIn()).body, pageSays('signInToConnect'))
})

test('L6: grants of an account that is taken over are revoked', async (t) => {
  const setup = await openServerWithProvider(t, ACME)
  const { server, client } = setup
  await createAda(server)
  const tokens = await obtainTokens(server, client)
  execute(server, 'update users set first_signed_in_at = null')
  server.clock.advance(1000)
  assert.ok(isSignedIn(await setup.signIn()))
  assertInvalidGrant(await refresh(server, client, tokens.refresh_token ?? ''))
})

test('L8, UP-01: an address that the provider does not prove finds no account, and is stored for none', async (t) => {
  const setup = await openServerWithProvider(t, { ...ANYBODY, ...ACME, link: 'verified-email' })
  await createAda(setup.server)
  await setEmail(setup.server.context, EMAIL, { email: EMAIL, isVerified: true })
  const proofs = [undefined, false, 'true', 1]
  for (const [index, email_verified] of proofs.entries()) {
    assert.ok(isSignedIn(await setup.signIn({ sub: `stranger-${index}`, email: EMAIL, email_verified })))
  }
  assert.equal(setup.rows('users').filter(({ email }) => email === EMAIL).length, 1)
  assert.equal(setup.rows('users').length, 1 + proofs.length)
})

test('L9: sign-up by domains admits only proved addresses of the domains', async (t) => {
  const setup = await openServerWithProvider(t, { ...ACME, signUp: 'domains' })
  const refused = [
    { sub: '1', email: 'eve@evil.test', email_verified: true },
    { sub: '2', email: 'eve@acme.test', email_verified: false },
    { sub: '3', email: 'eve@acme.test.evil.test', email_verified: true },
    { sub: '4' },
  ]
  for (const claims of refused) assert.equal((await setup.signIn(claims)).statusCode, 403)
  assert.deepEqual(setup.rows('users'), [])
  assert.ok(isSignedIn(await setup.signIn()))
})

test('L10: the page for a person without an account names the address for the operator', async (t) => {
  const setup = await openServerWithProvider(t)
  const answer = await setup.signIn()
  assert.equal(answer.statusCode, 403)
  assert.match(answer.body, /No account here belongs to [^]*ada@acme\.test[^]* at [^]*Acme ID/)
  assert.deepEqual(setup.rows('users'), [])
})

/** The domains that a provider may have with each rule: `verified-email` needs some. */
const LINKS: readonly (readonly [link: ProviderSettings['link'], domains: readonly (readonly string[])[]])[] = [
  ['ask', [[], ['other.test'], ['acme.test']]],
  ['verified-email', [['other.test'], ['acme.test']]],
]
for (const [link, several] of LINKS) {
  test(`UP-02: local × upstream × domain, with link ${link}: only proved addresses of the provider’s domains link`, async (t) => {
    for (const domains of several) {
      const setup = await openServerWithProvider(t, { link, domains })
      await createAda(setup.server)
      await obtainTokens(setup.server, setup.client)
      for (const isLocal of [false, true]) {
        if (isLocal) await setEmail(setup.server.context, EMAIL, { email: EMAIL, isVerified: true })
        for (const email_verified of [false, true]) {
          const answer = await setup.signIn({ ...ADA_CLAIMS, email_verified })
          const links = link === 'verified-email' && domains.includes('acme.test') && isLocal && email_verified
          assert.equal(isSignedIn(answer), links, JSON.stringify({ link, domains, isLocal, email_verified }))
          assert.equal(setup.rows('identities').length, Number(links))
        }
      }
    }
  })
}

test('members by provider: every user who signs in there is a member, and a disabled membership stays disabled', async (t) => {
  const setup = await openServerWithProvider(t, { ...ACME, signUp: 'domains' })
  const { server } = setup
  const organizationId = await createOrganization(server, 'Acme')
  const { store } = server.context
  const provider = await store.findProvider('idp' as never)
  assert.ok(provider)
  const { settings: previous } = provider
  const settings = { ...previous, organizationId }
  await store.updateProvider({ id: provider.id, previous, settings, encryptedSecret: undefined })
  await setup.signIn()
  assert.deepEqual(
    setup.rows('memberships').map((row) => row['organization_id']),
    [organizationId],
  )
  const key = { userId: await userIdOf(setup), organizationId }
  await store.disableMember({ ...key, now: server.clock.now() })
  await setup.signIn()
  const membership = await store.findMembership(key)
  assert.ok(membership?.disabledAt !== undefined)
})

test('UP-12: a person who is signed in at the provider consents to each client', async (t) => {
  const setup = await openServerWithProvider(t, ANYBODY)
  const { browser, page } = await setup.arrive()
  await signInAt({ browser, page, host: setup.host })
  const other = await registerClient(setup.server, { client_name: 'Another' })
  const consent = await browser.get(locationOf(await browser.get(authorizeUrl(other))))
  assert.match(consent.body, /name="decision"/)
  assert.ok(hiddenFields(consent)['authorization'])
})
