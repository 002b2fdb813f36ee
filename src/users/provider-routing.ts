import type { Context } from '../ports/context.ts'
import type { IdentityRecord, ProviderRecord } from '../ports/records/provider.ts'
import type { UserRecord } from '../ports/records/user.ts'
import { rpIdOf } from '../protocol/sign-in/passkey.ts'
import { domainOf } from '../protocol/sign-in/provider-identity.ts'

type Delegation = Pick<Context['settings'], 'delegate'>

/**
 * The only provider where an account with this address may sign in (threats.md UP-19); undefined: there is none. The rule also counts
 * while the provider is disabled: otherwise a password that the user has had since before the rule would become valid again.
 */
export function findRequiredProvider(
  providers: readonly ProviderRecord[],
  email: string | undefined,
): ProviderRecord | undefined {
  const domain = email === undefined ? undefined : domainOf(email)
  if (domain === undefined) return undefined
  return providers.find(({ settings }) => settings.routing === 'required' && settings.domains.includes(domain))
}

/**
 * Whether a domain belongs to another provider than this one, so that this one proves no address of it (threats.md UP-23). The domains
 * of a disabled provider count for the same reason as above: its persons have their accounts, and come back when it is enabled.
 */
export function isOfAnotherProvider(
  providers: readonly ProviderRecord[],
  { id }: Pick<ProviderRecord, 'id'>,
): (domain: string) => boolean {
  const others = new Set(providers.flatMap((one) => (one.id === id ? [] : one.settings.domains)))
  return (domain) => others.has(domain)
}

/** Whether an account with this address may have a password, and sign in with it. */
export function mayHavePassword(
  { passwords }: Pick<Context['settings'], 'passwords'>,
  providers: readonly ProviderRecord[],
  email: string | undefined,
): boolean {
  return passwords === 'on' && findRequiredProvider(providers, email) === undefined
}

/** Whether users can have passkeys here: this server signs them in, and browsers make passkeys for its host. */
export function offersPasskeys({ issuer, settings }: Pick<Context, 'issuer' | 'settings'>): boolean {
  return settings.delegate === undefined && rpIdOf(issuer) !== undefined
}

/** Whether the user can sign in with a passkey, once there is one: not if a provider is required for the address. */
export function mayHavePasskeys(
  context: Pick<Context, 'issuer' | 'settings'>,
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

/** An identity of a user, for an administrator or the user. */
export function describeIdentity({ providerId, subject, email, linkedAt, usedAt }: IdentityRecord) {
  return {
    provider_id: providerId,
    subject,
    email: email ?? null,
    linked_at: new Date(linkedAt).toISOString(),
    used_at: new Date(usedAt).toISOString(),
  }
}
