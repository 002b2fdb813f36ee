import type { Context, StoreNeeds } from '../../ports/context.ts'
import { FIGURE_SPANS, type FigureRecord, type FigureSpan } from '../../ports/records/figures.ts'
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
 * Writes what this process counted, a row for each span of five minutes and of an hour, as differences of the counters of `/metrics` (decision
 * 0046). No request waits for it.
 */
export interface FigureWriter {
  /** Begins to write. Returns the function that stops this. */
  readonly start: () => () => void
  /** Writes what is due. Never fails: what was not written is kept for the next attempt. */
  readonly write: () => Promise<void>
  /** Writes what was counted since the last row, before the store is closed. */
  readonly close: () => Promise<void>
}

interface Dependencies extends Pick<Context, 'clock' | 'clockCheck' | 'random'>, StoreNeeds<'addFigures'> {
  /** The counters now. */
  readonly count: () => readonly Sample[]
  readonly logger: Readonly<Record<'warn', (fields: EventFields) => void>>
}

/** What is known of one span. */
interface Counting {
  readonly span: FigureSpan
  /** What the counters showed when the span began. */
  reading: FigureReading
  beganAt: EpochMs
  /** A row whose attempt failed, or whose outcome is unknown. It keeps its id, so that it is added once. */
  waiting: FigureRecord | undefined
}

export function openFigureWriter({ clock, clockCheck, random, store, count, logger }: Dependencies): FigureWriter {
  const node = random(NODE_BYTES).toString('base64url')
  const first = readFigures(count())
  const counting = (Object.keys(FIGURE_SPANS) as FigureSpan[]).map((span): Counting => {
    return { span, reading: first, beganAt: startOf(span, clock()), waiting: undefined }
  })
  let underWay: Promise<void> | undefined
  let isLost = false

  /** Returns the row of a span that has ended. `isLast`: also of one that has not, if anything was counted. */
  function cut(one: Counting, isLast: boolean): FigureRecord | undefined {
    const now = clock()
    const start = startOf(one.span, now)
    if (start === one.beganAt && !isLast) return undefined
    const reading = readFigures(count())
    const counts = countsBetween(one.reading, reading)
    if (isLast && Object.keys(counts).length === 0) return undefined
    const endedAt = isLast ? now : start
    one.reading = reading
    one.beganAt = start
    return { id: mintOrderedId(endedAt, random), node, span: one.span, endedAt, counts }
  }

  async function writeRow(one: Counting, isLast: boolean): Promise<void> {
    one.waiting ??= cut(one, isLast)
    if (one.waiting === undefined) return
    await store.addFigures(one.waiting)
    one.waiting = undefined
  }

  async function writeAll(isLast: boolean): Promise<void> {
    try {
      // What is counted while the clock differs belongs to no time. It is part of the next row.
      if (clockCheck.differenceMs() !== 0) return
      await Promise.all(
        counting.map(async (one) => {
          if (one.waiting !== undefined) await writeRow(one, false)
          await writeRow(one, isLast)
        }),
      )
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
  return (now - (now % FIGURE_SPANS[span])) as EpochMs
}
