import type { Context, StoreNeeds } from '../../ports/context.ts'
import type { IdentityRecord, ProviderRecord } from '../../ports/records/provider.ts'
import type { LinkOrigin, UserRecord } from '../../ports/records/user.ts'
import { mayHavePassword, multiFactorIdentities, providersFor } from '../../users/provider-routing.ts'
import { mayHavePasskeys } from './methods.ts'

/** What a person can choose on the page of a link, and which second factors of the account its use leaves. */
export interface LinkMethods {
  readonly hasPassword: boolean
  /** Whether the user of the link may add a passkey. */
  readonly hasPasskey: boolean
  /** The providers that the user of the link may add. */
  readonly providers: readonly ProviderRecord[]
  /** Whether the passkeys stay, whatever the person chooses. */
  readonly keepsPasskeys: boolean
  /** The identities that stay as well. */
  readonly keptIdentities: readonly IdentityRecord[]
}

/**
 * What a link can do for its user. A link proves the mailbox alone, so it adds nothing that would sign in without the authenticator app of
 * the account. Where a sign-in with the password would demand a second step, a link that a user asked for also leaves the passkeys, or
 * the identities at providers with `multi_factor`, if the account has no other second factor: only a link of the operator replaces them
 * (threats.md ACC-17). Elsewhere the mailbox is the way back for a user who has lost a passkey.
 */
export async function findLinkMethods(
  context: Pick<Context, 'issuer' | 'providers' | 'settings'> &
    StoreNeeds<'findSecondFactor' | 'listIdentities' | 'listPasskeys'>,
  user: UserRecord,
  origin: LinkOrigin,
): Promise<LinkMethods> {
  const { settings, store } = context
  const [providers, app, passkeys, identities] = await Promise.all([
    context.providers(),
    store.findSecondFactor(user.id),
    store.listPasskeys(user.id),
    store.listIdentities(user.id),
  ])
  const hasApp = app !== undefined
  const isRequired = settings.secondFactor === 'required' && origin === 'user'
  const strong = isRequired ? multiFactorIdentities(settings, providers, identities) : []
  const hasFactor = hasApp || (isRequired && passkeys.length + strong.length > 0)
  const routed = providersFor(settings, providers, user.email)
  return {
    hasPassword: mayHavePassword(settings, providers, user.email),
    hasPasskey: !hasFactor && mayHavePasskeys(context, { user, providers }),
    providers: hasFactor ? routed.filter((one) => !one.settings.multiFactor) : routed,
    keepsPasskeys: isRequired || (hasApp && origin === 'user'),
    keptIdentities: hasApp || passkeys.length > 0 ? [] : strong,
  }
}

/** Whether a link could give its user a way to sign in. */
export function hasLinkMethod({ hasPassword, hasPasskey, providers }: LinkMethods): boolean {
  return hasPassword || hasPasskey || providers.length > 0
}
