import type { UserRecord } from '../../ports/records/user.ts'
import type { EpochMs } from '../../protocol/brand.ts'
import type { SessionId, UserId } from '../../protocol/ids.ts'
import type { SecretHash } from '../../protocol/secrets.ts'
import { BROWSER_LIMIT } from '../rows.ts'
import { SESSIONS, USERS } from '../tables.ts'
import {
  change,
  DISABLE,
  ENABLE,
  idKey,
  listPage,
  outcome,
  rows,
  shared,
  type SharedHandlers,
  type Steps,
} from './statement.ts'

const INSERT = shared(
  `insert into users (${USERS.names}) values (${USERS.parameters}) on conflict (email) do nothing returning user_id`,
)
const DELETE = shared('delete from users where user_id = :id returning user_id')
const DELETE_OWN = [
  shared('delete from sessions where user_id = :id'),
  shared('delete from memberships where user_id = :id'),
  shared('delete from browsers where user_id = :id'),
  shared('delete from consents where user_id = :id'),
]
const REVOKE_ALL_TOKENS = shared(
  `insert into settings (name, value) values ('not-before', :now)
   on conflict (name) do update set value = excluded.value
   where cast(settings.value as bigint) < cast(excluded.value as bigint)`,
)
const FIND_NOT_BEFORE = shared(`select value from settings where name = 'not-before'`)
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
/** An aggregate returns a row even if there is no account, so that both cases take equally long (threats.md UI-08). */
const FIND_ID_BY_EMAIL = shared('select coalesce(max(user_id), :otherwise) as user_id from users where email = :email')
const FIND_BY_EMAIL = shared('select * from users where email = :email')

export const accountHandlers = {
  createUser: {
    keys: ({ id, email }) => (email === undefined ? [id] : [id, `email:${email}`]),
    *run(user) {
      return (yield* rows(INSERT, USERS.values(user))).length === 1 ? 'created' : 'email-taken'
    },
  },
  setPassword: {
    keys: idKey,
    run: change(
      `update users set password_hash = :passwordHash, valid_from = greatest(valid_from, :now)
       where user_id = :id returning user_id`,
    ),
  },
  disableUser: { keys: idKey, run: change(`update users set ${DISABLE} where user_id = :id returning user_id`) },
  enableUser: { keys: idKey, run: change(`update users set ${ENABLE} where user_id = :id returning user_id`) },
  deleteUser: {
    keys: idKey,
    *run(id) {
      const deleted = yield* rows(DELETE, { id })
      for (const statement of DELETE_OWN) yield* rows(statement, { id })
      return deleted.length === 1 ? 'deleted' : 'unknown'
    },
  },
  revokeUserTokens: {
    keys: idKey,
    run: change('update users set valid_from = greatest(valid_from, :now) where user_id = :id returning user_id'),
  },
  revokeAllTokens: {
    keys: () => ['setting:not-before'],
    *run({ now }) {
      yield* revokeAllTokens(now)
      return 'expired'
    },
  },
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
} satisfies SharedHandlers

export const accountReads = {
  *findNotBefore(): Steps<EpochMs> {
    const [row] = yield* rows(FIND_NOT_BEFORE)
    return Number(row?.['value'] ?? 0) as EpochMs
  },
  *findUserIdByEmail(email: string, otherwise: UserId): Steps<UserId> {
    const [row] = yield* rows(FIND_ID_BY_EMAIL, { email, otherwise })
    return (row?.['user_id'] ?? otherwise) as UserId
  },
  *findUserByEmail(email: string): Steps<UserRecord | undefined> {
    const [row] = yield* rows(FIND_BY_EMAIL, { email })
    return row === undefined ? undefined : USERS.read(row)
  },
  listUsers: listPage(USERS, 'select * from users where user_id < :before order by user_id desc limit :limit'),
  *knowsBrowser(userId: UserId, hash: SecretHash): Steps<boolean> {
    return (yield* rows(KNOWS_BROWSER, { userId, hash })).length > 0
  },
}

/** Sets the server's not-before time, unless it is later already. */
export function* revokeAllTokens(now: EpochMs): Steps<void> {
  yield* rows(REVOKE_ALL_TOKENS, { now: String(now) })
}
