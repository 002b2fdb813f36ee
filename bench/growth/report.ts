import { describeMachine, describeStore, type Machine } from '../../tools/machine.ts'
import { median } from '../../tools/statistics.ts'
import { fixed, percent, renderTable } from '../../tools/table.ts'
import type { ScreenTimes } from './console.ts'
import { EVENTS_OF_LINK } from './fill.ts'
import type { RowBytes, SweepRun } from './size.ts'
import type { SearchTimes } from './search.ts'

/** The cost of one operation with a number of rows, in microseconds, one value for each round. */
export interface GrowthCost {
  readonly operation: string
  readonly rows: number
  /** Whether the pages of the file were in memory before; absent, like the members below, in results of before 2026-12. */
  readonly pages?: 'in memory' | 'on the disk' | undefined
  readonly wallMicros: readonly number[]
  /** Processor time of this process. It includes that of SQLite, but not that of PostgreSQL. */
  readonly cpuMicros: readonly number[]
  /** Bytes that an operation adds to the write-ahead log. */
  readonly logBytes: number
  /** Milliseconds of an operation, among 64 at a time. */
  readonly p50Ms?: number
  readonly p99Ms?: number
  /** Bytes that an operation reads from the disk. SQLite only. */
  readonly readBytes?: number
}

/** What the largest store takes as a whole. */
export interface GrowthWhole {
  readonly rows: number
  readonly fileBytes: number
  readonly rowBytes: readonly RowBytes[]
  readonly sweep: SweepRun
  readonly openingMs: number
  /** Seconds of the commands; undefined: PostgreSQL. */
  readonly doctor: number | undefined
  readonly doctorDeep: number | undefined
  readonly backup: number | undefined
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
  readonly whole?: GrowthWhole
}

/** The report as text for a terminal. Its table is Markdown. */
export function renderGrowth({ date, machine, store, operations, costs, whole }: GrowthResult): string {
  const toFewest = (cost: GrowthCost, read: (cost: GrowthCost) => readonly number[]): string => {
    const same = costs.filter(({ operation }) => operation === cost.operation)
    const fewest = same.reduce((one, other) => (other.rows < one.rows ? other : one))
    return fixed(median(read(cost)) / median(read(fewest)), 2)
  }
  return [
    `${describeMachine(date, machine)} · ${describeStore(store, machine)}`,
    `medians of ${costs[0]?.wallMicros.length ?? 0} rounds of ${operations} operations, 64 at a time, every commit synced`,
    '',
    renderTable(costs, [
      ['operation', ({ operation }) => operation],
      ['families', ({ rows }) => String(rows)],
      ['pages', ({ pages }) => pages ?? '–'],
      ['p50 ms', ({ p50Ms }) => fixedIf(p50Ms, 1)],
      ['p99 ms', ({ p99Ms }) => fixedIf(p99Ms, 1)],
      ['read bytes', ({ readBytes }) => fixedIf(readBytes, 0)],
      ['µs', ({ wallMicros }) => fixed(median(wallMicros), 1)],
      ['CPU µs', ({ cpuMicros }) => fixed(median(cpuMicros), 1)],
      ['log bytes', ({ logBytes }) => fixed(logBytes, 0)],
      ['µs to the fewest', (cost) => toFewest(cost, ({ wallMicros }) => wallMicros)],
      ['CPU to the fewest', (cost) => toFewest(cost, ({ cpuMicros }) => cpuMicros)],
    ]),
    ...(whole === undefined ? [] : renderWhole(whole)),
  ].join('\n')
}

function renderWhole(whole: GrowthWhole): readonly string[] {
  return [
    '',
    renderTable(whole.rowBytes, [
      ['table or index', ({ name }) => name],
      ['bytes of a row', ({ bytes }) => fixed(bytes, 0)],
    ]),
    '',
    renderTable(wholeLines(whole), [
      [`${whole.rows} families`, ([what]) => what],
      ['', ([, value]) => value],
    ]),
  ]
}

function fixedIf(value: number | undefined, digits: number): string {
  return value === undefined ? '–' : fixed(value, digits)
}

