import type { Log } from '../log.ts'
import type { ClockCheck, StoreNeeds } from '../../ports/context.ts'
import { StoreUnavailable } from '../../ports/store.ts'
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
import { unavailable } from '../../protocol/errors.ts'

/** How often a node checks whether its clock stepped, and how often it compares a clock that differs. */
const CHECK_INTERVAL_MS = 1000
/** How often a clock that agrees is compared. */
const COMPARE_INTERVAL_MS = 10_000
/** How often a node without a second clock notes in the store that its clock agrees. */
const NOTE_INTERVAL_MS = 60_000

/** The clock of this node, as `Context.clock` and `Context.clockCheck` need it. */
export interface NodeClock extends ClockCheck {
  readonly clock: () => EpochMs
  /** Begins to compare at intervals. Returns the function that stops this and then writes the note. */
  readonly start: () => () => Promise<void>
}

export interface NodeClockDependencies
  extends Pick<ClockCheck, 'databaseNow'>, StoreNeeds<'findClockNotes' | 'noteClock'> {
  /** The wall clock. */
  readonly clock: () => EpochMs
  /** Milliseconds on a clock that cannot be set. */
  readonly monotonic: () => number
  readonly logger: Log
}

/**
 * Compares the wall clock with a reference: the monotonic clock, counted from the last time at which the wall clock agreed
 * with the clock of the database. If the database has no clock, it is counted from the last time that the node noted in its
 * store (docs/decisions/0012-a-clock-that-differs.md).
 *
 * A step of the wall clock is noticed at the next reading, because each reading compares both clocks.
 */
