import { renderHostile, type HostileRow } from './hostile-rounds.ts'
import { renderSilent, type SilentRow } from './hostile-silent.ts'
import type { OverloadOptions } from './overload-options.ts'
import type { KindTimes, OverloadResult } from './overload-order.ts'
import type { Machine } from './result.ts'
import { renderTable } from './table.ts'

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
  readonly silent: SilentRow | undefined
}

/** Whether every answer was allowed. */
export function isRight(report: OverloadReport): boolean {
  return resultsOf(report).every(({ wrong }) => wrong === 0) && report.silent?.hasEnded !== true
}

/** The report as text for a terminal. Its tables are Markdown. */
export function renderOverload(report: OverloadReport): string {
  const { machine, options, capacity, offered, floods, hostile, silent } = report
  return [
    `${report.date} · ${machine.processor}, ${machine.cores} cores · Grantor ${machine.grantor} · Node.js ${machine.node} · ${options.store === 'sqlite' ? `SQLite ${machine.sqlite}, synchronous = full` : 'PostgreSQL'}`,
    `${options.endpoint}: ${capacity.toFixed(0)} a second can be served; each load ${options.seconds} s`,
    '',
    renderTable(
      ['offered', 'req/s', ...LOAD_HEADS, 'generator late p99'],
      offered.map((row) => [
        `${row.factor.toFixed(1)}×`,
        row.rate.toFixed(0),
        ...loadCells(row),
        row.result.lateP99Ms.toFixed(1),
      ]),
    ),
    '',
    renderTable(
      ['connections that never wait', ...LOAD_HEADS, 'bare 503/s', 'p50 ms', 'p99', 'p50 ratio'],
      floods.map((row) => [String(row.connections), ...loadCells(row), ...bareCells(row)]),
    ),
    '',
    renderTable(
      ['shed last', 'beside', '200', 'p50 ms', 'p99', 'worst'],
      [
        ...offered.map((row) => [`${row.factor.toFixed(1)}×`, row] as const),
        ...floods.map((row) => [String(row.connections), row] as const),
      ].flatMap(([beside, { shedLast }]) =>
        shedLast.kinds.map(({ name, count, p50Ms, p99Ms, worstMs }) => [
          name,
          beside,
          String(count),
          p50Ms.toFixed(1),
          p99Ms.toFixed(1),
          worstMs.toFixed(0),
        ]),
      ),
    ),
    '',
    ...(hostile.length === 0 ? [] : [renderHostile(hostile), '']),
    ...(silent === undefined ? [] : [renderSilent(silent), '']),
    ...offered.flatMap(renderRemark),
    `${resultsOf(report).reduce((sum, { wrong }) => sum + wrong, 0)} answers were wrong.`,
    ...resultsOf(report).flatMap(({ wrongs }) => wrongs.map((reason) => `wrong: ${reason}`)),
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

const LOAD_HEADS = [
  '200/s',
  'p50 ms',
  'p99',
  '503/s',
  'p50 ms',
  'p99',
  'within 50 ms',
  'then 200 after ms',
  'RSS MB',
  'of a core',
]

function loadCells({ result, residentMegabytes, coreShare }: LoadRow): readonly string[] {
  const shed = find(result, 'shed')
  return [
    ...timeCells(find(result, 'served')),
    ...timeCells(shed),
    shed === undefined ? '–' : `${(shed.soonShare * 100).toFixed(1)} %`,
    result.recoveredMs.toFixed(0),
    residentMegabytes.toFixed(0),
    `${(coreShare * 100).toFixed(0)} %`,
  ]
}

function bareCells({ result, bare }: FloodRow): readonly string[] {
  const [own, other] = [find(result, 'shed'), bare && find(bare, 'served')]
  const ratio = own === undefined || other === undefined ? '–' : (own.p50Ms / other.p50Ms).toFixed(2)
  return [...timeCells(other), ratio]
}

function timeCells(times: KindTimes | undefined): readonly string[] {
  if (times === undefined) return ['0', '–', '–']
  return [times.perSecond.toFixed(0), times.p50Ms.toFixed(1), times.p99Ms.toFixed(1)]
}

function find({ kinds }: OverloadResult, kind: KindTimes['kind']): KindTimes | undefined {
  return kinds.find((one) => one.kind === kind)
}

function resultsOf({ offered, floods, silent }: OverloadReport): readonly OverloadResult[] {
  const loads = [...offered, ...floods].flatMap(({ result, shedLast }) => [result, shedLast])
  return silent === undefined ? loads : [...loads, silent.alive]
}
