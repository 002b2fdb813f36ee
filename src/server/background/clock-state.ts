import type { EpochMs } from '../../base/brand.ts'
import {
  CLOCK_TOLERANCE_MS,
  isPlausible,
  knownTime,
  moveDeletions,
  STEADY_MS,
  type ClockNotes,
  type KnownTime,
} from '../../base/clock.ts'

/** How often a clock that agrees is compared. */
const COMPARE_INTERVAL_MS = 10_000
/** How often a node without a second clock notes in the store that its clock agrees. */
const NOTE_INTERVAL_MS = 60_000

/** Both clocks of a node at one moment: `wall`, and `at` in milliseconds of the monotonic clock. */
export interface Reading {
  readonly wall: EpochMs
  readonly at: number
}

/**
 * What a node knows about its wall clock (docs/decisions/0012-a-clock-that-differs.md). The reference is the monotonic clock, counted from the
 * last time at which the wall clock agreed with the clock of the database, or, if the database has none, with the notes in the store.
 */
export interface ClockState {
  /** The reference minus the monotonic clock. Before the first comparison the wall clock agrees with nothing. */
  readonly offset: number
  /** What was known at a reading of the monotonic clock. */
  readonly known: (KnownTime & { readonly at: number }) | undefined
  /** The wall clock minus the monotonic clock since a step, which was noticed at `since`. */
  readonly stepped: { readonly offset: number; readonly since: number } | undefined
  /** The operator's confirmation that was followed last. */
  readonly confirmation: EpochMs | undefined
  readonly hasSecondClock: boolean
  readonly notedAt: number
  readonly comparedAt: number
}

export const UNCOMPARED: ClockState = {
  offset: Number.NEGATIVE_INFINITY,
  known: undefined,
  stepped: undefined,
  confirmation: undefined,
  hasSecondClock: false,
  notedAt: Number.NEGATIVE_INFINITY,
  comparedAt: Number.NEGATIVE_INFINITY,
}

export type ClockEvent =
  | { readonly kind: 'read' }
  /** The database, which was asked at the reading `asked`, has the time `there`. */
  | { readonly kind: 'database'; readonly there: EpochMs; readonly asked: Reading }
  /** The database has no clock; these are the notes in the store. */
  | { readonly kind: 'notes'; readonly notes: ClockNotes }
  /** A note is about to be written. */
  | { readonly kind: 'noted' }

/** What is known after an event. */
export function advanceClock(state: ClockState, event: ClockEvent, now: Reading): ClockState {
  const current = { ...state, known: knownAt(state, now) }
  switch (event.kind) {
    case 'read':
      return current
    case 'noted':
      return { ...current, notedAt: now.at }
    case 'database':
      return followDatabase({ ...current, hasSecondClock: true, comparedAt: now.at }, event, now)
    case 'notes':
      return followNotes({ ...current, hasSecondClock: false, comparedAt: now.at }, event.notes, now)
  }
}

/** How far the wall clock is ahead of the reference, or 0 if they agree. */
export function differenceMs({ offset }: ClockState, { wall, at }: Reading): number {
  const aheadMs = wall - at - offset
  return Math.abs(aheadMs) <= CLOCK_TOLERANCE_MS ? 0 : aheadMs
}

/** Rows that expired before this time may be deleted now; none while the clock differs. */
export function deletionTime(state: ClockState, now: Reading): EpochMs | undefined {
  return differenceMs(state, now) === 0 ? knownAt(state, now)?.deletionTime : undefined
}

/** Whether it is time to compare a clock that agrees, and to note that it does. */
export function isDue(state: ClockState, { at }: Reading): { readonly compare: boolean; readonly note: boolean } {
  return { compare: at - state.comparedAt >= COMPARE_INTERVAL_MS, note: at - state.notedAt >= NOTE_INTERVAL_MS }
}

/** Brings what is known up to the present: the deletion time advances only while the clock agrees. */
function knownAt(state: ClockState, now: Reading): ClockState['known'] {
  const { known } = state
  if (known === undefined) return undefined
  const { agreedAt, deletionTime: from, at } = known
  const to = differenceMs(state, now) === 0 ? moveDeletions(from, now.at - at, now.wall) : from
  return { agreedAt, deletionTime: to, at: now.at }
}

/** The wall clock is the reference from now on. */
function agree(state: ClockState, { wall, at }: Reading): ClockState {
  const known = { agreedAt: wall, deletionTime: state.known?.deletionTime ?? wall, at }
  return { ...state, offset: wall - at, known, stepped: undefined }
}

/** The clock of the database decides at once. */
function followDatabase(
  state: ClockState,
  { there, asked }: Extract<ClockEvent, { kind: 'database' }>,
  now: Reading,
): ClockState {
  // The wall clock stepped while the database was asked, so the comparison is worthless.
  if (Math.abs(now.wall - asked.wall - (now.at - asked.at)) > CLOCK_TOLERANCE_MS) return state
  const aheadMs = aheadOf(there, asked.wall, now.wall)
  if (Math.abs(aheadMs) > CLOCK_TOLERANCE_MS) return { ...state, offset: now.wall - aheadMs - now.at }
  // A slow reply can hide a difference as long as the reply took.
  return now.at - asked.at <= CLOCK_TOLERANCE_MS ? agree(state, now) : state
}

/** No second clock: the wall clock continues from the time at which it agreed, or stepped to a plausible time and ran steadily since. */
function followNotes(state: ClockState, notes: ClockNotes, now: Reading): ClockState {
  const { known } = state
  if (known === undefined || notes.confirmation !== state.confirmation) return begin(state, notes, now)
  if (differenceMs(state, now) === 0) return agree(state, now)
  const offset = now.wall - now.at
  const isSteady = state.stepped !== undefined && Math.abs(offset - state.stepped.offset) <= CLOCK_TOLERANCE_MS
  const stepped = isSteady ? state.stepped : { offset, since: now.at }
  const isAccepted = now.at - stepped.since >= STEADY_MS && isPlausible(now.wall, known)
  return isAccepted ? agree(state, now) : { ...state, stepped }
}

function begin(state: ClockState, notes: ClockNotes, { wall, at }: Reading): ClockState {
  const time = knownTime(notes) ?? { agreedAt: wall, deletionTime: wall }
  return {
    ...state,
    offset: (isPlausible(wall, time) ? wall : time.agreedAt) - at,
    known: { ...time, at },
    confirmation: notes.confirmation,
    // A confirmation is noted at once, so that it is followed only once.
    notedAt: notes.confirmation === notes.node?.confirmation ? at : Number.NEGATIVE_INFINITY,
  }
}

/** Returns how far a clock is ahead of the database's, at least: that was read at some time between `before` and `after`. */
function aheadOf(there: EpochMs, before: EpochMs, after: EpochMs): number {
  if (there < before) return before - there
  return there > after ? after - there : 0
}
