import type { IdentityView, OwnIdentity, OwnMethod, PasskeyView, StayReason } from '../../ports/pages/account.ts'
import type { Context } from '../../ports/context.ts'
import type { OtherFactors } from '../../ports/operations/second-factor.ts'
import type { ProviderMark } from '../../ports/pages/parts.ts'
import type { ProviderOffer, SignInOffer } from '../../ports/pages/pages.ts'
import type { IdentityRecord, ProviderRecord } from '../../ports/records/provider.ts'
import type { UserRecord } from '../../ports/records/user.ts'
import { isOnlyFactor, type Factors, type FactorSense } from '../../users/factors.ts'
import {
  findRequiredProvider,
  mayHavePasskeys,
  mayHavePassword,
  providersFor,
  providersShown,
  usableProviders,
} from '../../users/provider-routing.ts'
import type { OrganizationId } from '../../protocol/ids.ts'
import { APPLICATION, type ProviderId } from '../../protocol/sign-in/authentication.ts'
import { secondsSince, type EpochMs } from '../../base/brand.ts'
import { PATHS, pageAddress } from '../paths.ts'
import { offerPasskey } from './passkey/offer.ts'
import { PASSKEY_LIMIT } from '../../protocol/sign-in/passkey.ts'
import type { PasskeyRecord } from '../../ports/records/passkey.ts'
import { buttonParts, type SignInTarget } from './target.ts'

/** How users can authenticate. */
export type SignInMethodName = 'delegate' | 'passkey' | 'password' | 'provider'

/** What the sign-in page is shown for. */
export interface OfferInput {
  readonly target: SignInTarget
  readonly providers: readonly ProviderRecord[]
  /** The address that the user typed, or that the client named; empty: none. */
  readonly email: string
  /** The provider at which the user signed in, or tried to, in this browser. */
  readonly cameFrom: ProviderId | undefined
}

/** A user at the account pages. */
export interface OwnerInput {
  readonly user: UserRecord
  readonly providers: readonly ProviderRecord[]
  readonly identities: readonly IdentityRecord[]
  readonly passkeys: readonly PasskeyRecord[]
  readonly factors: Readonly<Record<FactorSense, Factors>>
  /** The organizations of which the user is an enabled member. */
  readonly organizations: readonly OrganizationId[]
  /** The languages that the pages are asked for. */
  readonly uiLocales: string | undefined
}

/**
 * A sign-in method. Its endpoints are rows of ENDPOINTS; they authenticate the user, and call `finishSignIn`.
 */
export interface SignInMethod {
  readonly name: SignInMethodName
  /** What the sign-in page shows for the method. Empty: the method is switched off. */
  readonly offer: (context: Context, input: OfferInput) => readonly SignInOffer[]
  /** What the user's account page shows of the method. Empty: the user cannot have it. */
  readonly ofUser: (context: Context, input: OwnerInput) => readonly OwnMethod[]
}

/** The table of sign-in methods, in the order of the sign-in page. */
export const SIGN_IN_METHODS: readonly SignInMethod[] = [
  { name: 'delegate', offer: offerApplication, ofUser: () => [] },
  { name: 'provider', offer: offerProviders, ofUser: ownIdentities },
  { name: 'passkey', offer: offerPasskey, ofUser: ownPasskeys },
  { name: 'password', offer: offerPassword, ofUser: ownPassword },
]

/** Buttons of providers on a page. The other providers are found by the domain of the address. */
const BUTTONS = 8

function offerApplication(context: Context, { target }: OfferInput): readonly SignInOffer[] {
  const uri = leaveAddress(context, target)
  return uri === undefined ? [] : [{ kind: 'application', uri }]
}

/** The parameter of an address by which the application is asked to authenticate the person, whatever session it has. */
export const AFRESH = 'afresh'

/** The address that redirects to the operator's application. undefined: this server signs users in. */
export function leaveAddress(
  { issuer, settings }: Context,
  target: SignInTarget,
  asked?: typeof AFRESH,
): string | undefined {
  if (settings.delegate === undefined) return undefined
  const { uiLocales } = target
  const subject = target.purpose === 'account' ? { page: target.page } : { authorization: target.authorization.id }
  return pageAddress(issuer, PATHS.leave, { ...subject, uiLocales, ...(asked && { [asked]: '1' }) })
}

/**
 * The address of a user comes first where it can lead to a provider, and is all that the user types where there are no passwords. Which
 * provider has its domain follows from the settings alone, so that no answer says whether there is an account.
 */
