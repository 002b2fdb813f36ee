import { setTimeout as delay } from 'node:timers/promises'
import type { Context, StoreNeeds } from '../../ports/context.ts'
import type { SweptSlice } from '../../ports/operations/server.ts'
import {
  EXAMINED_TABLES,
  FIRST_ROUNDS,
  type ExaminedTable,
  type SweepRound,
  type SweepRoundsRecord,
} from '../../ports/records/sweep-rounds.ts'
import { oldestCode } from '../../tokens/revocation-cutoff.ts'
import type { Log } from '../log.ts'

/** A row that is over waits for the rest of a round, and less than 25 hours with what is added meanwhile and what a restart repeats. */
const ROUND_MS = 23 * 60 * 60 * 1000
/** Rows of a slice. They take SQLite half a millisecond. */
const SLICE = 200
/** From the start of a slice to that of the next one. The least leaves most of the time to requests, and still removes 10,000 rows a second. */
const PAUSE = { leastMs: 20, mostMs: 10_000 } as const
/** How often the place is stored, and the row counts are read. What a killed node examined since is examined again. */
const SAVE_MS = 60_000
const INTERVAL_MS = 10_000

export interface Rounder
  extends
    Pick<Context, 'clockCheck' | 'settings'>,
    StoreNeeds<'findRowCounts' | 'findSweepRounds' | 'replaceSetting' | 'sweepConsents' | 'sweepGrants'> {
  /** Milliseconds, from any start. */
  readonly monotonic: () => number
  readonly pause: (milliseconds: number) => Promise<unknown>
}

/**
 * Examines all grants and consents once a day, on the node that holds the lease, at the same pace all day. The store keeps the place.
 * Returns the function that stops this.
 */
export function startRounds(rounder: Omit<Rounder, 'pause'>, logger: Log, isHolder: () => boolean): () => void {
  const end = new AbortController()
  const pause = (milliseconds: number) => delay(milliseconds, undefined, { ref: false })
  let isWorking = false
  const timer = setInterval(() => {
    if (isWorking || !isHolder()) return
    isWorking = true
    sweepRounds({ ...rounder, pause }, () => !end.signal.aborted && isHolder())
      .then(undefined, (cause: unknown) => logger.error({ event: 'store.sweep-failed', err: cause }))
      .finally(() => (isWorking = false))
  }, INTERVAL_MS).unref()
  return () => {
    end.abort()
    clearInterval(timer)
  }
}

/** Goes on with the rounds where the store says that they are, while `mayGoOn` and the clock of the node does not differ (threats.md STO-13). */
export async function sweepRounds(rounder: Rounder, mayGoOn: () => boolean): Promise<void> {
  const { monotonic, pause, store } = rounder
  const record = { ...FIRST_ROUNDS, ...(await store.findSweepRounds()) }
  const dueAt: Record<ExaminedTable, number> = { grants: 0, consents: 0 }
  let grants = await countGrants(rounder)
  let [saved, savedAt] = [placeOf(record), monotonic()]
  while (mayGoOn()) {
    const table = dueAt.grants <= dueAt.consents ? 'grants' : 'consents'
    await pause(Math.max(PAUSE.leastMs, dueAt[table] - monotonic()))
    if (!mayGoOn()) return
    const startedAt = monotonic()
    const swept = await examineSlice(rounder, table, record[table].after)
    if (swept === undefined) return
    record[table] = roundAfter(record[table], swept)
    dueAt[table] = startedAt + pauseAfter(swept, rowsOf(table, record[table], grants))
    if (monotonic() - savedAt < SAVE_MS) continue
    savedAt = monotonic()
    grants = await countGrants(rounder)
    if (placeOf(record) === saved) continue
    saved = placeOf(record)
    await store.replaceSetting({ name: 'sweep-rounds', value: JSON.stringify(record) })
  }
}

/** Examines the slice after a row. undefined: the clock of the node differs. */
export async function examineSlice(
  {
    clockCheck,
    settings,
    store,
  }: Pick<Rounder, 'clockCheck' | 'settings'> & StoreNeeds<'sweepConsents' | 'sweepGrants'>,
  table: ExaminedTable,
  after: string,
): Promise<SweptSlice | undefined> {
  const now = clockCheck.deletionTime()
  if (now === undefined) return undefined
  const slice = { after, limit: SLICE }
  switch (table) {
    case 'grants':
      return store.sweepGrants({ ...slice, now, before: oldestCode(settings, now) })
    case 'consents':
      return store.sweepConsents(slice)
  }
}

function roundAfter({ before, examined }: SweepRound, swept: SweptSlice): SweepRound {
  const sum = examined + swept.examined
  return swept.next === '' ? { after: '', examined: 0, before: sum } : { after: swept.next, examined: sum, before }
}

/** When a quarter of a slice was over, as among the oldest rows, the next one follows at once. */
function pauseAfter({ removed }: SweptSlice, rows: number): number {
  if (removed >= SLICE / 4) return PAUSE.leastMs
  return Math.min(PAUSE.mostMs, Math.max(PAUSE.leastMs, (ROUND_MS * SLICE) / rows))
}

/** About how many rows a table has. Consents are not counted: until their first round has ended there are as many as grants. */
function rowsOf(table: ExaminedTable, { before, examined }: SweepRound, grants: number): number {
  const counted = table === 'grants' || before === 0 ? grants : 0
  return Math.max(1, before, examined, counted)
}

/** The grants of the last count; of the first one, those that it has so far. */
async function countGrants({ store }: StoreNeeds<'findRowCounts'>): Promise<number> {
  const { finished, running } = (await store.findRowCounts())?.grants ?? {}
  const counts = Object.values((finished ?? running)?.counts ?? {})
  return counts.reduce((sum, count) => sum + count, 0)
}

function placeOf(record: SweepRoundsRecord): string {
  return EXAMINED_TABLES.map((table) => record[table].after).join(' ')
}
