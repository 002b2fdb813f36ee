import { setTimeout as delay } from 'node:timers/promises'
import type { Context, StoreNeeds } from '../../ports/context.ts'
import {
  COUNTED_TABLES,
  NOTHING_COUNTED,
  type CountedTable,
  type Counts,
  type RowCount,
} from '../../ports/records/row-counts.ts'
import type { Walk } from '../../ports/walks.ts'
import type { EpochMs } from '../../base/brand.ts'
import type { Log } from '../log.ts'

/** Rows of a slice. It grows and shrinks so that a slice takes about so many milliseconds: a SQLite file serves no request meanwhile. */
const SLICE = { least: 500, most: 20_000, wantedMs: 5 } as const
/**
 * The pause after a slice, in lengths of the slice, and the least. So the first count, until whose end there are no numbers, takes half of
 * the time of one connection, and a later one a quarter.
 */
const PAUSE = { ofFirst: 1, ofLater: 3, leastMs: 5 } as const
/** The rest between two counts, in lengths of the last one, and the least. So counts take a tenth of the time, however many rows there are. */
const REST = { counts: 9, leastMs: 60_000 } as const
/** How often the place of a count that is under way is stored. What a killed node counted since is counted again. */
const SAVE_MS = 15_000
const INTERVAL_MS = 2000

type Needs = Pick<Context, 'clock'> &
  StoreNeeds<'findRowCounts' | 'replaceSetting' | 'walkClients' | 'walkGrants' | 'walkUsers'>

interface Counter extends Needs {
  /** Milliseconds, from any start. */
  readonly monotonic: () => number
  readonly pause: (milliseconds: number) => Promise<unknown>
}

/** Returns where the next slice starts, '' at the end, and how many rows of the slice have each state. */
type ReadSlice = (walk: Walk) => Promise<{ readonly next: string; readonly counts: Counts }>

/**
 * Counts the rows of large tables in slices, on the node that holds the lease, and keeps in the store what is counted. Never reads a whole
 * table at once. Returns the function that stops this.
 */
export function startCounting(
  counter: Omit<Counter, 'pause'>,
  logger: Log,
  isHolder: () => boolean,
): () => Promise<void> {
  const end = new AbortController()
  let working: Promise<void> | undefined
  const work = (): void => {
    if (working !== undefined || !isHolder()) return
    working = countDue({ ...counter, pause: delay }, () => !end.signal.aborted && isHolder())
      .then(undefined, (cause: unknown) => logger.error({ event: 'store.count-failed', err: cause }))
      .finally(() => (working = undefined))
  }
  work()
  const timer = setInterval(work, INTERVAL_MS).unref()
  return async () => {
    end.abort()
    clearInterval(timer)
    await working
  }
}

/**
 * Counts the tables whose last count is old enough, to the end or while `mayGoOn`. A count goes on where the store says that it is, whichever
 * node was there. The tables take turns, so that a small one does not wait for a large one.
 */
export async function countDue({ clock, monotonic, pause, store }: Counter, mayGoOn: () => boolean): Promise<void> {
  const reads: Readonly<Record<CountedTable, ReadSlice>> = {
    async grants(walk) {
      const { next, ...counts } = await store.walkGrants(walk)
      return { next, counts }
    },
    async clients(walk) {
      const { next, ...counts } = await store.walkClients(walk)
      return { next, counts }
    },
    async users(walk) {
      const { next, ...counts } = await store.walkUsers(walk)
      return { next, counts }
    },
  }
  const record: Record<CountedTable, RowCount> = { ...NOTHING_COUNTED, ...(await store.findRowCounts()) }
  let due = COUNTED_TABLES.filter((table) => isDue(record[table], clock()))
  if (due.length === 0) return
  const save = () => store.replaceSetting({ name: 'row-counts', value: JSON.stringify(record) })
  const sizes: Record<CountedTable, number> = {
    grants: SLICE.least,
    clients: SLICE.least,
    users: SLICE.least,
  }
  let savedAt = monotonic()
  while (due.length > 0 && mayGoOn()) {
    for (const table of due) {
      const running = record[table].running ?? { after: '', counts: {}, begunAt: clock(), countedMs: 0 }
      const startedAt = monotonic()
      const slice = await reads[table]({ after: running.after, limit: sizes[table], now: clock() })
      const tookMs = monotonic() - startedAt
      const slices = record[table].finished === undefined ? PAUSE.ofFirst : PAUSE.ofLater
      const pauseMs = slice.next === '' ? 0 : Math.max(PAUSE.leastMs, tookMs * slices)
      sizes[table] = sizeAfter(sizes[table], tookMs)
      const { begunAt } = running
      const counted = {
        begunAt,
        counts: add(running.counts, slice.counts),
        countedMs: running.countedMs + tookMs + pauseMs,
      }
      record[table] =
        slice.next === ''
          ? { finished: { ...counted, endedAt: clock() } }
          : { ...record[table], running: { ...counted, after: slice.next } }
      await pause(pauseMs)
    }
    const left = due.filter((table) => record[table].running !== undefined)
    const isOver = left.length < due.length
    due = left
    if (!isOver && monotonic() - savedAt < SAVE_MS) continue
    await save()
    savedAt = monotonic()
  }
  if (due.length > 0) await save()
}

/** A clock that was set back makes a count due, instead of never. */
function isDue({ finished, running }: RowCount, now: EpochMs): boolean {
  if (finished === undefined || running !== undefined) return true
  return Math.abs(now - finished.endedAt) >= Math.max(REST.leastMs, finished.countedMs * REST.counts)
}

function sizeAfter(size: number, tookMs: number): number {
  if (tookMs < SLICE.wantedMs / 2) return Math.min(SLICE.most, size * 2)
  return tookMs > SLICE.wantedMs * 2 ? Math.max(SLICE.least, Math.round(size / 2)) : size
}

function add(some: Counts, more: Counts): Counts {
  return Object.fromEntries(Object.entries(more).map(([state, value]) => [state, (some[state] ?? 0) + value]))
}
