import type { Log } from '../log.ts'
import type { ClockCheck, StoreNeeds } from '../../ports/context.ts'
import { StoreUnavailable } from '../../ports/store.ts'
import type { EpochMs } from '../../base/brand.ts'
import { CLOCK_TOLERANCE_MS } from '../../base/clock.ts'
import { unavailable } from '../../protocol/errors.ts'
import {
  advanceClock,
  deletionTime,
  differenceMs,
  isDue,
  UNCOMPARED,
  type ClockEvent,
  type Reading,
} from './clock-state.ts'

/** How often a node checks whether its clock stepped, and how often it compares a clock that differs. */
const CHECK_INTERVAL_MS = 1000

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
 * Compares the wall clock with the reference of clock-state.ts, reports when they begin and cease to differ, and keeps the notes in the store.
 * A step of the wall clock is noticed at the next reading, because each reading compares both clocks.
 */
export async function openNodeClock(dependencies: NodeClockDependencies): Promise<NodeClock> {
  const { clock: wall, monotonic, databaseNow, store, logger } = dependencies
  let state = UNCOMPARED
  /** The latest time of the reference that was read. It changes with each request, and is no part of what is known. */
  let latest = Number.NEGATIVE_INFINITY as EpochMs
  let comparing: Promise<void> | undefined
  let isReported = false

  const read = (): Reading => ({ wall: wall(), at: monotonic() })

  function advance(event: ClockEvent, now: Reading): void {
    state = advanceClock(state, event, now)
  }

  async function compareNow(): Promise<void> {
    const asked = read()
    const there = await databaseNow()
    const event: ClockEvent =
      there === undefined ? { kind: 'notes', notes: await store.findClockNotes() } : { kind: 'database', there, asked }
    const now = read()
    advance(event, now)
    latest = (now.at + state.offset) as EpochMs
    report()
  }

  function compare(): Promise<void> {
    return (comparing ??= compareNow().finally(() => (comparing = undefined)))
  }

  function report(): void {
    const aheadMs = differenceMs(state, read())
    if (isReported === (aheadMs !== 0)) return
    isReported = aheadMs !== 0
    if (isReported) logger.error({ event: 'clock.differs', ahead_ms: Math.round(aheadMs), remedy: remedy() })
    else logger.info({ event: 'clock.agrees' })
  }

  function remedy(): string {
    const confirm = state.hasSecondClock ? '' : ' If it is right now, run: grantor clock confirm'
    return `Synchronize the clock (NTP).${confirm}`
  }

  async function note(): Promise<void> {
    const now = read()
    const deletions = deletionTime(state, now)
    if (state.hasSecondClock || deletions === undefined) return
    advance({ kind: 'noted' }, now)
    await store.noteClock({ agreedAt: now.wall, deletionTime: deletions, confirmation: state.confirmation })
  }

  async function check(): Promise<void> {
    const differed = isReported
    report()
    if (differed || isReported || isDue(state, read()).compare) await compare()
    if (isDue(state, read()).note) await note()
  }

  function logFailure(cause: unknown): void {
    // /health/ready and every request report an unavailable store already.
    if (!(cause instanceof StoreUnavailable)) logger.error({ event: 'clock.comparison-failed', err: cause })
  }

  await compare()
  return {
    compare,
    databaseNow,
    deletionTime() {
      const now = read()
      advance({ kind: 'read' }, now)
      return deletionTime(state, now)
    },
    differenceMs: () => differenceMs(state, read()),
    wall,
    clock() {
      const now = wall()
      // Reading a clock can take a microsecond, so the monotonic clock is read only when the wall clock went back.
      return now < latest - CLOCK_TOLERANCE_MS
        ? (Math.max(now, Math.floor(monotonic() + state.offset)) as EpochMs)
        : now
    },
    now() {
      const now = wall()
      if (Math.abs(now - monotonic() - state.offset) <= CLOCK_TOLERANCE_MS) return (latest = now)
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
