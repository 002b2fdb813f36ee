import type { EpochMs } from '../../base/brand.ts'

/** The tables whose rows are counted. */
export const COUNTED_TABLES = ['grants', 'clients', 'users'] as const
export type CountedTable = (typeof COUNTED_TABLES)[number]

/** Rows by state: `live`, `over`; `used`, `unused`, `disabled`. Of users also `indexed`, those that the index of a search has. */
export type Counts = Readonly<Record<string, number>>

/** A count that reached the end of its table. */
export interface FinishedCount {
  readonly counts: Counts
  readonly begunAt: EpochMs
  readonly endedAt: EpochMs
  /** How long a node counted, without the time in which no node did. */
  readonly countedMs: number
}

/** A count that is under way. */
export interface RunningCount {
  readonly counts: Counts
  readonly begunAt: EpochMs
  readonly countedMs: number
  /** Where the last slice ended; '' at first. */
  readonly after: string
}

export interface RowCount {
  /** Absent before the first count has reached the end. */
  readonly finished?: FinishedCount | undefined
  readonly running?: RunningCount | undefined
}

/** What the store remembers of its row counts, so that another node or the next start goes on with them. */
export type RowCountsRecord = Readonly<Record<CountedTable, RowCount>>

export const NOTHING_COUNTED: RowCountsRecord = { grants: {}, clients: {}, users: {} }
