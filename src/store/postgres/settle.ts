import type { UserId } from '../../protocol/ids.ts'
import type { Row } from '../rows.ts'
import { rows, shared, type SharedStatement, type Steps } from '../shared/statement.ts'

/**
 * The machines of Citus do not show a commit at the same moment. A statement that waited for a row on one machine may not see what the
 * same transaction wrote on another one, and would decide without it. These steps wait until it is visible. Each row that they wait for
 * is named by a row whose part of the commit is visible, so its transaction is prepared and needs no more locks.
 */

/** How to wait for a row that may not be visible yet. */
interface Awaited {
  /** Waits for the transaction that writes the row. Returns a row if there is no such transaction, and the row does not exist. */
  readonly wait: SharedStatement
  /** Removes what the wait inserted. undefined: it inserts nothing. */
  readonly undo?: SharedStatement
}

/**
 * Why a row is inserted and removed. A sign-in commits a session on the shard of the session, and its name on the shard of the user. A sign-out
 * of the user that waited for the same lock sees the name. If the other machine does not show the session yet, `delete from sessions` finds
 * no row and does not wait: the session would survive the sign-out. An insert with the same key does wait, because the unique index has the
 * row already. Then either nothing is inserted, so the session exists and the next statement ends it, or the row of the wait
 * is inserted, because the session is gone, and the same transaction removes it.
 */
const AWAITED = {
  sessions: {
    wait: shared(
      `insert into sessions (session_id, session_hash, user_id, root_id, methods, seen_at, created_at, expires_at)
       values (:id, '', '', '', '', 0, 0, 0) on conflict (session_id) do nothing returning session_id`,
    ),
    undo: shared('delete from sessions where session_id = :id'),
  },
  identities: {
    wait: shared(
      `insert into identities (identity_key, user_id, provider_id, subject, linked_at, used_at)
       values (:id, '', '', '', 0, 0) on conflict (identity_key) do nothing returning identity_key`,
    ),
    undo: shared('delete from identities where identity_key = :id'),
  },
  emails: {
    wait: shared(`insert into emails (email, user_id) values (:id, '') on conflict (email) do nothing returning email`),
    undo: shared('delete from emails where email = :id'),
  },
  grants: {
    wait: shared(
      `insert into grants (grant_id, client_id, user_id, scope, resources, created_at, expires_at)
       values (:id, '', '', '', '[]', 0, 0) on conflict (grant_id) do nothing returning grant_id`,
    ),
    undo: shared('delete from grants where grant_id = :id'),
  },
  // The row exists since the request. An update waits for the transaction that approves it.
  authorizations: { wait: shared('update authorizations set status = status where authorization_id = :id') },
} satisfies Readonly<Record<string, Awaited>>

type AwaitedTable = keyof typeof AWAITED

const HOLD_USER = shared(
  'update users set password_hash = password_hash where user_id = :userId returning email, email_verified_at',
)

/**
 * Locks the row of a user until the transaction ends, and returns it. The following statements see the keys of all rows that an earlier
 * transaction under this lock wrote (user-rows.ts), because they are on the same shard.
 */
export function* holdUser(userId: UserId): Steps<Row | undefined> {
  return (yield* rows(HOLD_USER, { userId }))[0]
}

/** Waits for a row that the row of its user names. Returns whether it exists: it may have been removed since it was named. */
export function* awaitRow(table: AwaitedTable, id: string): Steps<boolean> {
  const { wait, undo }: Awaited = AWAITED[table]
  const isAbsent = (yield* rows(wait, { id })).length > 0
  if (isAbsent && undo !== undefined) yield* rows(undo, { id })
  return !isAbsent
}
