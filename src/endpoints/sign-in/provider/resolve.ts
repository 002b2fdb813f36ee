import type { Context } from '../../../ports/context.ts'
import type { Request } from '../../../ports/message.ts'
import type { LinkingReason } from '../../../ports/operations/provider.ts'
import type { IdentityRecord, ProviderRecord } from '../../../ports/records/provider.ts'
import type { UserRecord } from '../../../ports/records/user.ts'
import { newUser } from '../../../users/new-user.ts'
import { noticesOf, noticesWithoutBrowser } from '../../../users/mails.ts'
import { findRequiredProvider } from '../../../users/provider-routing.ts'
import { APPLICATION } from '../../../protocol/sign-in/authentication.ts'
import { after, type EpochMs } from '../../../base/brand.ts'
import { ID_LENGTH, type UserId } from '../../../protocol/ids.ts'
import { mintIdentityProof } from '../../../protocol/sign-in/link.ts'
import type { IdentityKey, ProviderIdentity } from '../../../protocol/sign-in/provider-identity.ts'
import type { SecretHash } from '../../../protocol/secrets.ts'
import type { SignedIn } from '../../authorization/session.ts'
import { changingSession } from '../changing-session.ts'
import type { OpenProof } from './proof.ts'
import type { ProviderPurpose } from './state.ts'

/** A person whom a provider has authenticated just now. */
export interface Arrival {
  readonly provider: ProviderRecord
  readonly identity: ProviderIdentity
  readonly key: IdentityKey
  readonly purpose: ProviderPurpose
  /** undefined: the person is not in a browser, so that rule 7 refuses. */
  readonly browserHash: SecretHash | undefined
  /** The browser and its language, for the notice to the user. undefined: there is none. */
  readonly request: Pick<Request, 'agent' | 'language'> | undefined
  /** The user of the browser, for a person who adds a sign-in method. */
  readonly signedIn: SignedIn | undefined
}

/** Whose account it is. */
export type Resolution =
  | { readonly kind: 'user'; readonly user: UserRecord }
  /** The identity was linked to the account of the session. */
  | { readonly kind: 'connected' }
  /** An account has the address. The person signs in to it first. */
  | { readonly kind: 'asked'; readonly proof: OpenProof }
  | { readonly kind: 'refused'; readonly reason: 'account-refused' | 'no-account' | 'provider-off' | 'identity-taken' }

/** The id of no user. */
const NO_USER = `gus_${'0'.repeat(ID_LENGTH)}` as UserId
/** How long a person may take to sign in to the account that has the address. */
const PROOF_MS = 10 * 60 * 1000

/** What a person gets, before anything is stored. */
export type Plan =
  | { readonly kind: 'use'; readonly identity: IdentityRecord; readonly user: UserRecord }
  | { readonly kind: 'link'; readonly account: UserRecord; readonly reason: LinkingReason }
  | { readonly kind: 'connect'; readonly account: UserRecord; readonly reason: LinkingReason }
  | { readonly kind: 'ask'; readonly userId: UserId; readonly browserHash: SecretHash }
  | { readonly kind: 'create' }
  | Extract<Resolution, { readonly kind: 'refused' }>

/** Finds the account of a person, or links or creates one, as `planResolution` decides. */
export async function resolveIdentity(context: Context, arrival: Arrival): Promise<Resolution> {
  return carryOut(context, arrival, await planResolution(context, arrival))
}

/**
 * Decides which account a person gets, and stores nothing. An e-mail address alone finds no account, unless the operator said so of the
 * provider and of its domains (threats.md UP-01 to UP-05). The first rule that fits decides; docs/providers.md has them in words.
 *
 *  1. The identity is known and its user enabled: signed in. The address of the account stays as it is.
 *  2. The identity is known and its user disabled: refused, and nothing is linked.
 *  3. The person came from the page of a link: linked to the user of the link, which is used up, or already linked to that user. The
 *     password, the sessions, and the identities that the person did not keep end (LNK-01). A provider with `multi_factor` takes the place
 *     of no second factor (ACC-17).
 *  4. The person added a sign-in method: linked to the user of the session.
 *  5. An account has the trusted address: linked at once if the provider may link by address, the address is of its domains, and the
 *     account's is verified. An account that has an identity of the same provider is never linked: the address was given to another
 *     person. If it has an identity of another provider, rule 7 applies, because it may belong to another person.
 *  6. An account has the trusted address, which is of the provider's domains, and was never verified or signed in with: the account
 *     is taken over, without what it had.
 *  7. An account has the trusted address in any other case: the person signs in to it first.
 *  8. The address is not trusted, or of a domain that belongs to another provider: the account is as if it did not exist.
 *  9. There is no account: the provider's rule for sign-up creates one.
 * 10. Otherwise refused.
 *
 * An account whose address requires another provider is neither linked nor created by rules 3 to 9 (UP-19).
 */
