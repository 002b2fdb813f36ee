import type { Context, StoreNeeds } from '../../ports/context.ts'
import { FIGURE_SPAN_NAMES, FIGURE_SPANS, type FigureRecord, type FigureSpan } from '../../ports/records/figures.ts'
import type { EpochMs } from '../../base/brand.ts'
import type { EventFields } from '../../protocol/audit/event-names.ts'
import { mintOrderedId } from '../../protocol/ids.ts'
import type { Sample } from '../../metrics/families.ts'
import { countsBetween, readFigures, type FigureReading } from '../../metrics/figures.ts'

/** How often the end of a span is looked for, and a row that was not written is written again. */
const CHECK_INTERVAL_MS = 10_000
/** A stop has half a second left when everything else took as long as it may (cli/serve/close-on-signal.ts). */
const CLOSE_LIMIT_MS = 400
const NODE_BYTES = 6

/**
 * Writes what this process counted, as differences of the counters of `/metrics`: every five minutes the row of these, and those
 * of the hour and of the day, which it replaces until they end. Then, and at a stop, it merges them with those of other processes. No request
 * waits for it.
 */
export interface FigureWriter {
  /** Begins to write. Returns the function that stops this. */
  readonly start: () => () => void
  /** Writes what is due. Never fails: what was not written is kept for the next attempt. */
  readonly write: () => Promise<void>
  /** Writes what was counted since the last rows, before the store is closed. */
  readonly close: () => Promise<void>
}

interface Dependencies
  extends Pick<Context, 'clock' | 'clockCheck' | 'random'>, StoreNeeds<'writeFigures' | 'mergeFigures'> {
  /** The counters now. */
  readonly count: () => readonly Sample[]
  readonly logger: Readonly<Record<'warn', (fields: EventFields) => void>>
}

/** What is known of one span. */
interface Counting {
  readonly span: FigureSpan
  /** When the span of the row began, and what the counters showed then. */
  beganAt: EpochMs
  first: FigureReading
  /** The row keeps its id, so that an attempt whose outcome is unknown counts once. */
  id: string
  /** Up to when the row is written, and what the counters showed then. */
  writtenAt: EpochMs
  written: FigureReading
  /** An attempt that failed, or whose outcome is unknown. */
  waiting: Attempt | undefined
  /** `new`: the store has no row. `over`: the row is to be merged. `left`: a sweep merges it, because an attempt failed. */
  state: 'new' | 'written' | 'over' | 'left'
}

interface Attempt {
  readonly record: FigureRecord
  readonly reading: FigureReading
}

/** The span whose end decides when rows are written. */
const [FINEST = '5m'] = FIGURE_SPAN_NAMES

export function openFigureWriter({ clock, clockCheck, random, store, count, logger }: Dependencies): FigureWriter {
  const node = random(NODE_BYTES).toString('base64url')
  const openedAt = clock()
  const opened = readFigures(count())
  const counting = FIGURE_SPAN_NAMES.map((span): Counting => {
    const beganAt = startOf(span, openedAt)
    const writtenAt = startOf(FINEST, openedAt)
    return {
      span,
      beganAt,
      first: opened,
      id: idOf(beganAt),
      writtenAt,
      written: opened,
      waiting: undefined,
      state: 'new',
    }
  })
  let underWay: Promise<void> | undefined
  let isLost = false

  function idOf(beganAt: EpochMs): string {
    return mintOrderedId(beganAt, random)
  }

  async function writeRows(endedAt: EpochMs, isLast: boolean): Promise<void> {
    const reading = readFigures(count())
    const results = await Promise.allSettled(counting.map((one) => writeRow(one, { endedAt, reading, isLast })))
    const failed = results.find((result) => result.status === 'rejected')
    if (failed !== undefined) throw failed.reason
  }

  /** Writes the row of a span up to a time, and first the row of an earlier span whose attempt failed. */
  async function writeRow(
    one: Counting,
    { endedAt, reading, isLast }: { endedAt: EpochMs; reading: FigureReading; isLast: boolean },
  ): Promise<void> {
    if (one.state === 'over') await end(one, one.beganAt)
    if (endedAt === one.writtenAt && !isLast) return
    const { span } = one
    const beganAt = startOf(span, (endedAt - 1) as EpochMs)
    if (beganAt !== one.beganAt) {
      if (one.waiting !== undefined) await attempt(one, one.waiting)
      await end(one, beganAt)
    }
    // A clock that was set back: the row counts on when the time is reached again.
    else if (endedAt < one.writtenAt) return
    const { waiting } = one
    // The store keeps the latest time, so what has one time is the same in each attempt.
    if (waiting !== undefined && waiting.record.endedAt >= endedAt) await attempt(one, waiting)
    else if (!isLast || waiting !== undefined || Object.keys(countsBetween(one.written, reading)).length > 0) {
      const record = { id: one.id, node, span, beganAt, endedAt, counts: countsBetween(one.first, reading) }
      await attempt(one, { record, reading })
    }
    if (isLast || endedAt === beganAt + FIGURE_SPANS[span].ms) await end(one, beganAt)
  }

  async function attempt(one: Counting, waiting: Attempt): Promise<void> {
    const isCertain = one.waiting === undefined
    const state = isCertain && one.state !== 'left' ? 'written' : 'left'
    one.waiting = waiting
    const outcome = await store.writeFigures(waiting.record)
    one.waiting = undefined
    // A sweep merged the row as it was written last. What it lacks is part of the next one, unless an attempt may have added it.
    if (outcome === 'superseded' && isCertain) return void (one.state = 'left')
    one.writtenAt = waiting.record.endedAt
    one.written = waiting.reading
    one.state = state
  }

  /**
   * Merges the row, and begins another one. All attempts to write it have succeeded, so that none can add it again afterwards, and a merge
   * whose outcome is unknown can be repeated.
   */
  async function end(one: Counting, beganAt: EpochMs): Promise<void> {
    if (one.state === 'written' || one.state === 'over') {
      one.state = 'over'
      await store.mergeFigures({ id: one.id, span: one.span, beganAt: one.beganAt })
    }
    Object.assign(one, { beganAt, id: idOf(beganAt), first: one.written, state: 'new' })
  }

  async function writeAll(isLast: boolean): Promise<void> {
    try {
      // What is counted while the clock differs belongs to no time. It is part of the next row.
      if (clockCheck.differenceMs() !== 0) return
      const now = clock()
      await writeRows(isLast ? now : startOf(FINEST, now), isLast)
      isLost = false
    } catch (cause) {
      if (!isLost) logger.warn({ event: 'store.unavailable', err: cause })
      isLost = true
    }
  }

  function write(): Promise<void> {
    return (underWay ??= writeAll(false).finally(() => (underWay = undefined)))
  }

  return {
    write,
    start() {
      const timer = setInterval(() => void write(), CHECK_INTERVAL_MS).unref()
      return () => clearInterval(timer)
    },
    async close() {
      let timer: NodeJS.Timeout | undefined
      const limit = new Promise<void>((resolve) => void (timer = setTimeout(resolve, CLOSE_LIMIT_MS)))
      await Promise.race([write().then(() => writeAll(true)), limit])
      clearTimeout(timer)
    },
  }
}

function startOf(span: FigureSpan, now: EpochMs): EpochMs {
  return (now - (now % FIGURE_SPANS[span].ms)) as EpochMs
}
