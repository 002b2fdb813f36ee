import type { Sweep, Swept } from '../../ports/operations/server.ts'
import { FIGURE_SPAN_NAMES, type FigureSpan } from '../../ports/records/figures.ts'
import type { EpochMs } from '../../base/brand.ts'
import type { AuthorizationId, ClientId, GrantId, UserId } from '../../protocol/ids.ts'
import { idBefore, type Row } from '../rows.ts'
import { accountReads } from './accounts.ts'
import { endRemoved } from './clients.ts'
import { NOT_REDEEMED } from './authorization/codes.ts'
import { MERGED, mergeLeftFigures } from './counts/figures.ts'
import { findEvicted } from './counts/registration-counts.ts'
import {
  forgetNothing,
  listOf,
  lookFor,
  rows,
  shared,
  type Forget,
  type SharedHandlers,
  type SharedStatement,
  type Steps,
} from './statement.ts'

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
const EVIDENCE = shared(
  `delete from authorizations where authorization_id in (
     select authorization_id from authorizations where ${lookFor('authorizations', 'authorization_id < :before')}
     order by authorization_id limit :limit)
   returning authorization_id`,
)
const SESSIONS = shared(
  `delete from sessions where session_id in (
     select session_id from sessions where ${lookFor('sessions', 'expires_at < :before')} limit :limit)
   returning session_id, user_id`,
)
const LINKS = shared(
  `delete from links where (user_id, origin) in (
     select user_id, origin from links where ${lookFor('links', 'expires_at < :before')} limit :limit)
   returning user_id`,
)
const EMAIL_CODES = shared(
  `delete from email_codes where user_id in (
     select user_id from email_codes where ${lookFor('email_codes', 'expires_at < :before')} limit :limit)
   returning user_id`,
)
const INTERACTIONS = shared(
  `delete from interactions where interaction_id in (
     select interaction_id from interactions where ${lookFor('interactions', 'expires_at < :before')} limit :limit)
   returning interaction_id`,
)
const PUSHED_REQUESTS = shared(
  `delete from pushed_requests where request_id in (
     select request_id from pushed_requests where ${lookFor('pushed_requests', 'kept_until < :before')} limit :limit)
   returning request_id`,
)
const DEVICES = shared(
  `delete from devices where device_id in (
     select device_id from devices where ${lookFor('devices', 'expires_at < :before')} limit :limit)
   returning device_id`,
)
const IDENTITY_PROOFS = shared(
  `delete from identity_proofs where user_id in (
     select user_id from identity_proofs where ${lookFor('identity_proofs', 'expires_at < :before')} limit :limit)
   returning user_id`,
)
const HITS = shared(
  `delete from hits where (bucket, window_start) in (
     select bucket, window_start from hits where ${lookFor('hits', 'window_end < :before')} limit :limit)
   returning bucket`,
)
const REVOKED_TOKENS = shared(
  `delete from revoked_tokens where token_id in (
     select token_id from revoked_tokens where ${lookFor('revoked_tokens', 'expires_at < :before')}
     order by expires_at limit :limit)
   returning token_id`,
)
const OPAQUE_TOKENS = shared(
  `delete from opaque_tokens where token_id = any(array(
     select token_id from opaque_tokens where ${lookFor('opaque_tokens', 'token_id < :before')} order by token_id limit :limit))
   returning token_id`,
)
const CONSUMED = shared(
  `delete from consumed where digest in (
     select digest from consumed where ${lookFor('consumed', 'expires_at < :before')} order by expires_at limit :limit)
   returning digest`,
)
const INITIAL_TOKENS = shared(
  `delete from initial_tokens where token_id in (
     select token_id from initial_tokens where ${lookFor('initial_tokens', 'expires_at < :before')}
     order by expires_at limit :limit)
   returning token_id`,
)
const REGISTRATION_COUNTS = shared(
  `delete from registration_counts where window_start in (
     select window_start from registration_counts where ${lookFor('registration_counts', 'window_start < :before')}
     order by window_start limit :limit)
   returning window_start`,
)
const LOGOUT_NOTICES = shared(
  `delete from logout_notices where (user_id, root_id, client_id) in (
     select user_id, root_id, client_id from logout_notices where ${lookFor('logout_notices', 'expires_at < :before')}
     limit :limit)
   returning user_id`,
)
const MAILS = shared(
  `delete from mails where (user_id, mail_id) in (
     select user_id, mail_id from mails where ${lookFor('mails', 'expires_at < :before')} limit :limit)
   returning user_id`,
)
/** All sessions from before the server's not-before time have ended (`revokeAllTokens`). */
const END_LOGOUT_NOTICES = shared(
  `update logout_notices set due_at = 0 where (user_id, root_id, client_id) in (
     select user_id, root_id, client_id from logout_notices where ${lookFor('logout_notices', 'session_started_at < :before and due_at is null')}
     limit :limit)
   returning user_id`,
)
const AUDIT_LINKS = shared(
  `delete from audit_links where link_id = any(array(
     select link_id from audit_links where ${lookFor('audit_links', 'link_id < :before')} order by link_id limit :limit))
   returning link_id`,
)
const FIGURES = shared(
  `delete from figures where (began_at, figure_id) in (
     select began_at, figure_id from figures where ${lookFor('figures', 'span = :span and figure_id < :before')}
     order by figure_id limit :limit)
   returning figure_id`,
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
const IS_SWEPT = `client_id < :before and ${IS_UNUSED}`
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

export const sweepHandlers = {
  sweepExpired: { keys: () => ['sweep'], run: (sweep) => sweepExpired(sweep, forgetNothing) },
} satisfies SharedHandlers

/** Removes what has expired, at most `limit` rows of each kind. `forget`: runs with the removed rows of users. */
export function* sweepExpired(sweep: Sweep, forget: Forget): Steps<Swept> {
  const { now, limit, authorizationsAfter, grantsAfter } = sweep
  const waited = yield* sweepUnredeemed(sweep, forget, authorizationsAfter, idBefore(sweep.authorizationsBefore, ''))
  const slice = yield* sweepGrants(sweep, forget, grantsAfter)
  const sessions = yield* rows(SESSIONS, { before: now, limit })
  yield* forget('sessions', sessions)
  return {
    ...(yield* sweepConsents(sweep)),
    clients: yield* sweepClients(sweep),
    authorizationsAfter: waited.next,
    authorizationsExamined: waited.examined,
    grantsAfter: slice.next,
    grants: slice.removed,
    authorizations: waited.removed + (yield* remove(EVIDENCE, idBefore(sweep.evidenceBefore, ''), limit)),
    sessions: sessions.length,
    links: yield* remove(LINKS, now, limit),
    emailCodes: yield* remove(EMAIL_CODES, now, limit),
    interactions: yield* remove(INTERACTIONS, now, limit),
    pushedRequests: yield* remove(PUSHED_REQUESTS, now, limit),
    devices: yield* remove(DEVICES, now - DEVICE_MS, limit),
    identityProofs: yield* remove(IDENTITY_PROOFS, now, limit),
    hits: yield* remove(HITS, now, limit),
    revokedTokens: yield* remove(REVOKED_TOKENS, sweep.revocationsBefore, limit),
    opaqueTokens: yield* remove(OPAQUE_TOKENS, idBefore(now, ''), limit),
    consumed: yield* remove(CONSUMED, now, limit),
    mails: yield* remove(MAILS, now - UNSENT_MS, limit),
    logoutNotices: yield* remove(LOGOUT_NOTICES, sweep.logoutNoticesBefore, limit),
    logoutNoticesEnded: yield* remove(END_LOGOUT_NOTICES, yield* accountReads.findNotBefore(), limit),
    initialTokens: yield* remove(INITIAL_TOKENS, sweep.initialTokensBefore, limit),
    registrationCounts: yield* remove(REGISTRATION_COUNTS, sweep.unusedSince - COUNT_MS, limit),
    auditLinks: yield* remove(AUDIT_LINKS, idBefore(sweep.auditBefore, ''), limit),
    figures: yield* sweepFigures(sweep),
  }
}

function* sweepClients(sweep: Sweep): Steps<number> {
  const { now, limit } = sweep
  const { registeredBefore, heldUntil } = yield* findEvicted(sweep)
  const removed = yield* rows(CLIENTS, { before: idBefore(registeredBefore, 'gci_'), heldUntil, now, limit })
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

/** Removes old rows, and merges those that killed processes left. */
function* sweepFigures({ figuresBefore, figuresLeftBefore, limit }: Sweep): Steps<number> {
  let removed = 0
  for (const span of FIGURE_SPAN_NAMES)
    removed += (yield* rows(FIGURES, { span, before: idBefore(figuresBefore[span], ''), limit })).length
  const left = yield* rows(LEFT_FIGURES, { before: figuresLeftBefore, limit })
  for (const some of Map.groupBy(left, (row) => `${row['began_at']} ${row['span']}`).values()) {
    const ids = some.map((row) => row['figure_id'] as string)
    const { began_at: beganAt, span } = some[0] as Row
    yield* mergeLeftFigures(ids, span as FigureSpan, beganAt as EpochMs)
  }
  return removed
}

/** Runs a statement that removes rows, or changes them, and returns how many. */
function* remove(statement: SharedStatement, before: string | number, limit: number): Steps<number> {
  return (yield* rows(statement, { before, limit })).length
}
