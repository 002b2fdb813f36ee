import type { SessionRecord } from '../../ports/records/user.ts'
import type { Page } from '../../ports/store.ts'
import type { SessionId, UserId } from '../../protocol/ids.ts'
import type { SecretHash } from '../../protocol/secrets.ts'
import { BROWSER_LIMIT } from '../rows.ts'
import { SESSIONS } from '../tables.ts'
import { idKey, outcome, rows, shared, type SharedHandlers, type Steps } from './statement.ts'

const REPLACE_SESSION = shared(
  `delete from sessions where session_id = :replaces and user_id = :userId
   returning coalesce(root_id, session_id) as root_id`,
)
const START_SESSION = shared(`insert into sessions (${SESSIONS.names}) values (${SESSIONS.parameters})`)
const NOTE_FIRST_SIGN_IN = shared(
  'update users set first_signed_in_at = :now where user_id = :userId and first_signed_in_at = 0',
)
const NOTE_SESSION = shared(
  'update sessions set seen_at = :at where session_id = :id and coalesce(seen_at, created_at) < :at',
)
const MEET_BROWSER = shared(
  `insert into browsers (user_id, browser_hash, seen_at) values (:userId, :browserHash, :now)
   on conflict (user_id, browser_hash) do update set seen_at = excluded.seen_at`,
)
const FORGET_BROWSERS = shared(
  `delete from browsers where user_id = :userId and browser_hash not in (
     select browser_hash from browsers where user_id = :userId order by seen_at desc limit :limit)`,
)
const KNOWS_BROWSER = shared('select seen_at from browsers where user_id = :userId and browser_hash = :hash')
const END_OTHERS = shared('delete from sessions where user_id = :userId and session_id <> :keep returning session_id')
const LIST = shared('select * from sessions where session_id < :before order by session_id desc limit :limit')
const LIST_OF_USER = shared(
  'select * from sessions where user_id = :userId and session_id < :before order by session_id desc limit :limit',
)

export const sessionHandlers = {
  startSession: {
    keys: ({ session, replaces }) => [session.id, session.userId, ...(replaces === undefined ? [] : [replaces])],
    *run({ session, browserHash, replaces }) {
      const { id, userId, createdAt: now } = session
      const [replaced] = replaces === undefined ? [] : yield* rows(REPLACE_SESSION, { replaces, userId })
      const rootId = (replaced?.['root_id'] ?? id) as SessionId
      yield* rows(START_SESSION, SESSIONS.values({ ...session, rootId }))
      yield* rows(NOTE_FIRST_SIGN_IN, { userId, now })
      yield* rows(MEET_BROWSER, { userId, browserHash, now })
      yield* rows(FORGET_BROWSERS, { userId, limit: BROWSER_LIMIT })
      return { rootId }
    },
  },
  noteSessions: {
    keys: (sessions) => sessions.map(({ id }) => id),
    *run(sessions) {
      for (const session of sessions) yield* rows(NOTE_SESSION, session)
      return 'noted'
    },
  },
  endSession: {
    keys: idKey,
    run: outcome('delete from sessions where session_id = :id returning session_id', 'ended', 'unknown'),
  },
  endOtherSessions: {
    keys: ({ userId }) => [userId],
    *run({ userId, keep }) {
      return { ended: yield* endOtherSessions(userId, keep) }
    },
  },
} satisfies SharedHandlers

export const sessionReads = {
  *knowsBrowser(userId: UserId, hash: SecretHash): Steps<boolean> {
    return (yield* rows(KNOWS_BROWSER, { userId, hash })).length > 0
  },
  *listSessions(page: Page<SessionId> & { readonly userId?: UserId | undefined }): Steps<readonly SessionRecord[]> {
    const statement = page.userId === undefined ? LIST : LIST_OF_USER
    return (yield* rows(statement, { ...page, before: page.before ?? '~' })).map(SESSIONS.read)
  },
}

/** Ends the sessions of a user but one, and returns how many. */
export function* endOtherSessions(userId: UserId, keep: SessionId): Steps<number> {
  return (yield* rows(END_OTHERS, { userId, keep })).length
}
