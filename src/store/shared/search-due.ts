import type { UserId } from '../../protocol/ids.ts'
import { rows, shared, type Steps } from './statement.ts'

/**
 * The row may exist. The turn that deletes it then waits for the commit of this change before it reads the user, because the change locks the
 * row.
 */
const ADD_DUE = shared(
  `insert into search_due (user_id) values (:userId) on conflict (user_id) do update set user_id = excluded.user_id`,
)

/** Notes, in the commit of a change, that the index of a search has another name or address of a user, or a user who does not exist. */
export function* addDue(userId: UserId): Steps<void> {
  yield* rows(ADD_DUE, { userId })
}
