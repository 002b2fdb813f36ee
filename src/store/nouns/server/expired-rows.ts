import type { Sweep, Swept } from '../../../ports/operations/server.ts'
import { FIGURE_SPAN_NAMES, type FigureSpan } from '../../../ports/records/figures.ts'
import type { EpochMs } from '../../../base/brand.ts'
import type { AuthorizationId } from '../../../protocol/ids.ts'
import type { NounOperations } from '../../noun.ts'
import { endRemoved } from '../client/clients.ts'
import { findEvicted } from '../client/registration-counts.ts'
import { MERGED, mergeLeftFigures } from './figures.ts'
import { NOT_REDEEMED } from '../token/authorizations.ts'
import { notBefore } from '../token/not-before.ts'
import { idBefore, type Row } from '../../rows.ts'
import {
  forgetNothing,
  lookFor,
  rows,
  shared,
  type Forget,
  type SharedStatement,
  type Steps,
} from '../../shared/statement.ts'

const AUTHORIZATION_SLICE = shared(
  `select authorization_id from authorizations where authorization_id > :after and authorization_id < :before
   order by authorization_id limit :limit`,
)
const IS_EXPIRED = 'authorization_id > :after and authorization_id <= :last and expires_at < :now'
const IS_ABANDONED = `${IS_EXPIRED} and status = 'approved' and ${NOT_REDEEMED}`
/** Burns the expired codes that were not redeemed, so that none of them gets a grant while the next statement looks for one. */
const BURN = shared(`update authorizations set status = 'burned' where ${lookFor('authorizations', IS_ABANDONED)}`)
const IS_UNREDEEMED = `${IS_EXPIRED} and status <> 'approved' and ${NOT_REDEEMED}`
const UNREDEEMED = shared(
  `delete from authorizations where ${lookFor('authorizations', IS_UNREDEEMED)} returning authorization_id, user_id`,
)

/** Until then a device can redeem a late approval. */
const DEVICE_MS = 10 * 60 * 1000
/** Until then a node that sends mail settles them, with an event. */
const UNSENT_MS = 24 * 60 * 60 * 1000
/** Counts are kept a day longer than the clients that they are about. */
const COUNT_MS = 24 * 60 * 60 * 1000

/** What is removed by its time alone: a row here is swept, and counted under its name. */
const EXPIRED = {
  links: removal('links', 'user_id, origin', 'expires_at', { before: ({ now }) => now }),
  emailCodes: removal('email_codes', 'user_id', 'expires_at', { before: ({ now }) => now }),
  groupMembers: removal('group_members', 'user_id, group_id, source', 'expires_at', { before: ({ now }) => now }),
  interactions: removal('interactions', 'interaction_id', 'expires_at', { before: ({ now }) => now }),
  pushedRequests: removal('pushed_requests', 'request_id', 'kept_until', { before: ({ now }) => now }),
  devices: removal('devices', 'device_id', 'expires_at', { before: ({ now }) => now - DEVICE_MS }),
  identityProofs: removal('identity_proofs', 'user_id', 'expires_at', { before: ({ now }) => now }),
  hits: removal('hits', 'bucket, window_start', 'window_end', { before: ({ now }) => now }),
  revokedTokens: removal('revoked_tokens', 'token_id', 'expires_at', { before: (sweep) => sweep.revocationsBefore }),
  opaqueTokens: removal('opaque_tokens', 'token_id', 'token_id', { before: ({ now }) => idBefore(now, '') }),
  consumed: removal('consumed', 'digest', 'expires_at', { before: ({ now }) => now }),
  mails: removal('mails', 'user_id, mail_id', 'expires_at', { before: ({ now }) => now - UNSENT_MS }),
  logoutNotices: removal('logout_notices', 'user_id, root_id, client_id', 'expires_at', {
    before: (sweep) => sweep.logoutNoticesBefore,
  }),
  initialTokens: removal('initial_tokens', 'token_id', 'expires_at', { before: (sweep) => sweep.initialTokensBefore }),
  registrationCounts: removal('registration_counts', 'window_start', 'window_start', {
    before: ({ unusedSince }) => unusedSince - COUNT_MS,
  }),
  auditLinks: removal('audit_links', 'link_id', 'link_id', { before: (sweep) => idBefore(sweep.auditBefore, '') }),
} as const satisfies { readonly [Kind in keyof Swept]?: Removal }
const EVIDENCE = removal('authorizations', 'authorization_id', 'authorization_id', {
  before: (sweep) => idBefore(sweep.evidenceBefore, ''),
})
const SESSIONS = removal('sessions', 'session_id', 'expires_at', {
  before: ({ now }) => now,
  more: ', session_id, user_id',
})
const FIGURES = FIGURE_SPAN_NAMES.map((span) => ({
  kind: `figures-${span}`,
  row: removal('figures', 'began_at, figure_id', 'figure_id', {
    before: (sweep) => idBefore(sweep.figuresBefore[span], ''),
    where: ` and span = '${span}'`,
  }),
}))

