import type { Sweep, Swept } from '../../../ports/operations/server.ts'
import { FIGURE_SPAN_NAMES, type FigureSpan } from '../../../ports/records/figures.ts'
import type { EpochMs } from '../../../base/brand.ts'
import type { AuthorizationId, ClientId, GrantId, UserId } from '../../../protocol/ids.ts'
import type { NounOperations } from '../../noun.ts'
import { endRemoved } from '../client/clients.ts'
import { findEvicted } from '../client/registration-counts.ts'
import { MERGED, mergeLeftFigures } from './figures.ts'
import { NOT_REDEEMED } from '../token/authorizations.ts'
import { notBefore } from '../token/not-before.ts'
import { idBefore, type Row } from '../../rows.ts'
import {
  forgetNothing,
  listOf,
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

const REMOVALS = {
  evidence: removal('authorizations', 'authorization_id', 'authorization_id'),
  sessions: removal('sessions', 'session_id', 'expires_at', { more: ', session_id, user_id' }),
  links: removal('links', 'user_id, origin', 'expires_at'),
  emailCodes: removal('email_codes', 'user_id', 'expires_at'),
  interactions: removal('interactions', 'interaction_id', 'expires_at'),
  pushedRequests: removal('pushed_requests', 'request_id', 'kept_until'),
  devices: removal('devices', 'device_id', 'expires_at'),
  identityProofs: removal('identity_proofs', 'user_id', 'expires_at'),
  hits: removal('hits', 'bucket, window_start', 'window_end'),
  revokedTokens: removal('revoked_tokens', 'token_id', 'expires_at'),
  opaqueTokens: removal('opaque_tokens', 'token_id', 'token_id'),
  consumed: removal('consumed', 'digest', 'expires_at'),
  initialTokens: removal('initial_tokens', 'token_id', 'expires_at'),
  registrationCounts: removal('registration_counts', 'window_start', 'window_start'),
  logoutNotices: removal('logout_notices', 'user_id, root_id, client_id', 'expires_at'),
  mails: removal('mails', 'user_id, mail_id', 'expires_at'),
  auditLinks: removal('audit_links', 'link_id', 'link_id'),
  ...(Object.fromEntries(
    FIGURE_SPAN_NAMES.map((span) => [
      `figures-${span}`,
      removal('figures', 'began_at, figure_id', 'figure_id', { where: ` and span = '${span}'` }),
    ]),
  ) as Readonly<Record<`figures-${FigureSpan}`, Removal>>),
} as const satisfies Readonly<Record<string, Removal>>

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
const GRANT_SLICE = shared('select grant_id from grants where grant_id > :after order by grant_id limit :limit')
/** A grant is kept while its code may be valid: the code could be redeemed again without it. */
const IS_OVER = `grant_id > :after and grant_id <= :last and grant_id < :before and (expires_at < :now or idle_expires_at < :now)`
const GRANTS = shared(`delete from grants where ${lookFor('grants', IS_OVER)} returning grant_id, user_id`)

const IS_UNUSED = `used_at is null and held_until < :heldUntil and coalesce(pending_until, 0) < :now
  and (disabled_at is null or document_url is null)`
const IS_SWEPT = `client_id > :after and client_id < :before and ${IS_UNUSED}`
/** An array instead of a join: a join would be planned while there are few rows and then read all unused clients for each row. */
const CLIENTS = shared(
  `delete from clients where ${IS_UNUSED} and client_id = any(array(
     select client_id from clients where ${lookFor('clients', IS_SWEPT)} order by client_id limit :limit))
   returning client_id, shared_key`,
)
const CONSENT_SLICE = shared(
  `select user_id, client_id from consents where (user_id, client_id) > (:afterUser, :afterClient)
   order by user_id, client_id limit :limit`,
)
const KNOWN_CLIENTS = shared(`select client_id from clients where client_id = any(string_to_array(:ids, ' '))`)
/** None of the clients exists, so it removes no consent of another one. */
const CONSENTS = shared(
  `delete from consents where user_id = any(string_to_array(:users, ' ')) and client_id = any(string_to_array(:clients, ' '))
   returning user_id`,
)

/** Until then a device can redeem a late approval. */
const DEVICE_MS = 10 * 60 * 1000
/** Until then a node that sends mail settles them, with an event. */
const UNSENT_MS = 24 * 60 * 60 * 1000
/** Counts are kept a day longer than the clients that they are about. */
const COUNT_MS = 24 * 60 * 60 * 1000

/** What has expired, of all tables. */
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
}

function removal(table: string, key: string, by: string, { where = '', more = '' } = {}): Removal {
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
  return { statement, by }
}

