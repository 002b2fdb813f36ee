import type { Agent } from '../../base/agent.ts'
import type { EpochMs } from '../../base/brand.ts'
import type { UserId } from '../../protocol/ids.ts'
import type { PasskeyId } from '../../protocol/sign-in/passkey.ts'

/** A passkey of a user: the public half of a WebAuthn credential. WebAuthn Level 3 §4, "credential record". */
export interface PasskeyRecord {
  readonly userId: UserId
  readonly id: PasskeyId
  /** base64url. */
  readonly credentialId: string
  /** The COSE_Key of RFC 9052 §7, base64url. It names its algorithm. */
  readonly publicKey: string
  /** The highest signature counter that was seen. 0: the authenticator has none. */
  readonly counter: number
  /** Whether the authenticator may copy the key to other devices, as it said last. Password managers change it when a key moves. */
  readonly isBackupEligible: boolean
  readonly isBackedUp: boolean
  /** The browser in which the user added it. undefined: it is not a known one. */
  readonly agent: Agent | undefined
  readonly createdAt: EpochMs
  /** undefined: no sign-in has used it. */
  readonly usedAt: EpochMs | undefined
}
