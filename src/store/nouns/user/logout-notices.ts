import type {
  LogoutNoticeRecord,
  ApprovingSession,
  DueNotice,
  LogoutNoticeKey,
  NotifiedClient,
} from '../../../ports/records/logout-notice.ts'
import type { DueNotices } from '../../../ports/store.ts'
import type { EpochMs } from '../../../base/brand.ts'
import type { SessionId, UserId } from '../../../protocol/ids.ts'
import type { NounOperations } from '../../noun.ts'
import { outcomeOf, rows, shared, type Steps } from '../../shared/statement.ts'
import { bigint, table, text } from '../../table.ts'

const LOGOUT_NOTICES = table<LogoutNoticeRecord>({
  userId: text('user_id'),
  rootId: text('root_id'),
  clientId: text('client_id'),
  sid: text('sid'),
  sessionStartedAt: bigint('session_started_at'),
  expiresAt: bigint('expires_at'),
  dueAt: bigint('due_at'),
  attempts: bigint('attempts'),
})

/** Changes nothing, and locks the row: what ends all sessions of the user happens before, or sees the notice. */
const HOLD_USER = shared(
  `update users set password_hash = password_hash
   where user_id = :userId and disabled_at is null and not_before <= :sessionStartedAt returning user_id`,
)
/** The same for what ends the session alone. */
const HOLD_SESSION = shared(
  'update sessions set seen_at = seen_at where session_id = :sessionId and user_id = :userId returning session_id',
)
const ADD = shared(
  `insert into logout_notices as n (${LOGOUT_NOTICES.names}) values (${LOGOUT_NOTICES.parameters})
   on conflict (user_id, root_id, client_id)
   do update set session_started_at = excluded.session_started_at, expires_at = excluded.expires_at
     where n.due_at is null`,
)
const CONTINUE = shared(
  `update logout_notices set session_started_at = :startedAt, expires_at = :expiresAt
   where user_id = :userId and root_id = :rootId and due_at is null`,
)
const WHILE_ACTIVE = 'user_id = :userId and due_at is null'
const END = shared(`update logout_notices set due_at = 0 where ${WHILE_ACTIVE} and root_id = :rootId`)
const END_OTHERS = shared(`update logout_notices set due_at = 0 where ${WHILE_ACTIVE} and root_id <> :rootId`)
const END_ALL = shared(`update logout_notices set due_at = 0 where ${WHILE_ACTIVE}`)
/** In the order of the index. A first attempt is due at 0, so it comes before repeated and postponed ones. */
const LIST_DUE = shared(
  `select * from logout_notices where due_at <= :now and :except not like '% ' || client_id || ' %'
   order by due_at limit :limit`,
)
const KEY = 'user_id = :userId and root_id = :rootId and client_id = :clientId and due_at = :dueAt'
const REMOVE = shared(`delete from logout_notices where ${KEY} returning client_id`)

const operations = {
  rescheduleLogoutNotice: {
    keys: noticeKey,
    cache: 'kept',
    event: 'no-event',
    run: outcomeOf(
      `update logout_notices set due_at = :until, attempts = :attempts where ${KEY} returning client_id`,
      'rescheduled',
      'taken',
    ),
  },
  settleLogoutNotice: {
    keys: noticeKey,
    cache: 'kept',
    event: ({ userId, clientId, failure }, outcome) =>
      outcome === 'taken'
        ? undefined
        : {
            event: outcome === 'delivered' ? 'logout.delivered' : 'logout.undelivered',
            userId,
            clientId,
            details: failure === undefined ? {} : { reason: failure },
          },
    *run(notice) {
      if ((yield* rows(REMOVE, notice)).length !== 1) return 'taken'
      return notice.failure === undefined ? 'delivered' : 'undelivered'
    },
  },
} satisfies NounOperations

const reads = {
  *listDueLogoutNotices({ except, ...due }: DueNotices): Steps<readonly (LogoutNoticeRecord & DueNotice)[]> {
    const found = yield* rows(LIST_DUE, { ...due, except: ` ${except.join(' ')} ` })
    // The condition leaves out rows without the time.
    return found.map((row) => LOGOUT_NOTICES.read(row) as LogoutNoticeRecord & DueNotice)
  },
}

export const logoutNotices = { operations, reads }

function noticeKey({ userId, rootId, clientId }: LogoutNoticeKey): readonly string[] {
  return [`${userId} ${rootId} ${clientId}`]
}

/**
 * Whether the session of an approval is active. It then cannot end before the approval is committed, so that no code and no notice
 * misses its end.
 */
export function* holdSession(userId: UserId, session: ApprovingSession): Steps<boolean> {
  const held = { userId, sessionId: session.id, sessionStartedAt: session.createdAt }
  return (yield* rows(HOLD_USER, held)).length === 1 && (yield* rows(HOLD_SESSION, held)).length === 1
}

/** Stores that the client is notified of the end of the session. */
export function* addLogoutNotice({ userId, clientId, sid, session }: NotifiedClient): Steps<void> {
  const { rootId, createdAt: sessionStartedAt, expiresAt } = session
  const dueAt = undefined
  const notice = { userId, rootId, clientId, sid, sessionStartedAt, expiresAt, dueAt, attempts: 0 }
  yield* rows(ADD, LOGOUT_NOTICES.values(notice))
}

/** Keeps the notices of a session for the one that continues it. */
export function* continueLogoutNotices(continued: {
  readonly userId: UserId
  readonly rootId: SessionId
  readonly startedAt: EpochMs
  readonly expiresAt: EpochMs
}): Steps<void> {
  yield* rows(CONTINUE, continued)
}

/** The clients of a session are notified now that it has ended. */
export function* endLogoutNotices(userId: UserId, rootId: SessionId): Steps<void> {
  yield* rows(END, { userId, rootId })
}

/** The same for all sessions of the user; but for one, if it is given. */
export function* endLogoutNoticesOfUser(userId: UserId, except?: SessionId): Steps<void> {
  if (except === undefined) yield* rows(END_ALL, { userId })
  else yield* rows(END_OTHERS, { userId, rootId: except })
}
