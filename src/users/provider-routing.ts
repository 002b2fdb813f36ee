import type { Context } from '../ports/context.ts'
import type { ProviderRecord } from '../ports/records/provider.ts'
import type { UserRecord } from '../ports/records/user.ts'
import { rpIdOf } from '../protocol/sign-in/passkey.ts'
import type { OrganizationId } from '../protocol/ids.ts'
import type { ProviderId } from '../protocol/sign-in/authentication.ts'
import { isListed } from '../protocol/sign-in/provider.ts'
import { domainOf } from '../protocol/sign-in/email-address.ts'

type Delegation = Pick<Context['settings'], 'delegate'>
type Passwords = Pick<Context['settings'], 'passwords'>

/** The owners of the domains of a list of providers. A node has one list for a second, and asks for several addresses. */
const OWNERS = new WeakMap<readonly ProviderRecord[], ReadonlyMap<string, ProviderRecord>>()

function ownersOf(providers: readonly ProviderRecord[]): ReadonlyMap<string, ProviderRecord> {
  const known = OWNERS.get(providers)
  if (known !== undefined) return known
  const owners = new Map(providers.flatMap((one) => one.settings.domains.map((domain) => [domain, one] as const)))
  OWNERS.set(providers, owners)
  return owners
}

/** The provider to which the domain of an address belongs, also while it is disabled; undefined: none. */
export function findProviderOf(
  providers: readonly ProviderRecord[],
  email: string | undefined,
): ProviderRecord | undefined {
  const domain = email === undefined ? undefined : domainOf(email)
  return domain === undefined ? undefined : ownersOf(providers).get(domain)
}

/**
 * The only provider where an account with this address may sign in (threats.md UP-19); undefined: there is none. The rule also counts
 * while the provider is disabled: otherwise a password that the user has had since before the rule would become valid again.
 */
export function findRequiredProvider(
  providers: readonly ProviderRecord[],
  email: string | undefined,
): ProviderRecord | undefined {
  const provider = findProviderOf(providers, email)
  return provider?.settings.routing === 'required' ? provider : undefined
}

/**
 * Whether a domain belongs to another provider than this one, so that this one proves no address of it (threats.md UP-23). The domains
 * of a disabled provider count for the same reason as above: its persons have their accounts, and come back when it is enabled.
 */
export function isOfAnotherProvider(
  providers: readonly ProviderRecord[],
  { id }: Pick<ProviderRecord, 'id'>,
): (domain: string) => boolean {
  return (domain) => (ownersOf(providers).get(domain)?.id ?? id) !== id
}

/** Whether an account with this address may have a password, and sign in with it. */
export function mayHavePassword(
  { passwords }: Passwords,
  providers: readonly ProviderRecord[],
  email: string | undefined,
): boolean {
  return passwords === 'on' && findRequiredProvider(providers, email) === undefined
}

/** Whether users can have passkeys here: this server signs them in, and browsers make passkeys for its host. */
export function offersPasskeys({ issuer, settings }: Context): boolean {
  return settings.delegate === undefined && rpIdOf(issuer) !== undefined
}

/** Whether the user can sign in with a passkey, once there is one: not if a provider is required for the address. */
export function mayHavePasskeys(
  context: Context,
  { user, providers }: { readonly user: Pick<UserRecord, 'email'>; readonly providers: readonly ProviderRecord[] },
): boolean {
  return offersPasskeys(context) && findRequiredProvider(providers, user.email) === undefined
}

/** The usable providers at which an account with this address may sign in. */
export function providersFor(
  settings: Delegation,
  providers: readonly ProviderRecord[],
  email: string | undefined,
): readonly ProviderRecord[] {
  const required = findRequiredProvider(providers, email)
  return usableProviders(settings, required === undefined ? providers : [required])
}

/** The providers at which users can sign in. */
export function usableProviders(settings: Delegation, providers: readonly ProviderRecord[]): readonly ProviderRecord[] {
  return providers.filter((provider) => isUsable(settings, provider))
}

/** Whether users can sign in at a provider: it is enabled, and the operator has no application that signs users in (threats.md DEL-14). */
export function isUsable({ delegate }: Delegation, { disabledAt }: Pick<ProviderRecord, 'disabledAt'>): boolean {
  return delegate === undefined && disabledAt === undefined
}

/** What is known of a person who is shown ways to sign in. */
export interface KnownPerson {
  /** The address that the person typed, that a client named, or of the account. undefined: none. */
  readonly email: string | undefined
  /** The organizations that the client requests, or to which the person belongs. */
  readonly organizations: readonly OrganizationId[]
  /** The provider at which the person signed in, or tried to, in this browser. undefined: none. */
  readonly cameFrom: ProviderId | undefined
}

/**
 * The usable providers that a person is shown: first the provider of the address, those of the organizations, and the one that the person
 * came from; then the listed ones. Without passwords the only provider is listed too, unless the operator hides it.
 */
export function providersShown(
  settings: Delegation & Passwords,
  providers: readonly ProviderRecord[],
  { email, organizations, cameFrom }: KnownPerson,
): readonly ProviderRecord[] {
  const usable = providersFor(settings, providers, email)
  const ofAddress = findProviderOf(providers, email)
  const isOwn = ({ id, settings: { organizationId } }: ProviderRecord): boolean =>
    id === ofAddress?.id || id === cameFrom || (organizationId !== undefined && organizations.includes(organizationId))
  const isOnlyWay = settings.passwords === 'off' && usable.length === 1
  const isForEachVisitor = (one: ProviderRecord): boolean =>
    isListed(one.settings) || (isOnlyWay && one.settings.listing === 'auto')
  return [...usable.filter(isOwn), ...usable.filter((one) => !isOwn(one) && isForEachVisitor(one))]
}
