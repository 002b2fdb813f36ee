import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createLink } from '../../../../src/admin/user/link.ts'
import { updateProvider } from '../../../../src/admin/provider/provider.ts'
import type { UserRecord } from '../../../../src/ports/records/user.ts'
import type { ProviderId } from '../../../../src/protocol/sign-in/authentication.ts'
import type { OrganizationId } from '../../../../src/protocol/ids.ts'
import { identityKey } from '../../../../src/protocol/sign-in/provider-identity.ts'
import type { ProviderSettings } from '../../../../src/protocol/sign-in/provider.ts'
import { leadsTo } from '../../../../tools/provider-page.ts'
import { locationOf, PASSWORD, PlainBrowser } from '../../../../tools/flow.ts'
import { createAccount } from '../../../support/accounts.ts'
import { combine } from '../../../support/runner/cases.ts'
import { createOrganization } from '../../../support/organizations.ts'
import { addProvider, freshClaims, signInAt } from '../../../support/provider/providers.ts'
import { aUser } from '../../../support/records.ts'
import { formsOf } from '../../account/owner.ts'
import { isSignedIn, openServerWithProvider, type ServerWithProvider } from './server-with-provider.ts'
import { perform } from '../../../support/tasks.ts'
import { pageSays } from '../../../texts/page-texts.ts'

/**
 * The rules of docs/providers.md × the domain and the proof of the address × two providers, each of which has a domain × what the
 * address has here. The table says again, in its own words, what must follow.
 */

const CORP = { id: 'idp' as ProviderId, domains: ['acme.test'] }
const OTHER = { id: 'other' as ProviderId, domains: ['other.test'] }
const DOMAINS = ['acme.test', 'sub.acme.test', 'other.test', 'free.test'] as const
const PROVIDERS = [CORP, OTHER]

/** What the address has here before the person arrives. */
const ACCOUNTS = [
  'none',
  'unused',
  'unverified',
  'verified',
  'of the other provider',
  'of the provider',
  'disabled',
] as const

interface Rules {
  readonly link: ProviderSettings['link']
  readonly signUp: ProviderSettings['signUp']
  readonly membership: ProviderSettings['membership']
}
const RULES: readonly Rules[] = [
  { link: 'ask', signUp: 'domains', membership: 'domains' },
  { link: 'verified-email', signUp: 'anybody', membership: 'domains' },
  { link: 'verified-email', signUp: 'off', membership: 'anybody' },
]

interface Arrival {
  readonly at: (typeof PROVIDERS)[number]
  readonly domain: (typeof DOMAINS)[number]
  readonly isProved: boolean
  readonly account: (typeof ACCOUNTS)[number]
}

/** What follows, and by which rule. */
type Outcome =
  | { readonly rule: 'L2' | 'L7' | 'L10' }
  | { readonly rule: 'L5' | 'L6' | 'L9'; readonly isMember: boolean; readonly isVerified: boolean }

function expected({ link, signUp, membership }: Rules, { at, domain, isProved, account }: Arrival): Outcome {
  const isOwn = at.domains.includes(domain)
  const isForeign = PROVIDERS.some(({ id, domains }) => id !== at.id && domains.includes(domain))
  const isTrusted = isProved && !isForeign
  const isMember = membership === 'anybody' || (isOwn && isProved)
  if (isTrusted && account !== 'none') {
    if (account === 'disabled') return { rule: 'L2' }
    // The provider gave the address to another person.
    if (account === 'of the provider') return { rule: 'L10' }
    if (isOwn && account === 'unused') return { rule: 'L6', isMember, isVerified: true }
    if (isOwn && link === 'verified-email' && account === 'verified') return { rule: 'L5', isMember, isVerified: true }
    return { rule: 'L7' }
  }
  const maySignUp = signUp === 'anybody' || (signUp === 'domains' && isOwn && isProved)
  return maySignUp ? { rule: 'L9', isMember, isVerified: isTrusted } : { rule: 'L10' }
}

const ARRIVALS: readonly Arrival[] = combine([PROVIDERS, DOMAINS, [true, false], ACCOUNTS], 3).map(
  ([at, domain, isProved, account]) => ({ at, domain, isProved, account }),
)

