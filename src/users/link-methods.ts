import type { Context } from '../ports/context.ts'
import type { IdentityRecord, ProviderRecord } from '../ports/records/provider.ts'
import type { LinkRecord, UserRecord } from '../ports/records/user.ts'
import { findFactorNeed, findFactors, hasFactor } from './factors.ts'
import { organizationsOf } from './provider-membership.ts'
import { mayHavePasskeys, mayHavePassword, providersShown } from './provider-routing.ts'

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
 * What a link can do for its user. It adds nothing that would sign in without the authenticator app of the account. One that is mailed
 * proves the mailbox alone, also one that an operator sends: where a sign-in with the password would demand a second step, it leaves the factors that
 * count, and adds none; only a link that is shown to an operator replaces them (threats.md ACC-17, ACC-20). Elsewhere the mailbox is the
 * way back for a user who has lost a passkey.
 */
export async function findLinkMethods(
  context: Context,
  user: UserRecord,
  { isMailed }: Pick<LinkRecord, 'isMailed'>,
): Promise<LinkMethods> {
  const { settings } = context
  const [providers, { held, counting }, need, organizations] = await Promise.all([
    context.providers(),
    findFactors(context, user),
    findFactorNeed(context, user),
    organizationsOf(context, user),
  ])
  const leaves = isMailed && need !== 'never'
  const isBarred = held.app !== undefined || (leaves && hasFactor(counting))
  const shown = providersShown(settings, providers, { email: user.email, organizations, cameFrom: undefined })
  const isOnlyIdentity = counting.app === undefined && counting.passkeys.length === 0
  return {
    hasPassword: mayHavePassword(settings, providers, user.email),
    hasPasskey: !isBarred && mayHavePasskeys(context, { user, providers }),
    providers: isBarred ? shown.filter((one) => !one.settings.multiFactor) : shown,
    keepsPasskeys: leaves,
    keptIdentities: leaves && isOnlyIdentity ? counting.identities : [],
  }
}

/** Whether a link could give its user a way to sign in. */
export function hasLinkMethod({ hasPassword, hasPasskey, providers }: LinkMethods): boolean {
  return hasPassword || hasPasskey || providers.length > 0
}