export async function planResolution(context: Context, arrival: Pick<Arrival, PlannedBy>): Promise<Plan> {
  const { provider, identity, key, purpose } = arrival
  const { store } = context
  const known = await store.findIdentity(key)
  if (purpose.kind === 'link') {
    if (known !== undefined && known.userId !== purpose.userId) return { kind: 'refused', reason: 'identity-taken' }
    const { hash, keep, userId } = purpose
    const { multiFactor: isMultiFactor } = provider.settings
    const isSecondStepRequired = context.settings.secondFactor === 'required'
    const reason = { kind: 'link', hash, keep, isMultiFactor, isSecondStepRequired } as const
    return planLink(context, provider, await store.findUser(userId), reason)
  }
  if (purpose.kind === 'connect') {
    return known === undefined ? planConnection(context, arrival) : { kind: 'refused', reason: 'identity-taken' }
  }
  if (known !== undefined) return planUse(context, known)
  // It restricts, so an address that is not trusted counts too.
  if (await isRequiredElsewhere(context, provider, identity.email)) return { kind: 'refused', reason: 'no-account' }
  const email = provedAddress(identity)
  const account = email === undefined ? undefined : await store.findUserByEmail(email)
  // Read also for no user, so that a refusal takes the same time with and without an account (threats.md JAG-13).
  const others = email === undefined ? [] : await store.listIdentities(account?.id ?? NO_USER)
  if (account !== undefined && email !== undefined) return planByAddress(context, arrival, { account, email, others })
  const { signUp } = provider.settings
  const isAllowed = signUp === 'anybody' || (signUp === 'domains' && identity.isWithinDomains)
  return isAllowed ? { kind: 'create' } : { kind: 'refused', reason: 'no-account' }
}

type PlannedBy = 'browserHash' | 'provider' | 'identity' | 'key' | 'purpose' | 'signedIn'

async function planUse({ store }: Context, identity: IdentityRecord): Promise<Plan> {
  const user = await store.findUser(identity.userId)
  if (user === undefined || user.disabledAt !== undefined) return { kind: 'refused', reason: 'account-refused' }
  return { kind: 'use', identity, user }
}

/** Whether accounts with the address sign in at another provider only. */
async function isRequiredElsewhere(
  { providers }: Context,
  { id }: Pick<ProviderRecord, 'id'>,
  email: string | undefined,
): Promise<boolean> {
  const required = findRequiredProvider(await providers(), email)
  return required !== undefined && required.id !== id
}

async function planConnection(
  context: Context,
  { provider, signedIn }: Pick<Arrival, 'provider' | 'signedIn'>,
): Promise<Plan> {
  if (signedIn === undefined) return { kind: 'refused', reason: 'account-refused' }
  const session = await changingSession(context, signedIn)
  const plan = await planLink(context, provider, signedIn.user, { kind: 'session', session })
  return plan.kind === 'link' ? { ...plan, kind: 'connect' } : plan
}

/** The account that has the trusted address, and its identities. */
interface Addressed {
  readonly account: UserRecord
  readonly email: string
  readonly others: readonly IdentityRecord[]
}

async function planByAddress(
  context: Context,
  { browserHash, provider, identity }: Pick<Arrival, 'browserHash' | 'provider' | 'identity'>,
  { account, email, others }: Addressed,
): Promise<Plan> {
  if (account.disabledAt !== undefined) return { kind: 'refused', reason: 'account-refused' }
  if (others.some(({ providerId }) => providerId === provider.id)) return { kind: 'refused', reason: 'no-account' }
  const isUnused = account.emailVerifiedAt === undefined && account.firstSignedInAt === undefined
  if (identity.isWithinDomains && isUnused) {
    return planLink(context, provider, account, { kind: 'unused', email })
  }
  const isOfAnotherProvider = others.some(({ providerId }) => providerId !== APPLICATION)
  const isVerified = account.emailVerifiedAt !== undefined
  const mayLink = provider.settings.link === 'verified-email' && isVerified && !isOfAnotherProvider
  if (identity.isWithinDomains && mayLink) return planLink(context, provider, account, { kind: 'address', email })
  return browserHash === undefined
    ? { kind: 'refused', reason: 'account-refused' }
    : { kind: 'ask', userId: account.id, browserHash }
}