function offerPassword({ issuer, settings }: Context, input: OfferInput): readonly SignInOffer[] {
  const { target, providers, email } = input
  const action = pageAddress(issuer, PATHS.signIn, { uiLocales: target.uiLocales })
  if (settings.passwords === 'off') return isAddressUseful(settings, input) ? [{ kind: 'address', action }] : []
  const isRouted = providers.some((provider) => provider.settings.routing === 'required')
  return [{ kind: 'password', action, asksEmailFirst: email === '' && (isRouted || isAddressUseful(settings, input)) }]
}

/** Whether an address could lead to a provider that has no button. */
function isAddressUseful(settings: Context['settings'], input: OfferInput): boolean {
  const buttons = withButtons(settings, input)
  return usableProviders(settings, input.providers).some(
    (one) => one.settings.domains.length > 0 && !buttons.includes(one),
  )
}

function offerProviders(context: Context, input: OfferInput): readonly SignInOffer[] {
  return withButtons(context.settings, input).map((provider) => offerProvider(context, input.target, provider))
}

/** The providers that have a button on the sign-in page. */
export function withButtons(
  settings: Pick<Context['settings'], 'delegate' | 'passwords'>,
  { target, providers, email, cameFrom }: OfferInput,
): readonly ProviderRecord[] {
  const requested = target.purpose === 'authorization' ? target.authorization.organizationId : undefined
  const organizations = requested === undefined ? [] : [requested]
  return providersShown(settings, providers, { email, organizations, cameFrom }).slice(0, BUTTONS)
}

/** The button of a provider. */
export function offerProvider(
  { issuer, secrets, providerSignIn }: Context,
  target: SignInTarget,
  provider: ProviderRecord,
): ProviderOffer {
  return {
    kind: 'provider',
    action: pageAddress(issuer, PATHS.signInAtProvider, { uiLocales: target.uiLocales }),
    id: provider.id,
    name: provider.settings.name,
    mark: markOf(provider),
    offered: secrets.digest('csrf', buttonParts(target, provider.id)),
    isDown: providerSignIn.isDown(provider),
  }
}

function ownPassword(context: Context, input: OwnerInput): readonly OwnMethod[] {
  const { email, passwordHash } = input.user
  if (email === undefined || !mayHavePassword(context.settings, input.providers, email)) return []
  return [{ kind: 'password', isSet: passwordHash !== undefined, isRemovable: isPasswordRemovable(context, input) }]
}

/** Whether the user can remove a password, because another method remains. */
export function isPasswordRemovable(context: Context, input: OwnerInput): boolean {
  const { passwordHash } = input.user
  return passwordHash !== undefined && (countsPasskeys(context, input) || hasIdentity(context, input))
}

/** The identities of a user at providers, and then the providers where the user has none. */
function ownIdentities(context: Context, input: OwnerInput): readonly OwnMethod[] {
  if (context.settings.delegate !== undefined) return []
  const { issuer } = context
  const { identities, uiLocales } = input
  const atProviders = identities.filter(({ providerId }) => providerId !== APPLICATION)
  const own = atProviders.map((identity): OwnMethod => {
    const reason = findStayReason(context, input, identity)
    const uri = pageAddress(issuer, PATHS.accountRemoveProvider, { identity: identity.key, uiLocales })
    const removal = reason === undefined ? ({ kind: 'open', uri } as const) : { kind: reason }
    return { kind: 'identity', ...viewOwnIdentity(context, input, identity), removal }
  })
  const addable = addableProviders(context, input)
  return [...own, ...addable.map(({ id, settings }) => ({ kind: 'provider' as const, id, name: settings.name }))]
}

/** The providers that the user can add. */
export function addableProviders(
  { settings }: Context,
  { user, providers, identities, organizations }: OwnerInput,
): readonly ProviderRecord[] {
  return providersShown(settings, providers, { email: user.email, organizations, cameFrom: undefined }).filter(
    ({ id }) => !identities.some((one) => one.providerId === id),
  )
}

/** The picture beside the name of a provider, by its issuer. */
export function markOf({ settings: { issuer } }: Pick<ProviderRecord, 'settings'>): ProviderMark {
  const { hostname, pathname } = new URL(issuer)
  if (/^(?:github|gitlab|bitbucket)\./.test(hostname)) return 'code'
  if (/(?:^|\.)(?:microsoftonline\.com|windows\.net)$/.test(hostname)) return 'office'
  return pathname.includes('/realms/') ? 'key' : 'letter'
}

/** The same for the user at the account pages. */
export function viewOwnIdentity(
  { clock, settings }: Context,
  { user, providers }: OwnerInput,
  identity: IdentityRecord,
): OwnIdentity {
  const isUsable = providersFor(settings, providers, user.email).some(({ id }) => id === identity.providerId)
  return { ...viewIdentity(identity, providers, clock()), isUsable }
}

