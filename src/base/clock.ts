import type { EpochMs } from './brand.ts'

/**
 * How far a node's clock may differ from its reference clock. One node writes an expiry time and another node compares it
 * with its own clock, so a larger difference would make tokens expire too late or too early.
 */
export const CLOCK_TOLERANCE_MS = 2000
/**
 * How much longer ago than its lifetimes allow a login may have started whose code is redeemed now. Many times the tolerance: two clocks may
 * differ by twice that, and a redemption that began in time may be committed later. A login that is examined needlessly costs a read; a login
 * that is not examined would outlive a revocation.
 */
export const CLOCK_MARGIN_MS = 60_000
const DAY_MS = 24 * 60 * 60 * 1000
/** How long a node may be stopped or suspended before the operator must confirm its clock. */
const PAUSE_LIMIT_MS = 100 * DAY_MS
/** How long a clock must run steadily after a step before a node without a reference clock issues tokens again. */
export const STEADY_MS = 10_000
/** A token or grant whose issue time is further ahead than this is not accepted yet. */
const FUTURE_LIMIT_MS = 60_000
/** How much faster than real time the deletion time advances until it reaches the clock. */
const CATCH_UP_RATE = 4

/** Revocations are stored this much longer than their token lives, in case the clock of the sweeping node is ahead. */
export const REVOCATION_MARGIN_MS = DAY_MS

/** The time that a node without a reference clock has confirmed. */
export interface KnownTime {
  /** The latest time at which the clock was plausible. */
  readonly agreedAt: EpochMs
  /**
   * Rows that expired before this time may be deleted, because it is certain that this time has passed. It does not advance
   * while the node is stopped or its clock is not plausible, and catches up afterwards.
   */
  readonly deletionTime: EpochMs
}

/** The confirmed time as the node stores it for its next start. */
export interface ClockNote extends KnownTime {
  /** The operator's confirmation that the node applied last. */
  readonly confirmation: EpochMs | undefined
}

/** What the store knows about the clock of its node. Empty in a new store, and if the database has a clock of its own. */
export interface ClockNotes {
  /** For a store without a note it is derived from the newest row. */
  readonly node: ClockNote | undefined
  /** The time of the operator's confirmation, by the clock that the operator confirmed. */
  readonly confirmation: EpochMs | undefined
}

/** The time from which a node starts: its own note, or a confirmation that it has not applied yet. */
export function knownTime({ node, confirmation }: ClockNotes): KnownTime | undefined {
  if (confirmation === undefined || confirmation === node?.confirmation) return node
  return { agreedAt: confirmation, deletionTime: confirmation }
}

/** Whether a clock that shows `now` may be right. */
export function isPlausible(now: EpochMs, { agreedAt, deletionTime }: KnownTime): boolean {
  return now >= deletionTime - CLOCK_TOLERANCE_MS && now <= agreedAt + PAUSE_LIMIT_MS
}

/** Whether an issue time is so far ahead that the issuing clock must have been wrong. */
export function isFromFuture(issuedAt: EpochMs, now: EpochMs): boolean {
  return issuedAt > now + FUTURE_LIMIT_MS
}

/**
 * The deletion time after the clock has been plausible for another `elapsedMs`. It advances faster than real time until it
 * reaches the clock. So a clock that is wrong for a period ages rows by at most a few times that period.
 */
export function moveDeletions(from: EpochMs, elapsedMs: number, now: EpochMs): EpochMs {
  return Math.min(now, Math.floor(from + elapsedMs * CATCH_UP_RATE)) as EpochMs
}
