import type { EpochMs } from '../../protocol/brand.ts'
import type { SessionId, UserId } from '../../protocol/ids.ts'
import type { SecretHash } from '../../protocol/secrets.ts'

/** A user account of this server. */
export interface UserRecord {
  readonly id: UserId
  /** Lower-cased; unique. */
  readonly email: string
  readonly name: string | undefined
  /** A PHC string. */
  readonly passwordHash: string
  readonly createdAt: EpochMs
  readonly disabledAt: EpochMs | undefined
  /** Sessions and grants from before this time are revoked: the password changed, or the user was disabled. */
  readonly notBefore: EpochMs
}

/** A browser in which a user is signed in. */
export interface SessionRecord {
  readonly id: SessionId
  readonly hash: SecretHash
  readonly userId: UserId
  readonly createdAt: EpochMs
  readonly expiresAt: EpochMs
}