/** An identity as pages show it to its user. */
export function viewIdentity(
  { providerId, email, linkedAt, usedAt }: IdentityRecord,
  providers: readonly ProviderRecord[],
  now: EpochMs,
): IdentityView {
  return {
    name: providers.find(({ id }) => id === providerId)?.settings.name ?? providerId,
    email,
    linkedSecondsAgo: secondsSince(linkedAt, now),
    usedSecondsAgo: secondsSince(usedAt, now),
  }
}

/**
 * Why an identity stays; undefined: the user can remove it. Another method must remain. A provider that the operator requires for the
 * address of the user stays. The identity at the operator's application stays too: without it, the next sign-in there would make
 * another account. The only second factor stays where every sign-in needs two.
 */
export function findStayReason(
  context: Context,
  input: OwnerInput,
  { key, providerId }: IdentityRecord,
): StayReason | undefined {
  const { user, providers, identities } = input
  if (providerId === APPLICATION) return 'required'
  if (findRequiredProvider(providers, user.email)?.id === providerId) return 'required'
  if (isOnlyFactorNeeded(context, input, key)) return 'factor'
  const usable = new Set(providersFor(context.settings, providers, user.email).map(({ id }) => id))
  const isOther = (one: IdentityRecord): boolean => one.key !== key && usable.has(one.providerId)
  return identities.some(isOther) || countsPasskeys(context, input) || countsPassword(context, input)
    ? undefined
    : 'last'
}

function countsPasskeys(context: Context, input: OwnerInput): boolean {
  return input.passkeys.length > 0 && mayHavePasskeys(context, input)
}

function ownPasskeys(context: Context, input: OwnerInput): readonly OwnMethod[] {
  if (!mayHavePasskeys(context, input)) return []
  const { passkeys, uiLocales } = input
  const views = passkeys.map((passkey) => {
    const stays = findPasskeyStayReason(context, input, passkey)
    const uri = pageAddress(context.issuer, PATHS.accountRemovePasskey, { passkey: passkey.id, uiLocales })
    const removal = stays === undefined ? ({ kind: 'open', uri } as const) : { kind: stays }
    return { ...viewPasskey(passkey, context.clock()), removal }
  })
  return [{ kind: 'passkeys', passkeys: views, canAdd: passkeys.length < PASSKEY_LIMIT }]
}

/** A passkey as pages show it to its user. */
export function viewPasskey({ agent, isBackedUp, createdAt, usedAt }: PasskeyRecord, now: EpochMs): PasskeyView {
  return {
    agent,
    isSynced: isBackedUp,
    addedSecondsAgo: secondsSince(createdAt, now),
    usedSecondsAgo: usedAt === undefined ? undefined : secondsSince(usedAt, now),
  }
}

/** Why a passkey stays; undefined: the user can remove it, because another method remains, and a second factor where one is needed. */
export function findPasskeyStayReason(
  context: Context,
  input: OwnerInput,
  { id }: Pick<PasskeyRecord, 'id'>,
): StayReason | undefined {
  if (isOnlyFactorNeeded(context, input, id)) return 'factor'
  const hasOther = input.passkeys.length > 1 || hasIdentity(context, input) || countsPassword(context, input)
  return hasOther ? undefined : 'last'
}

/**
 * Whether a passkey or an identity is the only second factor, where every sign-in needs two: a thief of the password could set up the next
 * one. One that does not work now counts, and is counted.
 */
function isOnlyFactorNeeded(
  { settings }: Context,
  { factors: { counting } }: OwnerInput,
  key: PasskeyRecord['id'] | IdentityRecord['key'],
): boolean {
  return settings.secondFactor === 'required' && isOnlyFactor(counting, key)
}

/** The second factors of which one remains when a passkey or an identity is removed, for the store. undefined: none need remain. */
export function otherFactors(
  { settings }: Context,
  { factors: { counting } }: Pick<OwnerInput, 'factors'>,
  removed: PasskeyRecord['id'] | IdentityRecord['key'],
): OtherFactors | undefined {
  const { app, passkeys } = counting
  const identities = counting.identities.map(({ key }) => key)
  const isFactor = passkeys.some(({ id }) => id === removed) || identities.some((key) => key === removed)
  return isFactor && settings.secondFactor === 'required' ? { app: app !== undefined, identities } : undefined
}

/** Whether the user can sign in at a provider. */
function hasIdentity({ settings }: Context, { user, providers, identities }: OwnerInput): boolean {
  const usable = new Set(providersFor(settings, providers, user.email).map(({ id }) => id))
  return identities.some(({ providerId }) => usable.has(providerId))
}

/** Whether the user can sign in with a password. */
export function countsPassword(context: Context, input: OwnerInput): boolean {
  return ownPassword(context, input).length > 0 && input.user.passwordHash !== undefined
}
