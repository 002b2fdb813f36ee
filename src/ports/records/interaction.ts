import type { EpochMs } from '../../base/brand.ts'
import type { InteractionId } from '../../protocol/ids.ts'
import type { InteractionAnswer } from '../../protocol/sign-in/interaction.ts'
import type { SecretHash } from '../../protocol/secrets.ts'

/** A sign-in that the operator's own application does for a browser. */
export interface InteractionRecord {
  readonly id: InteractionId
  readonly hash: SecretHash
  /** What the user signs in for: the id of an authorization request, or an account page (endpoints/sign-in/target.ts). */
  readonly target: string
  /** Binds the interaction to the browser that started it (threats.md DEL-01). */
  readonly browserHash: SecretHash
  readonly uiLocales: string | undefined
  /** The user must have authenticated at this time or later. undefined: at any time. */
  readonly signInAfter: EpochMs | undefined
  readonly createdAt: EpochMs
  readonly expiresAt: EpochMs
  readonly answer: InteractionAnswer | undefined
  readonly answeredAt: EpochMs | undefined
  /** When the browser returned with the answer. */
  readonly usedAt: EpochMs | undefined
}