export async function openNodeClock(dependencies: NodeClockDependencies): Promise<NodeClock> {
  const { clock: wall, monotonic, databaseNow, store, logger } = dependencies
  /** The reference minus the monotonic clock. Before the first comparison, the clock does not agree. */
  let offset = Number.NEGATIVE_INFINITY
  let known: (KnownTime & { readonly at: number }) | undefined
  /** The latest time of the reference that was read. */
  let latest = Number.NEGATIVE_INFINITY as EpochMs
  let step: { readonly offset: number; readonly since: number } | undefined
  let confirmation: EpochMs | undefined
  let hasSecondClock = false
  let notedAt = Number.NEGATIVE_INFINITY
  let comparedAt = Number.NEGATIVE_INFINITY
  let comparing: Promise<void> | undefined
  let isReported = false

  function differenceMs(): number {
    const aheadMs = wall() - monotonic() - offset
    return Math.abs(aheadMs) <= CLOCK_TOLERANCE_MS ? 0 : aheadMs
  }

  /** Brings what is known up to the present. */
  function advance(): typeof known {
    if (known === undefined) return undefined
    const at = monotonic()
    const { agreedAt, deletionTime: from } = known
    const to = differenceMs() === 0 ? moveDeletions(from, at - known.at, wall()) : from
    return (known = { agreedAt, deletionTime: to, at })
  }

  /** Makes the wall clock the reference from now on. */
  function agree(now: EpochMs, at: number): void {
    known = { agreedAt: now, deletionTime: advance()?.deletionTime ?? now, at }
    offset = now - at
    latest = now
    step = undefined
  }

  /** Follows the clock of the database, which decides at once. */
  function followDatabase(there: EpochMs, asked: { readonly now: EpochMs; readonly at: number }): void {
    const at = monotonic()
    const now = wall()
    // The wall clock stepped while the database was asked, so the comparison is worthless.
    if (Math.abs(now - asked.now - (at - asked.at)) > CLOCK_TOLERANCE_MS) return
    const aheadMs = aheadOf(there, asked.now, now)
    if (Math.abs(aheadMs) > CLOCK_TOLERANCE_MS) {
      latest = (now - aheadMs) as EpochMs
      offset = latest - at
      // A slow reply can hide a difference as long as the reply took.
    } else if (at - asked.at <= CLOCK_TOLERANCE_MS) agree(now, at)
  }

  /** No second clock: the wall clock continues from the time at which it agreed, or stepped to a plausible time and ran steadily since. */
  async function followNotes(): Promise<void> {
    const notes = await store.findClockNotes()
    const at = monotonic()
    const now = wall()
    if (known === undefined || notes.confirmation !== confirmation) return begin(notes, now, at)
    if (Math.abs(now - at - offset) <= CLOCK_TOLERANCE_MS) return agree(now, at)
    if (step === undefined || Math.abs(now - at - step.offset) > CLOCK_TOLERANCE_MS) {
      step = { offset: now - at, since: at }
    }
    if (at - step.since >= STEADY_MS && isPlausible(now, advance() ?? known)) agree(now, at)
  }

  function begin(notes: ClockNotes, now: EpochMs, at: number): void {
    const time = knownTime(notes) ?? { agreedAt: now, deletionTime: now }
    // A confirmation is noted at once, so that it is followed only once.
    notedAt = notes.confirmation === notes.node?.confirmation ? at : Number.NEGATIVE_INFINITY
    confirmation = notes.confirmation
    known = { ...time, at }
    latest = isPlausible(now, time) ? now : time.agreedAt
    offset = latest - at
  }

  async function compareNow(): Promise<void> {
    const asked = { now: wall(), at: monotonic() }
    const there = await databaseNow()
    hasSecondClock = there !== undefined
    if (there === undefined) await followNotes()
    else followDatabase(there, asked)
    comparedAt = monotonic()
    report()
  }

  function compare(): Promise<void> {
    return (comparing ??= compareNow().finally(() => (comparing = undefined)))
  }

  function deletionTime(): EpochMs | undefined {
    const time = advance()
    return differenceMs() === 0 ? time?.deletionTime : undefined
  }

  function report(): void {
    const aheadMs = differenceMs()
    if (isReported === (aheadMs !== 0)) return
    isReported = aheadMs !== 0
    if (isReported) logger.error({ event: 'clock.differs', ahead_ms: Math.round(aheadMs), remedy: remedy() })
    else logger.info({ event: 'clock.agrees' })
  }

  function remedy(): string {
    const confirm = hasSecondClock ? '' : ' If it is right now, run: grantor clock confirm'
    return `Synchronize the clock (NTP).${confirm}`
  }

  async function note(): Promise<void> {
    const deletions = deletionTime()
    if (hasSecondClock || deletions === undefined) return
    notedAt = monotonic()
    await store.noteClock({ agreedAt: wall(), deletionTime: deletions, confirmation })
  }

  async function check(): Promise<void> {
    const differed = isReported
    report()
    if (differed || isReported || monotonic() - comparedAt >= COMPARE_INTERVAL_MS) await compare()
    if (monotonic() - notedAt >= NOTE_INTERVAL_MS) await note()
  }

  function logFailure(cause: unknown): void {
    // /health/ready and every request report an unavailable store already.
    if (!(cause instanceof StoreUnavailable)) logger.error({ event: 'clock.comparison-failed', err: cause })
  }

  await compare()
  return {
    compare,
    databaseNow,
    deletionTime,
    differenceMs,
    wall,
    clock() {
      const now = wall()
      // Reading a clock can take a microsecond, so the monotonic clock is read only when the wall clock went back.
      return now < latest - CLOCK_TOLERANCE_MS ? (Math.max(now, Math.floor(monotonic() + offset)) as EpochMs) : now
    },
    now() {
      const now = wall()
      if (Math.abs(now - monotonic() - offset) <= CLOCK_TOLERANCE_MS) return (latest = now)
      report()
      throw unavailable('clock_differs', 1)
    },
    start() {
      const run = (): void => void check().then(undefined, logFailure)
      run()
      const timer = setInterval(run, CHECK_INTERVAL_MS).unref()
      return async () => {
        clearInterval(timer)
        await note().then(undefined, logFailure)
      }
    },
  }
}

/** Returns how far a clock is ahead of the database's, at least: that was read at some time between `before` and `after`. */
function aheadOf(there: EpochMs, before: EpochMs, after: EpochMs): number {
  if (there < before) return before - there
  return there > after ? after - there : 0
}
