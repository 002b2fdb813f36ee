import { describeMachine, describeStore, type Machine } from '../../tools/machine.ts'
import { sum } from '../../tools/statistics.ts'
import { fixed, percent, renderTable, type Column } from '../../tools/table.ts'
import { renderConsoleFloods, type ConsoleRow } from './console.ts'
import { renderHostile, type HostileRow } from './hostile-rounds.ts'
import { renderSilent, type SilentRow } from './hostile-silent.ts'
import { renderIndexing, type IndexingRow } from './indexing.ts'
import type { OverloadOptions } from './options.ts'
import type { KindTimes, OverloadResult } from './plan.ts'

/** One load on the server and its results. */
interface LoadRow {
  readonly result: OverloadResult
  /** The requests to endpoints that must be shed last, during the load. */
  readonly shedLast: OverloadResult
  /** The most memory during the load. */
  readonly residentMegabytes: number
  /** The share of a core that the server got. NaN on a system without /proc. */
  readonly coreShare: number
}

export interface OfferedRow extends LoadRow {
  /** The offered rate, relative to the capacity. */
  readonly factor: number
  readonly rate: number
}

export interface FloodRow extends LoadRow {
  readonly connections: number
  /** The bare server with the same load. undefined: no request was refused, so there was no 503 to repeat. */
  readonly bare: OverloadResult | undefined
}

/** The stored result of a run. */
export interface OverloadReport {
  readonly kind: 'overload'
  readonly date: string
  readonly machine: Machine
  readonly options: OverloadOptions
  /** The rate at which requests are served if none are refused. */
  readonly capacity: number
  readonly offered: readonly OfferedRow[]
  readonly floods: readonly FloodRow[]
  /** Healthy clients while one or many networks send wrong credentials. */
  readonly hostile: readonly HostileRow[]
  readonly silent: readonly SilentRow[]
  readonly console: readonly ConsoleRow[]
  readonly indexing: readonly IndexingRow[]
}

/** Whether every answer was allowed. */
export function isRight(report: OverloadReport): boolean {
  return resultsOf(report).every(({ wrong }) => wrong === 0) && !report.silent.some(({ hasEnded }) => hasEnded)
}

/** The report as text for a terminal. Its tables are Markdown. */
export function renderOverload(report: OverloadReport): string {
  const { date, machine, options, capacity, offered, floods, hostile, silent, console, indexing } = report
  const results = resultsOf(report)
  return [
    `${describeMachine(date, machine)} · ${describeStore(options.store, machine)}`,
    `${options.endpoint}: ${capacity.toFixed(0)} a second can be served; each load ${options.seconds} s`,
    '',
    renderTable(offered, [
      ['offered', nameOf],
      ['req/s', ({ rate }) => fixed(rate, 0)],
      ...LOAD_COLUMNS,
      ['generator late p99', ({ result }) => fixed(result.lateP99Ms, 1)],
    ]),
    '',
    renderTable(floods, [
      ['connections that never wait', nameOf],
      ...LOAD_COLUMNS,
      ...timeColumns<FloodRow>('bare 503/s', ({ bare }) => bare && find(bare, 'served')),
      ['p50 ratio', bareRatio],
    ]),
    '',
    renderTable(
      [...offered, ...floods].flatMap((row) => row.shedLast.kinds.map((kind) => ({ ...kind, beside: nameOf(row) }))),
      [
        ['shed last', ({ name }) => name],
        ['beside', ({ beside }) => beside],
        ['200', ({ count }) => String(count)],
        ['p50 ms', ({ p50Ms }) => fixed(p50Ms, 1)],
        ['p99', ({ p99Ms }) => fixed(p99Ms, 1)],
        ['worst', ({ worstMs }) => fixed(worstMs, 0)],
      ],
    ),
    '',
    ...(hostile.length === 0 ? [] : [renderHostile(hostile), '']),
    ...(silent.length === 0 ? [] : [renderSilent(silent), '']),
    ...(console.length === 0 ? [] : [renderConsoleFloods(console), '']),
    ...(indexing.length === 0 ? [] : [renderIndexing(indexing), '']),
    ...offered.flatMap(renderRemark),
    `${sum(results.map(({ wrong }) => wrong))} answers were wrong.`,
    ...results.flatMap(({ wrongs }) => wrongs.map((reason) => `wrong: ${reason}`)),
  ].join('\n')
}

/** A load that is written late arrives in bursts, whatever its average rate is. */
const LATE_LIMIT_MS = 20

function renderRemark({ factor, result }: OfferedRow): readonly string[] {
  if (result.lateP99Ms < LATE_LIMIT_MS) return []
  return [
    `${factor.toFixed(1)}×: UNSTEADY, of a hundred requests one was written ${result.lateP99Ms.toFixed(0)} ms after it was due. Other processes use the machine, or no connection was free; run again.`,
  ]
}

const LOAD_COLUMNS: readonly Column<LoadRow>[] = [
  ...timeColumns<LoadRow>('200/s', ({ result }) => find(result, 'served')),
  ...timeColumns<LoadRow>('503/s', ({ result }) => find(result, 'shed')),
  ['within 50 ms', ({ result }) => percentOf(find(result, 'shed')?.soonShare)],
  ['then 200 after ms', ({ result }) => fixed(result.recoveredMs, 0)],
  ['RSS MB', ({ residentMegabytes }) => fixed(residentMegabytes, 0)],
  ['of a core', ({ coreShare }) => percent(coreShare)],
]

function timeColumns<Row>(rate: string, read: (row: Row) => KindTimes | undefined): readonly Column<Row>[] {
  return [
    [rate, (row) => fixed(read(row)?.perSecond ?? 0, 0)],
    ['p50 ms', (row) => fixed(read(row)?.p50Ms, 1)],
    ['p99', (row) => fixed(read(row)?.p99Ms, 1)],
  ]
}

function percentOf(part: number | undefined): string {
  return part === undefined ? '–' : percent(part, 1)
}

function bareRatio({ result, bare }: FloodRow): string {
  const [own, other] = [find(result, 'shed'), bare && find(bare, 'served')]
  return own === undefined || other === undefined ? '–' : fixed(own.p50Ms / other.p50Ms, 2)
}

function nameOf(row: OfferedRow | FloodRow): string {
  return 'factor' in row ? `${row.factor.toFixed(1)}×` : String(row.connections)
}

function find({ kinds }: OverloadResult, kind: KindTimes['kind']): KindTimes | undefined {
  return kinds.find((one) => one.kind === kind)
}

function resultsOf({ offered, floods, silent }: OverloadReport): readonly OverloadResult[] {
  const loads = [...offered, ...floods].flatMap(({ result, shedLast }) => [result, shedLast])
  return [...loads, ...silent.map(({ alive }) => alive)]
}
