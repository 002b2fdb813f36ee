import type { GroupMemberRecord } from '../../../ports/records/group.ts'
import type { GroupId } from '../../../protocol/access/group.ts'
import type { Row } from '../../rows.ts'
import { rows, shared, type Steps } from '../../shared/statement.ts'

/**
 * Where Citus distributes the tables, a group and the rows of its members are on several machines, which do not show a commit at the same moment
 * (postgres/settle.ts). So the row of a group names the member that was added last, in the column `joined`, and each operation that locks the
 * group waits for the row of that member. The addition has waited for the one before it, so all rows of members are visible then. Only statements
 * for Citus read the column; elsewhere these steps run no statement.
 */

type Joined = Pick<GroupMemberRecord, 'userId' | 'groupId' | 'source'>

const NAME = shared('update user_groups set joined = :joined where group_id = :groupId')
/** Waits for the transaction that writes the row, because the index has its key already. */
const WAIT = shared(
  `insert into group_members (user_id, group_id, source, created_at, expires_at) values (:userId, :groupId, :source, 0, 0)
   on conflict (user_id, group_id, source) do nothing returning user_id`,
)
/** There was no such transaction, and the row has been removed since. */
const UNDO = shared(
  'delete from group_members where user_id = :userId and group_id = :groupId and source = :source and created_at = 0',
)

/** Waits until the rows of all members of a locked group are visible. `group`: its row with the column `joined`. */
export function* awaitJoined(groupId: GroupId, group: Row | undefined): Steps<void> {
  const joined = group?.['joined']
  if (typeof joined !== 'string') return
  const [userId, source] = joined.split(' ')
  const key = { userId, groupId, source }
  if ((yield* rows(WAIT, key)).length > 0) yield* rows(UNDO, key)
}

/** Names a member whose row was added in the same transaction. */
export function* nameJoined({ userId, groupId, source }: Joined, group: Row): Steps<void> {
  if ('joined' in group) yield* rows(NAME, { groupId, joined: `${userId} ${source}` })
}
