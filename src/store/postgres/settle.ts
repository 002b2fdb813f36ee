import type { UserId } from '../../protocol/ids.ts'
import type { RecentCodes } from '../shared/grants.ts'
import { rows, shared, type SharedStatement, type Steps } from '../shared/statement.ts'

/**
 * The machines of Citus do not show a commit at the same moment. A statement that waited for a row on one machine may not see what the
 * same transaction wrote on another one, and would decide without it. These steps wait until it is visible. Each row that they wait for
 * is named by a row whose part of the commit is visible, so its transaction is prepared and needs no more locks.
 */

/** How to wait for a row that may not be visible yet. */
interface Awaited {
  /** Finds the row if it is visible. */
  readonly find: SharedStatement
  /** Waits for the transaction that writes the row. Returns a row if there is no such transaction, and the row does not exist. */
  readonly wait: SharedStatement
  /** Removes what the wait inserted. undefined: it inserts nothing. */
  readonly undo?: SharedStatement
}

/** An insert waits for the transaction that inserted a row with this key, also where an update does not see that row yet. */
const GRANT: Awaited = {
  find: shared(`select grant_id from grants where grant_id = any(string_to_array(:id, ' '))`),
  wait: shared(
    `insert into grants (grant_id, client_id, user_id, scope, resources, created_at, expires_at)
     values (:id, '', '', '', '[]', 0, 0) on conflict (grant_id) do nothing returning grant_id`,
  ),
  undo: shared('delete from grants where grant_id = :id'),
}

/** The tables of rows that a user names, each with how to wait for a row. */
const NEWEST = {
  sessions: {
    find: shared('select session_id from sessions where session_id = :id'),
    wait: shared(
      `insert into sessions (session_id, session_hash, user_id, root_id, methods, seen_at, created_at, expires_at)
       values (:id, '', '', '', '', 0, 0, 0) on conflict (session_id) do nothing returning session_id`,
    ),
    undo: shared('delete from sessions where session_id = :id'),
  },
  identities: {
    find: shared('select identity_key from identities where identity_key = :id'),
    wait: shared(
      `insert into identities (identity_key, user_id, provider_id, subject, linked_at, used_at)
       values (:id, '', '', '', 0, 0) on conflict (identity_key) do nothing returning identity_key`,
    ),
    undo: shared('delete from identities where identity_key = :id'),
  },
  emails: {
    find: shared('select email from emails where email = :id'),
    wait: shared(`insert into emails (email, user_id) values (:id, '') on conflict (email) do nothing returning email`),
    undo: shared('delete from emails where email = :id'),
  },
  // The row exists since the request. An update waits for the transaction that approves it.
  authorizations: {
    find: shared(`select authorization_id from authorizations where authorization_id = :id and status <> 'pending'`),
    wait: shared('update authorizations set status = status where authorization_id = :id'),
  },
} satisfies Readonly<Record<string, Awaited>>

/** A row by its table and its key. */
export type NamedRow = readonly [table: keyof typeof NEWEST, key: string]

const HOLD_USER = shared('update users set newest_rows = newest_rows where user_id = :userId returning newest_rows')
const NAME_NEWEST = shared('update users set newest_rows = :newest where user_id = :userId')
const REDEEMED = shared(
  `select grant_id from authorizations
   where authorization_id >= :startedAfter and user_id = :userId and status = 'redeemed'`,
)

/**
 * Locks the row of a user until the transaction ends, and waits for the rows that the user names. The following statements see what
 * every earlier transaction under this lock wrote, because each waited in the same way before it named its own rows.
 */
export function* holdUser(userId: UserId): Steps<void> {
  const [user] = yield* rows(HOLD_USER, { userId })
  const newest = user?.['newest_rows']
  if (typeof newest !== 'string') return
  for (const [table, key] of JSON.parse(newest) as readonly NamedRow[]) yield* awaitRow(NEWEST[table], key)
}

/** The same for a transaction that is about to write rows of the user on other machines, which it names for the next one. */
export function* nameNewest(userId: UserId, ...newest: readonly NamedRow[]): Steps<void> {
  yield* holdUser(userId)
  yield* rows(NAME_NEWEST, { userId, newest: newestText(newest) })
}

/** The column `newest_rows`. */
export function newestText(newest: readonly NamedRow[]): string {
  return JSON.stringify(newest)
}

/** Waits for the grants of the codes that the user's clients redeemed lately. */
export function* settleGrants(codes: RecentCodes): Steps<void> {
  const redeemed = yield* rows(REDEEMED, codes)
  yield* awaitGrants(redeemed.map((row) => row['grant_id'] as string))
}

/** Waits for grants that redeemed codes name. */
export function* awaitGrants(ids: readonly string[]): Steps<void> {
  if (ids.length === 0) return
  const visible = yield* rows(GRANT.find, { id: ids.join(' ') })
  const known = new Set(visible.map((row) => row['grant_id']))
  for (const id of ids.toSorted()) if (!known.has(id)) yield* awaitRow(GRANT, id)
}

/** A row that was removed since it was named is not waited for. */
function* awaitRow({ find, wait, undo }: Awaited, id: string): Steps<void> {
  if ((yield* rows(find, { id })).length > 0) return
  const isAbsent = (yield* rows(wait, { id })).length > 0
  if (isAbsent && undo !== undefined) yield* rows(undo, { id })
}