/** All sessions from before the server's not-before time have ended (`revokeAllTokens`). */
const END_LOGOUT_NOTICES = shared(
  `update logout_notices set due_at = 0 where (user_id, root_id, client_id) in (
     select user_id, root_id, client_id from logout_notices where ${lookFor('logout_notices', 'session_started_at < :before and due_at is null')}
     limit :limit)
   returning user_id`,
)
const LEFT_FIGURES = shared(
  `select began_at, figure_id, span from figures where began_at < :before and node not in ('', '${MERGED}')
   order by began_at, figure_id limit :limit`,
)
const IS_UNUSED = `used_at is null and held_until < :heldUntil and coalesce(pending_until, 0) < :now
  and (disabled_at is null or document_url is null)`
const IS_SWEPT = `client_id > :after and client_id < :before and ${IS_UNUSED}`
/** An array instead of a join: a join would be planned while there are few rows and then read all unused clients for each row. */
const CLIENTS = shared(
  `delete from clients where ${IS_UNUSED} and client_id = any(array(
     select client_id from clients where ${lookFor('clients', IS_SWEPT)} order by client_id limit :limit))
   returning client_id, shared_key`,
)
/** What has expired and an index finds, of all tables. What none finds: examined-rows.ts. */
const operations = {
  sweepExpired: {
    keys: () => ['sweep'],
    cache: 'cleared',
    event: ({ auditBefore }, { auditLinks }) =>
      auditLinks > 0 ? { event: 'audit.swept', details: { before: auditBefore, links: auditLinks } } : undefined,
    run: (sweep) => sweepExpired(sweep, forgetNothing),
  },
} satisfies NounOperations

export const expiredRows = { operations }

/**
 * The rows of a kind that are removed in the order of a column with an index. PostgreSQL keeps removed rows in the index while an older
 * snapshot could read them, so a slice begins where the one before ended: otherwise it would step over all of them.
 */
interface Removal {
  readonly statement: SharedStatement
  /** The column of the order. */
  readonly by: string
  /** The first value of the column that is kept. */
  readonly before: (sweep: Sweep) => string | number
}

function removal(
  table: string,
  key: string,
  by: string,
  { before, where = '', more = '' }: Pick<Removal, 'before'> & { readonly where?: string; readonly more?: string },
): Removal {
  const range = lookFor(table, `${by} >= :after and ${by} < :before${where}`)
  const statement = key.includes(',')
    ? shared(
        `delete from ${table} where (${key}) in (
           select ${key} from ${table} where ${range} order by ${by} limit :limit) returning ${by}${more}`,
      )
    : // An array instead of a join: a join would be planned while there are few rows and then read the whole table for each row.
      shared(
        `delete from ${table} where ${key} = any(array(
           select ${key} from ${table} where ${range} order by ${by} limit :limit)) returning ${by}${more}`,
      )
  return { statement, by, before }
}

