import assert from 'node:assert/strict'
import { randomBytes, randomUUID } from 'node:crypto'
import { test } from 'node:test'
import type { Response as LightMyRequestResponse } from 'light-my-request'
import { updateProvider } from '../../../src/admin/provider/provider.ts'
import { after } from '../../../src/base/brand.ts'
import { coversAll } from '../../../src/endpoints/sign-in/changing-session.ts'
import type { LinkRecord, SessionRecord } from '../../../src/ports/records/user.ts'
import type { ProviderId } from '../../../src/protocol/sign-in/authentication.ts'
import { linkAddress, mintLink } from '../../../src/protocol/sign-in/link.ts'
import { identityKey } from '../../../src/protocol/sign-in/provider-identity.ts'
import { hiddenFields, locationOf, PASSWORD, PlainBrowser } from '../../../tools/flow.ts'
import { addApp } from '../../../tools/sign-in/app.ts'
import { openAuthenticator } from '../../../tools/sign-in/authenticator.ts'
import { madeFields } from '../../../tools/sign-in/passkeys.ts'
import { createAccount } from '../../support/accounts.ts'
import { WHOLE_FILE } from '../../support/authorize-answers.ts'
import { openProviderHost } from '../../support/provider/provider-host.ts'
import { aLink } from '../../support/records.ts'
import { anIdentity } from '../../support/provider/provider-records.ts'
import { addProvider, freshClaims, signInAt } from '../../support/provider/providers.ts'
import { openTestServer, type TestServer } from '../../support/server.ts'
import { aPasskey } from '../../support/sign-in/factor-records.ts'
import { signedInBy } from '../../support/sign-in/sessions.ts'
import { assertStoreUnchanged } from '../../support/store/dump.ts'
import { perform } from '../../support/tasks.ts'
import { pageSays, pageTitled, sentence } from '../../texts/page-texts.ts'

/** Each second factor and its state × whether two are required × whether the account has a role × what would set, leave or replace it. */

/**
 * `has`: the account has a factor that counts for its address, also while its provider is disabled. `works`: it works now. `at`: the
 * provider of the identity that is the factor.
 */
const FACTORS = {
  'no factor': { has: false, works: false },
  'an app': { has: true, works: true },
  'a passkey': { has: true, works: true },
  'an identity': { has: true, works: true, at: 'strong' },
  'an identity at a disabled provider': { has: true, works: false, at: 'disabled' },
  'an identity at a deleted provider': { has: false, works: false, at: 'deleted' },
  'an identity at a provider of other addresses': { has: false, works: false, at: 'strong' },
} as const satisfies Readonly<Record<string, { readonly has: boolean; readonly works: boolean; readonly at?: string }>>
type FactorName = keyof typeof FACTORS

const NEW = 'another long horse'
const LINK = '/account/link'
const host = await openProviderHost(WHOLE_FILE)
const SERVERS = {
  optional: await openTestServer(WHOLE_FILE),
  required: await openTestServer(WHOLE_FILE, { env: { GRANTOR_SECOND_FACTOR: 'required' } }),
}
for (const server of Object.values(SERVERS)) {
  for (const id of ['strong', 'disabled', 'deleted'])
    await addProvider(server, host, { multiFactor: true }, { id, name: `The ${id} one` })
  await addProvider(server, host, { domains: ['routed.test'] }, { id: 'routing', name: 'Globex' })
}

interface Case {
  readonly server: TestServer
  readonly isRequired: boolean
  readonly hasRole: boolean
  readonly factor: FactorName
  /** Whether a sign-in with one factor is followed by the second step. */
  readonly isAsked: boolean
}

interface Person {
  readonly id: LinkRecord['userId']
  readonly email: string
  readonly session: SessionRecord
}

const isRouted = ({ factor }: Case): boolean => factor === 'an identity at a provider of other addresses'

const CASES = Object.entries(SERVERS).flatMap(([rule, server]) =>
  [false, true].flatMap((hasRole) =>
    (Object.keys(FACTORS) as readonly FactorName[]).map((factor): Case => {
      const isRequired = rule === 'required'
      return { server, isRequired, hasRole, factor, isAsked: isRequired || askedFor(factor, hasRole) }
    }),
  ),
)

/** Where two factors are optional, an app is asked for, and of an account with a role each factor. */
function askedFor(factor: FactorName, hasRole: boolean): boolean {
  return factor === 'an app' || (hasRole && FACTORS[factor].has)
}

/** The accounts of all checks are made while all providers are there, and before the rule of one. */
const CHECKS = { signIn, reset, sent, handedOver, removal } as const
type CheckName = keyof typeof CHECKS
const persons = new Map<string, Person>()
const keyOf = (one: Case, check: CheckName): string => JSON.stringify([one.isRequired, one.hasRole, one.factor, check])
for (const one of CASES)
  for (const check of Object.keys(CHECKS) as readonly CheckName[])
    persons.set(keyOf(one, check), await createPerson(one))
