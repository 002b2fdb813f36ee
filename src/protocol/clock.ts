import type { EpochMs } from './brand.ts'

/**
 * How far a node's clock may be from the clock that it is compared with. A moment that one node writes is judged by the
 * others, so clocks that differ by more make tokens live too long or end too early.
 */
export const CLOCK_TOLERANCE_MS = 2000
const DAY_MS = 24 * 60 * 60 * 1000
/** How long a node may have been stopped or suspended before its clock has to be confirmed by the operator. */
const PAUSE_LIMIT_MS = 100 * DAY_MS
/** How long a clock that stepped must run steadily before a node without a second clock issues by it again. */
export const STEADY_MS = 10_000
/** What was issued by a clock that was further ahead than this is not accepted before its time. */
const FUTURE_LIMIT_MS = 60_000
/** How much faster than time the deletion moment goes until it has caught up with the clock. */
const CATCH_UP_RATE = 4

/** Revocations are kept this much longer than the token, in case the clock that swept them was ahead. */
export const REVOCATION_MARGIN_MS = DAY_MS

/** What a node without a second clock knows of time. */
export interface KnownTime {
  /** The latest moment at which the clock agreed. */
  readonly agreedAt: EpochMs
  /**
   * How far deletions may go: so late it is at the least. It stands still while the node is stopped or its clock differs, and
   * catches up while the clock agrees.
   */
  readonly deletionMoment: EpochMs
}

/** The same in its store, for its next start. */
export interface ClockNote extends KnownTime {
  /** The operator's confirmation that the node followed last. */
  readonly confirmation: EpochMs | undefined
}

/** What a store has about the clock of its node. Empty in a new store, and where the database has a clock of its own. */
export interface ClockNotes {
  /** Of a store from before there were notes, made of its newest row. */
  readonly node: ClockNote | undefined
  /** The moment, by the clock that the operator said is right. */
  readonly confirmation: EpochMs | undefined
}

/** What a node starts from: its own note, or a confirmation that it has not followed yet. */
export function knownTime({ node, confirmation }: ClockNotes): KnownTime | undefined {
  if (confirmation === undefined || confirmation === node?.confirmation) return node
  return { agreedAt: confirmation, deletionMoment: confirmation }
}

/** Whether a clock may be right that shows `now`. */
export function isPlausible(now: EpochMs, { agreedAt, deletionMoment }: KnownTime): boolean {
  return now >= deletionMoment - CLOCK_TOLERANCE_MS && now <= agreedAt + PAUSE_LIMIT_MS
}

/** Whether something was issued by a clock that was ahead: it is not accepted before its time. */
export function isFromFuture(issuedAt: EpochMs, now: EpochMs): boolean {
  return issuedAt > now + FUTURE_LIMIT_MS
}

/**
 * The deletion moment of a clock that has agreed for `elapsedMs` more. It goes faster than time until it has caught up with
 * the clock, so a clock that is ahead for a while makes nothing older than a few times that while.
 */
export function moveDeletions(from: EpochMs, elapsedMs: number, now: EpochMs): EpochMs {
  return Math.min(now, Math.floor(from + elapsedMs * CATCH_UP_RATE)) as EpochMs
}
