import type { CausesMail } from './mail.ts'
import type { IdentityProofRecord, IdentityRecord, ProviderRecord } from '../records/provider.ts'
import type { ProviderId } from '../../protocol/sign-in/authentication.ts'
import type { ProviderSettings } from '../../protocol/sign-in/provider.ts'
import type { EpochMs } from '../../base/brand.ts'
import type { UserRecord } from '../records/user.ts'
import type { IdentityKey } from '../../protocol/sign-in/provider-identity.ts'
import type { ChangingSession, OtherFactors } from './second-factor.ts'
import type { LinkUse } from './user.ts'
import type { UserId } from '../../protocol/ids.ts'

/** The operations on providers, and the accounts that users have there, each as `[input, outcome]`. The rules of index.ts apply. */
export interface ProviderOperations {
  /** Stores a provider. `taken`: there is one with the id. `domain-taken`: a domain belongs to another. `too-many`: there are `limit`. */
  createProvider: [
    provider: ProviderRecord & { readonly limit: number },
    outcome: 'created' | 'taken' | 'domain-taken' | 'too-many',
  ]
  /** Replaces the settings if they still equal `previous`, and the secret if one is given. */
  updateProvider: [
    update: {
      readonly id: ProviderId
      readonly previous: ProviderSettings
      readonly settings: ProviderSettings
      readonly encryptedSecret: string | undefined
    },
    outcome: 'changed' | 'conflict' | 'domain-taken',
  ]
  /** Disables a provider: users can neither sign in there nor link identities. Sessions and grants stay. */
  disableProvider: [change: { readonly id: ProviderId; readonly now: EpochMs }, outcome: 'changed' | 'unknown']
  enableProvider: [id: ProviderId, outcome: 'changed' | 'unknown']
  /** Deletes a provider with all identities and open proofs. The accounts, their sessions and their grants stay. */
  deleteProvider: [change: { readonly id: ProviderId; readonly now: EpochMs }, outcome: 'deleted' | 'unknown']
  /**
   * Links an identity to the account of its user, if the provider is enabled and the reason still holds. The open proof of the
   * user ends. Of concurrent requests for one identity one returns `linked`.
   */
  linkIdentity: [
    change: { readonly identity: IdentityRecord; readonly reason: LinkingReason; readonly now: EpochMs } & CausesMail,
    outcome: LinkOutcome,
  ]
  /** Creates an account with its first identity. `email-taken`: another account has the address. */
  provisionUser: [
    account: { readonly user: UserRecord; readonly identity: IdentityRecord },
    outcome: 'created' | 'taken' | 'email-taken' | 'provider-off',
  ]
  /** Records that the user signed in with the identity, and the address that the provider named. */
  useIdentity: [
    use: {
      readonly key: IdentityKey
      readonly userId: UserId
      readonly providerId: ProviderId
      readonly email: string | undefined
      readonly now: EpochMs
    },
    outcome: 'used' | 'unknown' | 'provider-off',
  ]
  /**
   * Removes an identity, and ends the other sessions that the user started at its provider, and the grants that came by assertions of it.
   * Consents, the other known browsers, and what was begun end, as with `changePassword`. Other grants stay.
   * `unknown`: also if the session has ended, or does not cover the second factors of the account. `last`: the user has no other identity of an enabled provider, and no password or `passwordCounts` is false; or no second factor remains where one must.
   */
  unlinkIdentity: [
    change: Pick<IdentityRecord, 'key' | 'userId' | 'providerId'> & {
      readonly passwordCounts: boolean
      /** Whether the user can sign in with a passkey. */
      readonly passkeysCount: boolean
      /** As of `PasskeyRemover`. */
      readonly factors: OtherFactors | undefined
      readonly session: ChangingSession
      readonly now: EpochMs
    } & CausesMail,
    outcome: 'unlinked' | 'unknown' | 'last',
  ]
  /** Stores a proof in the place of an earlier one of the user. `unknown`: the user is disabled or deleted. */
  createIdentityProof: [proof: IdentityProofRecord, outcome: 'created' | 'unknown' | 'provider-off']
}

/**
 * What allows an identity to be linked to an account. The operation checks it again, and uses it up.
 *
 * - `session`: the user added a sign-in method, in a session that has not ended and covers the second factors of the account.
 * - `link`: the user had a link of an operator. It is used up. As with a new password, everything else that could sign in ends: the
 *   password, the sessions and grants from before now, and the identities and passkeys that the user did not keep (threats.md LNK-01).
 *   An identity that would take the place of a second factor of the account is refused (ACC-17).
 * - `address`: the account has the verified address, and no identity of any provider.
 * - `unused`: the account has the address, which was never verified, and its user never signed in. Its password, sessions, grants,
 *   consents and memberships end, because another person may have made it.
 */
export type LinkingReason =
  | { readonly kind: 'session'; readonly session: ChangingSession }
  | ({
      readonly kind: 'link'
      /** Whether the identity is at a provider with `multi_factor`, which would take the place of the second step. */
      readonly isMultiFactor: boolean
    } & Pick<LinkUse, 'hash' | 'keep' | 'isSecondStepRequired'>)
  | { readonly kind: 'address' | 'unused'; readonly email: string }

/**
 * `refused`: what allowed it is gone, or the user is disabled. `taken`: the identity is linked already; with a link, to the account of
 * another user.
 */
export type LinkOutcome = 'linked' | 'taken' | 'provider-off' | 'refused'