for (const { clock, context } of Object.values(SERVERS)) {
  await perform(context, 'provider.disable', { provider_id: 'disabled' })
  await perform(context, 'provider.delete', { provider_id: 'deleted' })
  await updateProvider(context, 'routing' as ProviderId, { settings: { routing: 'required' }, clientSecret: undefined })
  clock.advance(1001)
}

async function createPerson(one: Case): Promise<Person> {
  const { server, hasRole, factor } = one
  const { store } = server.context
  const email = `${randomUUID()}@${isRouted(one) ? 'routed' : 'acme'}.test`
  const user = await createAccount(server, { email, isVerified: true, password: PASSWORD, name: undefined })
  const { id: userId } = user
  const { session } = await signedInBy(server, user, ['pop', 'mfa'])
  const reason = { kind: 'session', session: coversAll(session) } as const
  const providers = [FACTORS[factor], { at: isRouted(one) ? 'routing' : undefined }].flatMap((known) =>
    'at' in known && known.at !== undefined ? [known.at as ProviderId] : [],
  )
  for (const providerId of providers) {
    const key = identityKey({ id: providerId, issuer: host.issuer }, email)
    const identity = anIdentity({ key, userId, providerId, subject: email })
    assert.equal(await store.linkIdentity({ identity, reason, now: server.clock.now(), mails: [] }), 'linked')
  }
  if (factor === 'a passkey') await store.addPasskey({ passkey: aPasskey({ userId }), reason, mails: [] })
  if (factor === 'an app') await addApp(server, email)
  const role = { access: 'write', organizationId: undefined, isLoopbackOnly: false } as const
  if (hasRole) assert.equal(await store.setRole({ ...role, userId, setAt: server.clock.now() }), 'changed')
  return { id: userId, email, session }
}

for (const one of CASES) {
  const { isRequired, hasRole, factor } = one
  test(`ACC-20: ${isRequired ? 'required' : 'optional'}, ${factor}, ${hasRole ? 'a role' : 'no role'}: nothing takes the place of a factor that the account has, whether it works now or not`, async () => {
    for (const check of Object.keys(CHECKS) as readonly CheckName[])
      await CHECKS[check](one, persons.get(keyOf(one, check)) ?? assert.fail())
  })
}

/** The first step is followed by the second one, which sets a factor up only if the account has none. */
async function signIn(one: Case, person: Person): Promise<void> {
  const { server, isAsked, factor } = one
  const { has, works } = FACTORS[factor]
  const browser = new PlainBrowser(server)
  const page = await doFirstStep(one, person, browser, PASSWORD)
  await assertShown(one, person)
  if (!isAsked) return assert.equal(page.statusCode, 303)
  assert.equal(page.statusCode, 200, page.body)
  assert.equal(pageTitled('setUpSecondStep').test(page.body), !has, page.body)
  assert.equal(page.body.includes('There is no'), false)
  assert.equal(/yours does not work here right now/.test(page.body), has && !works, page.body)
  assert.equal(page.body.includes('value="strong"'), factor === 'an identity')
  if (!has) return
  const hidden = hiddenFields(page)
  const form = await openOtherLink(server)
  await assertStoreUnchanged(server, async () => {
    const fields = { ...madeFields(form, openAuthenticator()), ...hidden }
    assert.equal((await browser.post('/v2/oauth/sign-in/new-passkey', fields)).body.includes('set up'), false)
  })
}

/** What an administrator sees of the account is what the first step showed. */
async function assertShown({ server, isRequired, isAsked, factor }: Case, { id }: Person): Promise<void> {
  const { has, works } = FACTORS[factor]
  interface Shown {
    readonly sign_in: {
      readonly ways: readonly string[]
      readonly second_step: readonly string[] | null
      readonly obstacles: readonly { readonly reason: string }[]
    }
  }
  const { sign_in: shown } = await perform<Shown>(server.context, 'user.show', { user_id: id })
  const isStuck = isAsked && has && !works
  assert.equal(shown.ways.length === 0, isStuck, JSON.stringify(shown))
  assert.equal(
    shown.obstacles.some(({ reason }) => reason === 'second-factor-unusable'),
    isStuck,
  )
  if (!isAsked) return assert.equal(shown.second_step, null)
  assert.equal(shown.second_step?.includes('set-up'), isRequired && !has)
  assert.equal(shown.second_step?.length === 0, isStuck)
}

/** A link that the user asked for leaves a factor that is asked for. */
async function reset(one: Case, person: Person): Promise<void> {
  await useLink(one, person, { origin: 'user', isMailed: true })
}

/** So does one that an operator has mailed: it proves no more than the other. */
async function sent(one: Case, person: Person): Promise<void> {
  await useLink(one, person, { origin: 'operator', isMailed: true })
}

/** One that an operator hands over replaces passkeys and identities. */
async function handedOver(one: Case, person: Person): Promise<void> {
  await useLink(one, person, { origin: 'operator', isMailed: false })
}