/** Removes what has expired, at most `limit` rows of each kind. `forget`: runs with the removed rows of users. */
export function* sweepExpired(sweep: Sweep, forget: Forget): Steps<Swept> {
  const { limit, authorizationsAfter } = sweep
  const removedTo: Record<string, string | number> = {}
  function* remove(kind: string, { statement, by, before }: Removal): Steps<readonly Row[]> {
    const first = before(sweep)
    const start = sweep.removedTo[kind] ?? (typeof first === 'string' ? '' : 0)
    const removed = yield* rows(statement, { after: start, before: first, limit })
    Object.assign(removedTo, placeAfter(kind, removed, by, sweep))
    return removed
  }
  const waited = yield* sweepUnredeemed(sweep, forget, authorizationsAfter, idBefore(sweep.authorizationsBefore, ''))
  const sessions = yield* remove('sessions', SESSIONS)
  yield* forget('sessions', sessions)
  let figures = 0
  for (const { kind, row } of FIGURES) figures += (yield* remove(kind, row)).length
  yield* mergeLeft(sweep)
  const counts: Record<string, number> = {}
  for (const [kind, row] of Object.entries(EXPIRED)) counts[kind] = (yield* remove(kind, row)).length
  return {
    ...(counts as Readonly<Record<keyof typeof EXPIRED, number>>),
    clients: yield* sweepClients(sweep, removedTo),
    authorizationsAfter: waited.next,
    authorizationsExamined: waited.examined,
    authorizations: waited.removed + (yield* remove('evidence', EVIDENCE)).length,
    sessions: sessions.length,
    logoutNoticesEnded: (yield* rows(END_LOGOUT_NOTICES, { before: yield* notBefore.reads.findNotBefore(), limit }))
      .length,
    figures,
    removedTo,
  }
}

/** Where the next slice of a kind begins: at the last value of the column of its order, or where this one began if nothing was removed. */
function placeAfter(kind: string, removed: readonly Row[], by: string, { removedTo }: Sweep): Sweep['removedTo'] {
  const values = removed.map((row) => row[by] as string | number)
  const last = values.reduce<string | number | undefined>(
    (most, one) => (most === undefined || one > most ? one : most),
    removedTo[kind],
  )
  return last === undefined ? {} : { [kind]: last }
}

function* sweepClients(sweep: Sweep, removedTo: Record<string, string | number>): Steps<number> {
  const { now, limit } = sweep
  const start = sweep.removedTo['clients'] ?? ''
  const { registeredBefore, heldUntil } = yield* findEvicted(sweep)
  const before = idBefore(registeredBefore, 'gci_')
  const removed = yield* rows(CLIENTS, { after: start, before, heldUntil, now, limit })
  Object.assign(removedTo, placeAfter('clients', removed, 'client_id', sweep))
  yield* endRemoved(removed)
  return removed.length
}

function* sweepUnredeemed({ now, limit }: Sweep, forget: Forget, after: AuthorizationId | '', before: string) {
  const slice = yield* rows(AUTHORIZATION_SLICE, { after, before, limit })
  const next = (slice.at(-1)?.['authorization_id'] ?? after) as AuthorizationId | ''
  const expired = { after, last: next, now }
  if (slice.length > 0) yield* rows(BURN, expired)
  const removed = slice.length === 0 ? [] : yield* rows(UNREDEEMED, expired)
  yield* forget('authorizations', removed)
  return { removed: removed.length, examined: slice.length, next }
}

/** Merges the figures that killed processes left. */
function* mergeLeft({ figuresLeftBefore, limit }: Sweep): Steps<void> {
  const left = yield* rows(LEFT_FIGURES, { before: figuresLeftBefore, limit })
  for (const some of Map.groupBy(left, (row) => `${row['began_at']} ${row['span']}`).values()) {
    const ids = some.map((row) => row['figure_id'] as string)
    const { began_at: beganAt, span } = some[0] as Row
    yield* mergeLeftFigures(ids, span as FigureSpan, beganAt as EpochMs)
  }
}
