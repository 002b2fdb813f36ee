import type { Machine } from './result.ts'
import { quantile } from './statistics.ts'
import { renderTable } from './table.ts'

/** The cost of one operation with a number of rows, in microseconds, one value for each round. */
export interface GrowthCost {
  readonly operation: string
  readonly rows: number
  readonly wallMicros: readonly number[]
  /** Processor time of this process. It includes that of SQLite, but not that of PostgreSQL. */
  readonly cpuMicros: readonly number[]
  /** Bytes that an operation adds to the write-ahead log. */
  readonly logBytes: number
}

/** The stored result of a run. */
export interface GrowthResult {
  readonly kind: 'growth'
  readonly date: string
  readonly machine: Machine
  readonly store: 'sqlite' | 'postgres'
  /** Operations in each round. */
  readonly operations: number
  readonly costs: readonly GrowthCost[]
}

/** The report as text for a terminal. Its table is Markdown. */
export function renderGrowth({ date, machine, store, operations, costs }: GrowthResult): string {
  const rows = costs.map((cost) => {
    const base = costs
      .filter(({ operation }) => operation === cost.operation)
      .reduce((one, other) => (other.rows < one.rows ? other : one))
    return [
      cost.operation,
      String(cost.rows),
      median(cost.wallMicros).toFixed(1),
      median(cost.cpuMicros).toFixed(1),
      cost.logBytes.toFixed(0),
      (median(cost.wallMicros) / median(base.wallMicros)).toFixed(2),
      (median(cost.cpuMicros) / median(base.cpuMicros)).toFixed(2),
    ]
  })
  return [
    `${date} · ${machine.processor}, ${machine.cores} cores · Grantor ${machine.grantor} · Node.js ${machine.node} · ${store === 'sqlite' ? `SQLite ${machine.sqlite}, synchronous = full` : 'PostgreSQL, fsync and synchronous_commit on'}`,
    `medians of ${costs[0]?.wallMicros.length ?? 0} rounds of ${operations} operations, 64 at a time, every commit synced`,
    '',
    renderTable(['operation', 'rows', 'µs', 'CPU µs', 'log bytes', 'µs to the fewest', 'CPU to the fewest'], rows),
  ].join('\n')
}

function median(values: readonly number[]): number {
  return quantile(values, 0.5)
}