async function useLink(one: Case, person: Person, made: Pick<LinkRecord, 'origin' | 'isMailed'>): Promise<void> {
  const { server, isAsked, factor } = one
  const { store } = server.context
  const { has } = FACTORS[factor]
  const isKept = has && isAsked && made.isMailed
  const { address, token } = await openLink(server, person, made)
  const browser = new PlainBrowser(server)
  const first = await browser.get(address)
  assert.equal(first.statusCode, 200, first.body)
  const isListed = first.body.includes(sentence('account.linkMethodsHeading'))
  const page = isListed ? await browser.submit(first, {}) : first
  if (isRouted(one)) {
    assert.match(page.body, /Continue with .*Globex/)
    assert.match(page.body, /signs in with .*Globex/)
    assert.doesNotMatch(page.body, /The strong one|name="password"|data-passkey="/)
    return
  }
  assert.equal(page.body.includes('data-passkey="'), !isKept && factor !== 'an app', page.body)
  assert.equal(page.body.includes('The strong one'), !isKept && factor !== 'an app')
  if (isKept) {
    const form = await openOtherLink(server)
    await assertStoreUnchanged(server, async () => {
      assert.ok((await browser.post(LINK, { token, provider: 'strong' })).statusCode >= 400)
      assert.ok((await browser.post(LINK, { ...madeFields(form, openAuthenticator()), token })).statusCode >= 400)
    })
  }
  // A form that the page does not have: it keeps nothing.
  const used = await new PlainBrowser(server).post(LINK, { token, password: NEW, repeated: NEW })
  assert.match(used.body, pageSays('account.linkUsedHeading'))
  const stored = [await store.listPasskeys(person.id), await store.listIdentities(person.id)].flat()
  assert.equal(stored.length, isKept && factor !== 'an app' ? 1 : 0)
  assert.equal((await store.findSecondFactor(person.id)) !== undefined, factor === 'an app')
  server.clock.advance(1)
  if (!isKept) return
  // The reader of the mailbox is not signed in with it, so nothing is added on the account pages, and the console stays closed.
  const answer = await doFirstStep(one, person, new PlainBrowser(server), NEW)
  assert.equal(answer.statusCode, 200, answer.body)
  assert.match(answer.body, pageTitled('secondStep'))
  const sessions = await store.listSessions({ userId: person.id, before: undefined, limit: 2 })
  assert.deepEqual(
    sessions.filter(({ createdAt }) => createdAt > person.session.createdAt),
    [],
  )
}

/** The user removes a factor in a session of two: where each sign-in needs two, the last one stays. */
async function removal(one: Case, person: Person): Promise<void> {
  const { server, isRequired, factor } = one
  const { store } = server.context
  const { has } = FACTORS[factor]
  const user = (await store.findUser(person.id)) ?? assert.fail()
  const { browser } = await signedInBy(server, user, ['fed', 'pop', 'mfa'])
  const page = await browser.get('/account/security')
  const csrf = /name="csrf" value="([^"]+)"/.exec((await browser.get('/account')).body)?.[1] ?? ''
  const [passkey] = await store.listPasskeys(person.id)
  const identities = await store.listIdentities(person.id)
  const identity = identities.find(({ providerId }) => providerId !== 'routing')
  const stays = isRequired && has
  if (passkey === undefined && identity === undefined) return
  assert.equal(page.body.includes('It stays, because your account needs a second step'), stays, page.body)
  const answer =
    passkey === undefined
      ? await browser.post('/account/security/remove-provider', { csrf, identity: identity?.key ?? '' })
      : await browser.post('/account/security/remove-passkey', { csrf, passkey: passkey.id })
  assert.ok(answer.statusCode < 400, answer.body)
  const left = [await store.listPasskeys(person.id), await store.listIdentities(person.id)].flat()
  assert.equal(left.length, stays ? 1 : isRouted(one) ? 1 : 0)
}

/** Signs in with one factor: the password, or the account at the provider that the address requires. */
async function doFirstStep(
  one: Case,
  { email }: Person,
  browser: PlainBrowser,
  password: string,
): Promise<LightMyRequestResponse> {
  const page = await browser.get(locationOf(await browser.get('/account')))
  if (!isRouted(one)) return browser.submit(page, { email, password })
  const claims = { ...freshClaims(one.server), sub: email, email }
  return signInAt({ browser, page, host }, claims, {}, 'routing')
}

async function openLink(
  { clock, context }: TestServer,
  { id: userId }: Pick<Person, 'id'>,
  made: Pick<LinkRecord, 'origin' | 'isMailed'>,
) {
  clock.advance(1)
  const { token, hash } = mintLink(context.secrets, userId, randomBytes)
  const createdAt = clock.now()
  const link = aLink({ userId, hash, ...made })
  const roleSince = (await context.store.findRole(userId))?.setAt
  const ends = { createdAt, expiresAt: after(createdAt, 60_000) }
  assert.equal(await context.store.createLink({ ...link, ...ends, roleSince, mails: [] }), 'created')
  return { address: linkAddress(context.issuer, token), token }
}

/** The form of a passkey, of another user's link. */
async function openOtherLink(server: TestServer): Promise<LightMyRequestResponse> {
  const email = `${randomUUID()}@acme.test`
  const user = await createAccount(server, { email, isVerified: true, password: PASSWORD, name: undefined })
  const { address } = await openLink(server, user, { origin: 'operator', isMailed: false })
  return new PlainBrowser(server).get(address)
}
