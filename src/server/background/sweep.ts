import type { Context, Settings, StoreNeeds } from '../../ports/context.ts'
import type { Sweep, SweepPlace, Swept } from '../../ports/operations/server.ts'
import { FIGURE_SPAN_NAMES, FIGURE_SPANS, FIGURES_LEFT_MS, type FigureSpan } from '../../ports/records/figures.ts'
import { chainStart } from '../../protocol/audit/audit-link.ts'
import { YOUNG_CLIENT_MS } from '../../protocol/client/policy.ts'
import type { ClientId } from '../../protocol/ids.ts'
import { after, type EpochMs } from '../../base/brand.ts'
import { CLOCK_MARGIN_MS, REVOCATION_MARGIN_MS } from '../../base/clock.ts'

/** The maximum number of rows of each kind in one slice, which takes the store a few milliseconds. */
const SLICE = 200
/** Spent codes are evidence: a second use revokes what the first one issued (RFC 6749 §4.1.2). */
const EVIDENCE_MS = 24 * 60 * 60 * 1000

/** Expired initial access tokens are listed this much longer. */
const INITIAL_TOKEN_MS = 30 * 24 * 60 * 60 * 1000

/** A notice is sent for 21 hours at most (server/background/logout-notifier.ts). */
const LOGOUT_NOTICE_MS = 2 * 24 * 60 * 60 * 1000

/** The start of all times: nothing was recorded earlier. */
const NEVER = 0 as EpochMs

const NOTHING = {
  authorizations: 0,
  authorizationsExamined: 0,
  sessions: 0,
  links: 0,
  emailCodes: 0,
  groupMembers: 0,
  interactions: 0,
  pushedRequests: 0,
  devices: 0,
  identityProofs: 0,
  clients: 0,
  hits: 0,
  revokedTokens: 0,
  opaqueTokens: 0,
  consumed: 0,
  initialTokens: 0,
  mails: 0,
  logoutNotices: 0,
  logoutNoticesEnded: 0,
  registrationCounts: 0,
  auditLinks: 0,
  figures: 0,
} as const

type Needs = Pick<Context, 'clockCheck' | 'settings'> & StoreNeeds<'sweepExpired'>

/** The start of a round of slices. */
export const SWEEP_START: SweepPlace = { authorizationsAfter: '', removedTo: {} }

/**
 * Removes a slice of expired rows. It is called repeatedly; `place` is the result of the previous call. Nothing is removed
 * while the clock of this node differs (threats.md STO-13).
 */
export async function sweep({ clockCheck, settings, store }: Needs, place: SweepPlace): Promise<Swept> {
  const { authorizationsAfter, removedTo } = place
  const { unusedClient } = settings.lifetimes
  const now = clockCheck.deletionTime()
  if (now === undefined) return { ...NOTHING, ...place }
  return store.sweepExpired({
    now,
    limit: SLICE,
    authorizationsAfter,
    removedTo,
    revocationsBefore: after(now, -REVOCATION_MARGIN_MS),
    unusedSince: after(now, -unusedClient * 1000),
    unusedClients: settings.unusedClients,
    evictedBefore: after(now, -YOUNG_CLIENT_MS),
    authorizationsBefore: oldestAuthorization(settings, now),
    evidenceBefore: after(now, -EVIDENCE_MS),
    initialTokensBefore: after(now, -INITIAL_TOKEN_MS),
    logoutNoticesBefore: after(now, -LOGOUT_NOTICE_MS),
    auditBefore: settings.auditRetention === 0 ? NEVER : chainStart(after(now, -settings.auditRetention * 1000)),
    figuresBefore: Object.fromEntries(
      FIGURE_SPAN_NAMES.map((span) => [span, figuresBefore(span, now)]),
    ) as Sweep['figuresBefore'],
    figuresLeftBefore: after(now, -FIGURES_LEFT_MS),
  })
}

/** The clients that one slice examines. */
const IDLE_SLICE = 500

/**
 * Deletes the idle clients of a slice, each with an event: those that registered themselves and got no token for
 * GRANTOR_IDLE_CLIENT_LIFETIME. `start`: where the previous slice ended. `next`: where the next one begins; undefined: at the oldest.
 * A refresh token of such a client has expired, because the time is at least twice that of an unused one (RFC 6749 §1.5).
 */
export async function sweepIdleClients(
  {
    clockCheck,
    settings,
    store,
  }: Pick<Needs, 'clockCheck' | 'settings'> & StoreNeeds<'listOldestClients' | 'purgeClient'>,
  start: ClientId | undefined,
): Promise<{ readonly deleted: number; readonly next: ClientId | undefined }> {
  const now = clockCheck.deletionTime()
  const { idleClient } = settings.lifetimes
  if (idleClient === 0 || now === undefined) return { deleted: 0, next: undefined }
  const filter = { isUsed: true, unusedSince: after(now, -idleClient * 1000), idleAt: now } as const
  const slice = await store.listOldestClients({ ...filter, after: start, size: IDLE_SLICE })
  const outcomes = await Promise.all(slice.clients.map(({ id }) => store.purgeClient({ id, filter })))
  return { deleted: outcomes.filter((outcome) => outcome === 'deleted').length, next: slice.next }
}

/** Whether so many clients of a slice were idle that the next slice follows at once. */
export function isIdleSlice(deleted: number): boolean {
  return deleted >= IDLE_SLICE / 4
}

/** An authorization that started earlier has expired on every node, and its code too, unless it is that of a device. */
function oldestAuthorization({ lifetimes: { authorization, code } }: Settings, now: EpochMs): EpochMs {
  return after(now, -(authorization + code) * 1000 - CLOCK_MARGIN_MS)
}

/**
 * Whether the slice of a kind was full, so that more expired rows probably follow. Rows that are added by the thousand, such as
 * opaque tokens, must be removed as fast.
 */
export function isWholeSlice(swept: Swept): boolean {
  const { authorizations, authorizationsExamined, sessions, clients, hits, auditLinks } = swept
  const { interactions, revokedTokens, opaqueTokens, consumed, initialTokens, logoutNotices, logoutNoticesEnded } =
    swept
  const found = Math.max(
    authorizations,
    authorizationsExamined,
    sessions,
    clients,
    interactions,
    hits,
    revokedTokens,
    opaqueTokens,
    consumed,
    initialTokens,
    logoutNotices,
    logoutNoticesEnded,
    auditLinks,
    swept.figures,
  )
  return found >= SLICE
}

/** Before when the spans of figures that are no longer kept began. */
export function figuresBefore(span: FigureSpan, now: EpochMs): EpochMs {
  const { ms, keptMs } = FIGURE_SPANS[span]
  return after(now, -keptMs - ms)
}
