import type { ProviderId } from '../../protocol/sign-in/authentication.ts'
import type { EpochMs } from '../../base/brand.ts'
import type { UserId } from '../../protocol/ids.ts'
import type { ProviderSettings } from '../../protocol/sign-in/provider.ts'
import type { IdentityKey } from '../../protocol/sign-in/provider-identity.ts'
import type { SecretHash } from '../../protocol/secrets.ts'

/** A provider at which users sign in, as an operator configured it. */
export interface ProviderRecord {
  readonly id: ProviderId
  readonly settings: ProviderSettings
  /** Encrypted under the master key. undefined: the master key was replaced after a leak, and the operator has to set it again. */
  readonly encryptedSecret: string | undefined
  readonly createdAt: EpochMs
  readonly disabledAt: EpochMs | undefined
}

/** An account of a user at a provider, with which the user signs in here. */
export interface IdentityRecord {
  readonly key: IdentityKey
  readonly userId: UserId
  readonly providerId: ProviderId
  readonly subject: string
  /** The address that the provider named last, for display. It finds no account. undefined: the provider proved none (threats.md UP-36). */
  readonly email: string | undefined
  readonly linkedAt: EpochMs
  readonly usedAt: EpochMs
}

/**
 * What a provider said about a person who has to sign in to an account before the identity is linked to it. An account has at most
 * one.
 */
export interface IdentityProofRecord {
  readonly identity: IdentityRecord
  readonly hash: SecretHash
  /** The browser in which the person signed in at the provider. */
  readonly browserHash: SecretHash
  readonly expiresAt: EpochMs
}