async function planLink(
  context: Context,
  provider: ProviderRecord,
  account: UserRecord | undefined,
  reason: LinkingReason,
): Promise<Plan> {
  if (account === undefined || (await isRequiredElsewhere(context, provider, account.email))) {
    return { kind: 'refused', reason: 'account-refused' }
  }
  return { kind: 'link', account, reason }
}

/** Stores what was planned, if it is still so. */
export async function carryOut(context: Context, arrival: Arrival, plan: Plan): Promise<Resolution> {
  switch (plan.kind) {
    case 'use':
      return use(context, plan, arrival)
    case 'link':
      return link(context, arrival, plan)
    case 'connect': {
      const linked = await link(context, arrival, plan)
      return linked.kind === 'user' ? { kind: 'connected' } : linked
    }
    case 'ask':
      return askForProof(context, arrival, plan)
    case 'create':
      return provision(context, arrival)
    case 'refused':
      return plan
  }
}

async function use(
  { clockCheck, store }: Context,
  { identity: { key, userId, providerId }, user }: Extract<Plan, { readonly kind: 'use' }>,
  { identity: arrived }: Pick<Arrival, 'identity'>,
): Promise<Resolution> {
  const email = provedAddress(arrived)
  // The provider may have been disabled, or the identity removed, while the provider answered.
  switch (await store.useIdentity({ key, userId, providerId, email, now: clockCheck.now() })) {
    case 'used':
      return { kind: 'user', user }
    case 'unknown':
      return { kind: 'refused', reason: 'account-refused' }
    case 'provider-off':
      return { kind: 'refused', reason: 'provider-off' }
  }
}

async function link(
  context: Context,
  arrival: Arrival,
  { account, reason }: Pick<Extract<Plan, { readonly kind: 'link' }>, 'account' | 'reason'>,
): Promise<Resolution> {
  const now = context.clockCheck.now()
  const { request } = arrival
  const mails =
    request === undefined
      ? noticesWithoutBrowser(context, account, 'provider-added')
      : noticesOf(context, account, 'provider-added', request)
  const outcome = await context.store.linkIdentity({ identity: recordOf(arrival, account.id, now), reason, now, mails })
  if (outcome === 'taken') return { kind: 'refused', reason: 'identity-taken' }
  if (outcome === 'provider-off') return { kind: 'refused', reason: 'provider-off' }
  const user = outcome === 'linked' ? await context.store.findUser(account.id) : undefined
  return user === undefined ? { kind: 'refused', reason: 'account-refused' } : { kind: 'user', user }
}

async function askForProof(
  context: Context,
  arrival: Arrival,
  { userId, browserHash }: Extract<Plan, { readonly kind: 'ask' }>,
): Promise<Resolution> {
  const { clockCheck, random, secrets, store } = context
  const now = clockCheck.now()
  const { token, hash } = mintIdentityProof(secrets, userId, random)
  const identity = recordOf(arrival, userId, now)
  const proof = { identity, hash, browserHash, expiresAt: after(now, PROOF_MS) }
  const outcome = await store.createIdentityProof(proof)
  if (outcome === 'provider-off') return { kind: 'refused', reason: 'provider-off' }
  if (outcome === 'unknown') return { kind: 'refused', reason: 'account-refused' }
  return { kind: 'asked', proof: { proof, token } }
}

async function provision(context: Context, arrival: Arrival): Promise<Resolution> {
  const { identity } = arrival
  const now = context.clockCheck.now()
  const user = newUser(context, now, {
    email: provedAddress(identity),
    emailVerifiedAt: identity.isEmailTrusted ? now : undefined,
    name: identity.name,
    passwordHash: undefined,
  })
  const outcome = await context.store.provisionUser({ user, identity: recordOf(arrival, user.id, now) })
  switch (outcome) {
    case 'created':
      return { kind: 'user', user }
    case 'provider-off':
      return { kind: 'refused', reason: 'provider-off' }
    // The same person signed up in another tab, or an account got the address, at the same time.
    case 'taken':
    case 'email-taken':
      return { kind: 'refused', reason: 'identity-taken' }
  }
}

function recordOf({ provider, identity, key }: Arrival, userId: UserId, now: EpochMs): IdentityRecord {
  return {
    key,
    userId,
    providerId: provider.id,
    subject: identity.subject,
    email: provedAddress(identity),
    linkedAt: now,
    usedAt: now,
  }
}

/**
 * The address of a person that counts anywhere, and all that is kept of it: a person who chooses which accounts at providers are the own ones, and
 * support, would take another one for that of the owner (threats.md UP-36).
 */
function provedAddress({ email, isEmailTrusted }: ProviderIdentity): ProviderIdentity['email'] {
  return isEmailTrusted ? email : undefined
}
