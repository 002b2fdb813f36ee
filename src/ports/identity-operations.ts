import type { EpochMs } from '../protocol/brand.ts'
import type { UserId } from '../protocol/ids.ts'
import type { IdentityKey } from '../protocol/provider-identity.ts'
import type { IdentityRecord } from './records/provider.ts'
import type { UserRecord } from './records/user.ts'

/**
 * The operations on the accounts that users have elsewhere, each as `[input, outcome]`. The rules of src/ports/operations.ts
 * apply.
 */
export interface IdentityOperations {
  /** Creates an account with its first identity. `taken`: the identity has one. `email-taken`: another account has the address. */
  provisionUser: [
    account: { readonly user: UserRecord; readonly identity: IdentityRecord },
    outcome: 'created' | 'taken' | 'email-taken',
  ]
  /** Records that the user signed in with the identity, and the address that the provider named. */
  useIdentity: [
    use: {
      readonly key: IdentityKey
      readonly userId: UserId
      readonly email: string | undefined
      readonly now: EpochMs
    },
    outcome: 'used' | 'unknown',
  ]
}
