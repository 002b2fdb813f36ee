import type { ChangingSession } from '../../../ports/operations/second-factor.ts'
import type { UserId } from '../../../protocol/ids.ts'
import type { CoveredFactors } from '../../../protocol/sign-in/authentication.ts'
import { holdSession } from '../logout-notices.ts'
import { rows, shared, type Steps } from '../statement.ts'

const FIND_APP = shared('select user_id from second_factors where user_id = :userId')
const FIND_PASSKEYS = shared('select passkey_id from passkeys where user_id = :userId')

/**
 * Whether the session in which a user changes how the user signs in is active, and covers the second factors that the account has. The
 * row of the user is then locked, so it stays so until the operation is committed.
 */
export function* holdChange(userId: UserId, session: ChangingSession): Steps<boolean> {
  return (yield* holdSession(userId, session)) && (yield* areCovered(userId, session.covers))
}

/** Whether an authentication covers the second factors that the account has. The row of the user is locked before. */
export function* areCovered(userId: UserId, covers: CoveredFactors): Steps<boolean> {
  if (!covers.passkey && (yield* hasPasskeys(userId))) return false
  return covers.app || !(yield* hasSecondFactor(userId))
}

/** Whether the user has a passkey. */
export function* hasPasskeys(userId: UserId): Steps<boolean> {
  return (yield* rows(FIND_PASSKEYS, { userId })).length > 0
}

/** Whether the user has an authenticator app. */
export function* hasSecondFactor(userId: UserId): Steps<boolean> {
  return (yield* rows(FIND_APP, { userId })).length === 1
}
