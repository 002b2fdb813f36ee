import type { CausesMail } from './mail.ts'
import type { PasskeyRecord } from '../records/passkey.ts'
import type { EpochMs } from '../../base/brand.ts'
import type { UserId } from '../../protocol/ids.ts'
import type { SecretHash } from '../../protocol/secrets.ts'
import type { PasskeyId } from '../../protocol/sign-in/passkey.ts'
import type { ChangingSession, EnrolmentReason, OtherFactors } from './second-factor.ts'
import type { Ordered } from './reach.ts'
import type { KeptMethod } from './user.ts'

/** The operations on passkeys, and the one that removes a password beside them, each as `[input, outcome]`. The rules of index.ts apply. */
export interface PasskeyOperations {
  /**
   * Stores a passkey. `taken`: the user has it already. `too-many`: the user has PASSKEY_LIMIT. `refused`: what allowed it has ended; or
   * the reason is a sign-in, and the user has a second step already. With a link the password is removed, all that the user did not keep,
   * and all sessions and grants end (threats.md LNK-01).
   */
  addPasskey: [
    addition: { readonly passkey: PasskeyRecord; readonly reason: PasskeyReason } & CausesMail,
    outcome: 'added' | 'taken' | 'too-many' | 'refused',
  ]
  /**
   * Notes that the passkey signed, and what the authenticator says of copies. The highest counter is kept. `counter-back`: it did not rise and is not 0, so another device may have a
   * copy of the key, of which the mails tell. `unknown`: the user does not have the passkey.
   */
  usePasskey: [
    use: {
      readonly userId: UserId
      readonly id: PasskeyId
      readonly counter: number
      readonly isBackupEligible: boolean
      /** As it was stored when the passkey signed: the audit has a change. */
      readonly wasBackupEligible: boolean
      readonly isBackedUp: boolean
      readonly now: EpochMs
    } & CausesMail,
    outcome: 'used' | 'counter-back' | 'unknown',
  ]
  /**
   * Removes a passkey, and evicts all others as `changePassword` does; the operator’s removal also ends the links. `last`: no other method
   * remains to the user, who removes it, or no second factor where one must.
   */
  removePasskey: [
    removal: { readonly userId: UserId; readonly id: PasskeyId; readonly by: PasskeyRemover } & Ordered & CausesMail,
    outcome: 'removed' | 'last' | 'unknown',
  ]
  /** Removes the password for the user, and evicts all others as `changePassword` does. `last`: the user has neither a passkey nor an identity at a provider. */
  removePassword: [
    removal: {
      readonly userId: UserId
      readonly session: ChangingSession
      readonly passkeysCount: boolean
    } & CausesMail,
    outcome: 'removed' | 'last' | 'unknown',
  ]
}

/** What allows a user to add a passkey. It must still be so. */
export type PasskeyReason =
  | EnrolmentReason
  | {
      readonly kind: 'link'
      readonly hash: SecretHash
      /** What the user confirmed. */
      readonly keep: readonly KeptMethod[]
      /** As in `LinkUse`. */
      readonly isSecondStepRequired: boolean
      readonly now: EpochMs
    }

export type PasskeyRemover =
  | { readonly kind: 'operator' }
  | {
      readonly kind: 'user'
      readonly session: ChangingSession
      readonly passwordCounts: boolean
      /** undefined: no second factor need remain. */
      readonly factors: OtherFactors | undefined
    }
