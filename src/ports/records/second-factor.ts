import type { EpochMs } from '../../base/brand.ts'
import type { UserId } from '../../protocol/ids.ts'

/** The authenticator app of a user, who has at most one. */
export interface SecondFactorRecord {
  readonly userId: UserId
  /**
   * The secret that the app shares with this server, encrypted for the user under the master key. After a leak no node can decrypt it: it
   * is void then, and the next sign-in sets up another app.
   */
  readonly secret: string
  /** The time step of the last code that was accepted (RFC 6238 §5.2: none is accepted twice). */
  readonly lastStep: number
  /** Wrong codes from unknown browsers since the last success. At GUESS_LIMIT (100) codes of unknown browsers are refused. */
  readonly failures: number
  readonly createdAt: EpochMs
  /** undefined: no sign-in has used it. */
  readonly usedAt: EpochMs | undefined
}
