import type { ProviderId } from '../../protocol/authentication.ts'
import type { EpochMs } from '../../protocol/brand.ts'
import type { UserId } from '../../protocol/ids.ts'
import type { IdentityKey } from '../../protocol/provider-identity.ts'

/** An account of a user at a provider, with which the user signs in here. */
export interface IdentityRecord {
  readonly key: IdentityKey
  readonly userId: UserId
  readonly providerId: ProviderId
  readonly subject: string
  /** The address that the provider named last, for display. It finds no account. */
  readonly email: string | undefined
  readonly linkedAt: EpochMs
  readonly usedAt: EpochMs
}
