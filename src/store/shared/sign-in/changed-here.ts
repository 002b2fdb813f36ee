import type { UserId } from '../../../protocol/ids.ts'
import { IMPORTED } from '../../../protocol/sign-in/account.ts'
import { rows, shared, type Steps } from '../statement.ts'

/** Of an account that an import may update (`UPDATE_USER`). With a later time of its last change it leaves the account alone. */
export const IS_UNCHANGED = `user_id = :userId and first_signed_in_at = ${IMPORTED} and updated_at = not_before`
const CHANGE = shared(`update users set updated_at = updated_at + 1 where ${IS_UNCHANGED}`)

/** The user has added a way to authenticate. The row of the user is locked before. */
export function* keepChanged(userId: UserId): Steps<void> {
  yield* rows(CHANGE, { userId })
}
