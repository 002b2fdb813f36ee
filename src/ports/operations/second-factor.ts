import type { CausesMail } from './mail.ts'
import type { Ordered } from './reach.ts'
import type { SignInBasis } from './session.ts'
import type { SecondFactorRecord } from '../records/second-factor.ts'
import type { SessionRecord } from '../records/user.ts'
import type { EpochMs } from '../../base/brand.ts'
import type { UserId } from '../../protocol/ids.ts'
import type { IdentityKey } from '../../protocol/sign-in/provider-identity.ts'
import type { CoveredFactors } from '../../protocol/sign-in/authentication.ts'

/** The operations on authenticator apps and recovery codes, each as `[input, outcome]`. The rules of index.ts apply. */
export interface SecondFactorOperations {
  /**
   * Stores the app of a user, whose first code was right, with recovery codes in the place of earlier ones. Evicts all others, as
   * `changePassword` does, and forgets all browsers: each counts as unknown until a sign-in with the app. `known`: the user has another app than the one that it replaces. `refused`: what allowed it has ended.
   */
  enableTotp: [
    enabling: {
      readonly factor: SecondFactorRecord
      /** The digests of the recovery codes. */
      readonly recoveryDigests: readonly string[]
      /** When the app that it replaces was stored; undefined: there is none. */
      readonly replaces: EpochMs | undefined
      readonly reason: EnrolmentReason
    } & CausesMail,
    outcome: 'enabled' | 'known' | 'refused',
  ]
  /**
   * Uses a code up. Of concurrent requests with one code, one returns `accepted`. `used-before`: a code of this time step or of a later
   * one was accepted before. `wrong` is counted if the browser is unknown. `locked`: the count has reached GUESS_LIMIT, and the browser is
   * unknown. `none`: the user has no app, or another one since the request was checked.
   */
  useTotp: [use: TotpUse, outcome: 'accepted' | 'used-before' | 'wrong' | 'locked' | 'none']
  /** Deletes a recovery code, and ends the lock of wrong codes. Of concurrent requests with one code, one returns `used`. */
  useRecoveryCode: [
    use: { readonly userId: UserId; readonly digest: string; readonly now: EpochMs } & CausesMail,
    outcome: { readonly kind: 'used'; readonly left: number } | { readonly kind: 'unknown' },
  ]
  /** Removes the app and the recovery codes for the user. `unknown`: there is no app, or the session has ended. */
  disableTotp: [
    removal: { readonly userId: UserId; readonly session: ChangingSession } & CausesMail,
    outcome: 'changed' | 'unknown',
  ]
  /** The same for the operator. Ends all sessions, consents and links of the user, and forgets the browsers. Grants stay. */
  resetSecondFactor: [removal: { readonly userId: UserId } & Ordered & CausesMail, outcome: 'changed' | 'unknown']
  /** `unknown`: the user has no app, or the session has ended. */
  replaceRecoveryCodes: [
    change: {
      readonly userId: UserId
      readonly session: ChangingSession
      readonly recoveryDigests: readonly string[]
    } & CausesMail,
    outcome: 'changed' | 'unknown',
  ]
}

/** The session in which a user changes how the user signs in. */
export interface ChangingSession extends Pick<SessionRecord, 'id' | 'createdAt'> {
  /** An account with a second factor that is not covered, also one that was added meanwhile, stays as it is (threats.md ACR-06). */
  readonly covers: CoveredFactors
}

/** The second factors of which one must remain when another one is removed, beside the passkeys (threats.md ACC-20). */
export interface OtherFactors {
  /** Whether the app counts. */
  readonly app: boolean
  /** The identities that count. */
  readonly identities: readonly IdentityKey[]
}

/** What allows a user to add an app. It must still be so. */
export type EnrolmentReason =
  | { readonly kind: 'session'; readonly session: ChangingSession }
  /** A sign-in whose first step is done. The user has no second factor yet. */
  | ({ readonly kind: 'sign-in' } & SignInBasis)

/** Its mails tell of a wrong code. */
export interface TotpUse extends CausesMail {
  readonly userId: UserId
  /** When the app was stored whose secret the code was compared with. */
  readonly createdAt: EpochMs
  /** The time step of the code. undefined: it is a code of none that is accepted now. */
  readonly step: number | undefined
  readonly isKnownBrowser: boolean
  readonly now: EpochMs
}