for (const rules of RULES) {
  test(`L5 to L10, UP-01, UP-02, UP-22, UP-23: ${JSON.stringify(rules)}: who signs in, is asked, is refused, becomes a member, and has a proved address`, async (t) => {
    const opened = await openServerWithProviders(t, rules)
    for (const [index, arrival] of ARRIVALS.entries()) {
      const email = `p${index}@${arrival.domain}`
      const account = await opened.prepare(email, arrival)
      const claims = { sub: `s${index}`, email, email_verified: arrival.isProved }
      const outcome = await opened.arrive(arrival.at, claims, account)
      assert.deepEqual(outcome, expected(rules, arrival), JSON.stringify({ rules, ...arrival }))
    }
  })
}

test('UP-23: the domains of a disabled provider still belong to it', async (t) => {
  const opened = await openServerWithProviders(t, { link: 'ask', signUp: 'anybody', membership: 'domains' })
  const { context, clock } = opened.setup.server
  const outcomes = []
  for (const change of ['disable', 'enable']) {
    await perform(context, `provider.${change}`, { provider_id: CORP.id })
    clock.advance(1001)
    const email = `${change}@acme.test`
    outcomes.push(await opened.arrive(OTHER, { sub: email, email, email_verified: true }, undefined))
  }
  assert.deepEqual(outcomes, [UNKNOWN_ADDRESS, UNKNOWN_ADDRESS])
})

test('L7, L1, UP-22: a person outside of the domains, whom the password of the account connected, is no member', async (t) => {
  const opened = await openServerWithProviders(t, { link: 'ask', signUp: 'domains', membership: 'domains' })
  const { server } = opened.setup
  const email = 'eve@free.test'
  const eve = await createAccount(server, { email, password: PASSWORD, name: undefined })
  const claims = { sub: 'eve', email, email_verified: true }
  const browser = new PlainBrowser(server)
  const asked = await opened.signIn(CORP, claims, browser)
  const form = formsOf(asked).find(({ names }) => names.has('password'))
  assert.ok(isSignedIn(await browser.post(form?.action ?? '', { ...form?.hidden, email, password: PASSWORD })))
  for (let time = 1; time <= 2; time += 1) {
    assert.ok(isSignedIn(await opened.signIn(CORP, claims)))
    assert.equal(await opened.isMember(eve), false)
  }
})

const UNKNOWN_ADDRESS: Outcome = { rule: 'L9', isMember: false, isVerified: false }

for (const purpose of ['link', 'connect'] as const) {
  for (const membership of ['domains', 'anybody'] as const) {
    test(`${purpose === 'link' ? 'L3' : 'L4'}, L1, UP-22: a person who comes by ${purpose} is connected whatever the address is, and a member by ${membership}`, async (t) => {
      const opened = await openServerWithProviders(t, { link: 'ask', signUp: 'off', membership })
      for (const [index, { at, domain, isProved }] of ARRIVALS.filter(({ account }) => account === 'none').entries()) {
        const claims = { sub: `s${index}`, email: `p${index}@${domain}`, email_verified: isProved }
        const user = await opened.add({ email: `account-${index}@free.test` })
        await opened.connect(purpose, at, claims, user)
        const isMember = membership === 'anybody' || (isProved && at.domains.includes(domain))
        const why = JSON.stringify({ purpose, membership, at, domain, isProved })
        assert.equal(await opened.isMember(user), isMember, why)
        assert.ok(isSignedIn(await opened.signIn(at, claims)), why)
        assert.equal(await opened.isMember(user), isMember, why)
        assert.equal((await opened.setup.server.context.store.findUser(user.id))?.email, user.email, why)
      }
    })
  }
}