function wholeLines({ fileBytes, sweep, openingMs, doctor, doctorDeep, backup, rowBytes }: GrowthWhole) {
  const bytesOf = (...names: readonly string[]): number =>
    rowBytes.filter(({ name }) => names.some((one) => name.includes(one))).reduce((sum, { bytes }) => sum + bytes, 0)
  const seconds = (value: number | undefined): string => `${fixedIf(value, 1)} s`
  return [
    ['file', `${fixed(fileBytes / 1e9, 2)} GB`],
    ['opening', `${fixed(openingMs, 0)} ms`],
    ['doctor', seconds(doctor)],
    ['doctor --deep', seconds(doctorDeep)],
    ['backup', seconds(backup)],
    ['a round of the sweep, a twentieth over', `${fixed(sweep.hours, 1)} hours, ${sweep.removed} removed`],
    ['CPU of a slice; of a removed row', `${fixed(sweep.sliceMs, 3)} ms; ${fixed(sweep.rowMicros, 0)} µs`],
    ['share of a core', percent(sweep.share, 3)],
    [
      'computed for 100 million families',
      `grants ${fixed(bytesOf('grants') / 10, 1)} GB, as many consents ${fixed(bytesOf('consents') / 10, 1)} GB; the sweep ${percent(sweep.shareOfHundredMillion, 2)} of a core`,
    ],
  ] as const
}

/** The stored result of a run with the console. */
export interface ConsoleResult {
  readonly kind: 'console'
  readonly date: string
  readonly machine: Machine
  readonly store: 'sqlite' | 'postgres'
  /** Clients, users and grants. */
  readonly rows: number
  /** Requests for each screen. */
  readonly visits: number
  readonly screens: readonly ScreenTimes[]
}

/** The report as text for a terminal. Its table is Markdown. */
export function renderConsole({ date, machine, store, rows, visits, screens }: ConsoleResult): string {
  return [
    `${describeMachine(date, machine)} · ${describeStore(store, machine)}`,
    `${rows} clients, users and grants, ${rows * EVENTS_OF_LINK} audit events; each screen ${visits} times, one request after the other`,
    '',
    renderTable(screens, [
      ['screen', ({ screen }) => screen],
      ['p50 ms', ({ p50Ms }) => fixed(p50Ms, 1)],
      ['p95 ms', ({ p95Ms }) => fixed(p95Ms, 1)],
      ['CPU p50', ({ cpuP50Ms }) => fixed(cpuP50Ms, 1)],
      ['CPU p95', ({ cpuP95Ms }) => fixed(cpuP95Ms, 1)],
      ['kB', ({ bytes }) => fixed(bytes / 1000, 1)],
    ]),
  ].join('\n')
}

/** The stored result of a run with the search. */
export interface SearchResult extends SearchTimes {
  readonly kind: 'search'
  readonly date: string
  readonly machine: Machine
  readonly store: 'sqlite' | 'postgres'
  readonly users: number
}

/** The report as text for a terminal. Its tables are Markdown. */
export function renderSearch({
  date,
  machine,
  store,
  users,
  searches,
  indexedPerSecond,
  signUps,
}: SearchResult): string {
  return [
    `${describeMachine(date, machine)} · ${describeStore(store, machine)}`,
    `${users} users, of which the index gets ${fixed(indexedPerSecond, 0)} a second while there are no requests`,
    '',
    renderTable(searches, [
      ['search', ({ text }) => text],
      ['p50 ms', ({ p50Ms }) => fixed(p50Ms, 1)],
      ['p95 ms', ({ p95Ms }) => fixed(p95Ms, 1)],
    ]),
    '',
    renderTable(signUps, [
      ['sign-ups', ({ state }) => state],
      ['p50 ms', ({ p50Ms }) => fixed(p50Ms, 2)],
      ['p99 ms', ({ p99Ms }) => fixed(p99Ms, 2)],
      ['p99 to alone', ({ p99Ms }) => fixed(p99Ms / (signUps[0]?.p99Ms ?? Number.NaN), 2)],
      ['waited', ({ waitedShare }) => percent(waitedShare, 1)],
      ['p99 to others', ({ p99Ms, othersP99Ms }) => fixed(p99Ms / othersP99Ms, 2)],
      ['indexed/s', (times) => fixed(times.indexedPerSecond, 0)],
    ]),
  ].join('\n')
}