/** Removes what has expired, at most `limit` rows of each kind. `forget`: runs with the removed rows of users. */
export function* sweepExpired(sweep: Sweep, forget: Forget): Steps<Swept> {
  const { now, limit, authorizationsAfter, grantsAfter } = sweep
  const removedTo: Record<string, string | number> = {}
  function* removeRows(kind: keyof typeof REMOVALS, before: string | number): Steps<readonly Row[]> {
    const { statement, by } = REMOVALS[kind]
    const start = sweep.removedTo[kind] ?? (typeof before === 'string' ? '' : 0)
    const removed = yield* rows(statement, { after: start, before, limit })
    Object.assign(removedTo, placeAfter(kind, removed, by, sweep))
    return removed
  }
  function* remove(kind: keyof typeof REMOVALS, before: string | number): Steps<number> {
    return (yield* removeRows(kind, before)).length
  }
  const waited = yield* sweepUnredeemed(sweep, forget, authorizationsAfter, idBefore(sweep.authorizationsBefore, ''))
  const slice = yield* sweepGrants(sweep, forget, grantsAfter)
  const sessions = yield* removeRows('sessions', now)
  yield* forget('sessions', sessions)
  let figures = 0
  for (const span of FIGURE_SPAN_NAMES)
    figures += yield* remove(`figures-${span}`, idBefore(sweep.figuresBefore[span], ''))
  yield* mergeLeft(sweep)
  return {
    ...(yield* sweepConsents(sweep)),
    clients: yield* sweepClients(sweep, removedTo),
    authorizationsAfter: waited.next,
    authorizationsExamined: waited.examined,
    grantsAfter: slice.next,
    grants: slice.removed,
    authorizations: waited.removed + (yield* remove('evidence', idBefore(sweep.evidenceBefore, ''))),
    sessions: sessions.length,
    links: yield* remove('links', now),
    emailCodes: yield* remove('emailCodes', now),
    interactions: yield* remove('interactions', now),
    pushedRequests: yield* remove('pushedRequests', now),
    devices: yield* remove('devices', now - DEVICE_MS),
    identityProofs: yield* remove('identityProofs', now),
    hits: yield* remove('hits', now),
    revokedTokens: yield* remove('revokedTokens', sweep.revocationsBefore),
    opaqueTokens: yield* remove('opaqueTokens', idBefore(now, '')),
    consumed: yield* remove('consumed', now),
    mails: yield* remove('mails', now - UNSENT_MS),
    logoutNotices: yield* remove('logoutNotices', sweep.logoutNoticesBefore),
    logoutNoticesEnded: (yield* rows(END_LOGOUT_NOTICES, { before: yield* notBefore.reads.findNotBefore(), limit }))
      .length,
    initialTokens: yield* remove('initialTokens', sweep.initialTokensBefore),
    registrationCounts: yield* remove('registrationCounts', sweep.unusedSince - COUNT_MS),
    auditLinks: yield* remove('auditLinks', idBefore(sweep.auditBefore, '')),
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

/** Consents whose client does not exist. A slice starts after a user and a client, and the next one at '' if this one reached the end. */
function* sweepConsents({ consentsAfter, limit }: Sweep): Steps<Pick<Swept, 'consents' | 'consentsAfter'>> {
  const [afterUser = '', afterClient = ''] = consentsAfter.split(' ')
  const slice = yield* rows(CONSENT_SLICE, { afterUser, afterClient, limit })
  const last = slice.length < limit ? undefined : slice.at(-1)
  const next = last === undefined ? '' : `${last['user_id']} ${last['client_id']}`
  const ids = listOf([...new Set(slice.map((row) => row['client_id'] as ClientId))])
  const known = new Set((slice.length === 0 ? [] : yield* rows(KNOWN_CLIENTS, { ids })).map((row) => row['client_id']))
  const gone = slice.filter((row) => !known.has(row['client_id'] ?? ''))
  if (gone.length === 0) return { consents: 0, consentsAfter: next }
  const users = listOf(gone.map((row) => row['user_id'] as UserId))
  const clients = listOf(gone.map((row) => row['client_id'] as ClientId))
  return { consents: (yield* rows(CONSENTS, { users, clients })).length, consentsAfter: next }
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

function* sweepGrants({ now, limit, grantsBefore }: Sweep, forget: Forget, after: GrantId | '') {
  const slice = yield* rows(GRANT_SLICE, { after, limit })
  const last = slice.at(-1)?.['grant_id'] as GrantId | undefined
  if (last === undefined) return { removed: 0, next: '' as const }
  const removed = yield* rows(GRANTS, { after, last, now, before: idBefore(grantsBefore, '') })
  yield* forget('grants', removed)
  return {
    removed: removed.length,
    next: slice.length < limit ? ('' as const) : last,
  }
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