/** A server with both providers, each of which has the rules and makes users members of one organization. */
async function openServerWithProviders(t: Parameters<typeof openServerWithProvider>[0], rules: Rules) {
  const setup = await openServerWithProvider(t, { domains: CORP.domains })
  const { server, host } = setup
  const { context, clock } = server
  const { store } = context
  await addProvider(server, host, { domains: OTHER.domains }, { id: OTHER.id, name: 'Other' })
  // At this one the persons have the accounts that are of another provider.
  await addProvider(server, host, {}, { id: 'third', name: 'Third' })
  const organizationId = await createOrganization(server, 'Acme')
  for (const { id } of PROVIDERS) {
    await updateProvider(context, id, { settings: { ...rules, organizationId }, clientSecret: undefined })
  }
  clock.advance(1001)
  const isMember = (user: UserRecord) => isMemberOf(setup, organizationId, user)

  async function add(differing: Parameters<typeof aUser>[0]): Promise<UserRecord> {
    const user = aUser({ createdAt: clock.now(), notBefore: clock.now(), firstSignedInAt: clock.now(), ...differing })
    assert.equal(await store.createUser(user), 'created')
    return user
  }

  async function connectIdentity(user: UserRecord, providerId: ProviderId, subject: string): Promise<void> {
    const { issuer } = host
    const key = identityKey({ id: providerId, issuer }, subject)
    const now = clock.now()
    const identity = { key, userId: user.id, providerId, subject, email: undefined, linkedAt: now, usedAt: now }
    const verified = await store.findUser(user.id)
    const reason = { kind: 'address', email: verified?.email ?? '' } as const
    assert.equal(await store.linkIdentity({ identity, reason, now, mails: [] }), 'linked')
  }

  async function signIn(
    at: Pick<typeof CORP, 'id'>,
    claims: Readonly<Record<string, unknown>>,
    browser = new PlainBrowser(server),
  ) {
    const page = await browser.get(locationOf(await browser.get('/account')))
    return signInAt({ browser, page, host }, claims, {}, at.id)
  }

  return {
    setup,
    isMember,
    add,
    signIn,
    /** Creates what the address has here. */
    async prepare(email: string, { at, account }: Arrival): Promise<UserRecord | undefined> {
      if (account === 'none') return undefined
      const isVerified = account !== 'unused' && account !== 'unverified'
      const user = await add({
        email,
        emailVerifiedAt: isVerified ? clock.now() : undefined,
        ...(account === 'unused' ? { firstSignedInAt: undefined } : {}),
      })
      if (account === 'of the provider') await connectIdentity(user, at.id, `earlier ${email}`)
      if (account === 'of the other provider') await connectIdentity(user, 'third' as ProviderId, `earlier ${email}`)
      if (account === 'disabled') await store.disableUser({ id: user.id, now: clock.now() })
      return user
    },
    /** Signs a person in, and reads what has followed from the store. */
    async arrive(
      at: Pick<typeof CORP, 'id'>,
      claims: Readonly<Record<string, unknown>>,
      account: UserRecord | undefined,
    ): Promise<Outcome> {
      const before = account && (await store.findUser(account.id))
      const answer = await signIn(at, claims)
      const { issuer } = host
      const identity = await store.findIdentity(identityKey({ id: at.id, issuer }, String(claims['sub'])))
      if (!isSignedIn(answer)) {
        assert.equal(identity, undefined)
        assert.deepEqual(account && (await store.findUser(account.id)), before)
        if (pageSays('signInToConnect').test(answer.body)) return { rule: 'L7' }
        if (pageSays('accountRefused').test(answer.body)) return { rule: 'L2' }
        assert.match(answer.body, pageSays('noAccountOf'))
        return { rule: 'L10' }
      }
      const user = identity && (await store.findUser(identity.userId))
      assert.ok(user)
      const isVerified = user.emailVerifiedAt !== undefined
      assert.equal(isVerified, user.email === claims['email'])
      const found = { isMember: await isMember(user), isVerified }
      if (user.id !== account?.id) return { rule: 'L9', ...found }
      return { rule: user.passwordHash === undefined ? 'L6' : 'L5', ...found }
    },
    /** Connects a person to the account of a user who follows a link, or who is signed in. */
    async connect(
      purpose: 'link' | 'connect',
      at: Pick<typeof CORP, 'id'>,
      claims: Readonly<Record<string, unknown>>,
      user: UserRecord,
    ): Promise<void> {
      const browser = new PlainBrowser(server)
      if (purpose === 'connect') {
        await connectIdentity(user, 'third' as ProviderId, user.id)
        const person = { ...freshClaims(server), sub: user.id, email: undefined }
        assert.ok(isSignedIn(await signIn({ id: 'third' as ProviderId }, person, browser)))
      }
      const { address } =
        purpose === 'link' ? await createLink(context, user.email ?? '') : { address: '/account/security/add-provider' }
      const form = formsOf(await browser.get(address)).find(({ hidden }) => hidden['provider'] === at.id)
      assert.ok(form)
      const location = leadsTo(await browser.post(form.action, form.hidden))
      assert.equal((await browser.get(host.approve(location, claims))).statusCode, 303)
    },
  }
}

async function isMemberOf(
  { server }: ServerWithProvider,
  organizationId: OrganizationId,
  { id }: UserRecord,
): Promise<boolean> {
  return (await server.context.store.findMembership({ userId: id, organizationId })) !== undefined
}
