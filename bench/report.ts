import { renderDatabase, renderFactors } from './database-report.ts'
import type { Measurement } from './measure.ts'
import type { Machine } from './result.ts'
import { renderTable } from './table.ts'

/** The stored result of a run. */
export interface Report {
  readonly date: string
  readonly machine: Machine & {
    readonly pinned: boolean
    /** undefined: no PostgreSQL was measured. */
    readonly postgres: string | undefined
    readonly loadBefore: number
  }
  readonly rounds: number
  readonly seconds: number
  readonly workers: number
  readonly endpoints: readonly Measurement[]
}

/**
 * Whether the ratio reaches its gate by rate and by processor time. On a busy machine one of them alone may pass by chance. An
 * endpoint without a gate always passes.
 */
export function passesGate({ ratio, cpuRatio, gate }: Pick<Measurement, 'ratio' | 'cpuRatio' | 'gate'>): boolean {
  return gate === undefined || Math.min(ratio, cpuRatio ?? ratio) >= gate
}

/** The report as text for a terminal. Its table is Markdown. */
export function renderReport(report: Report): string {
  const { machine, rounds, seconds, endpoints } = report
  return [
    `${report.date} · ${machine.processor}, ${machine.cores} cores${machine.pinned ? `, servers on one, generator${machine.postgres === undefined ? '' : ' and PostgreSQL'} on another` : ', not pinned'} · load ${machine.loadBefore.toFixed(1)} before`,
    `Grantor ${machine.grantor} · Node.js ${machine.node} · SQLite ${machine.sqlite}, synchronous = full${machine.postgres === undefined ? '' : ` · PostgreSQL ${machine.postgres}, fsync and synchronous_commit on`} · ${rounds} rounds of ${seconds} s`,
    '',
    renderRates(endpoints),
    ...renderDatabase(endpoints),
    '',
    `The generator can drive ${endpoints.map((one) => `${one.generatorLimit.toFixed(0)}/s (${nameOf(one)})`).join(', ')}.`,
    ...endpoints.flatMap(renderRemarks),
    ...endpoints.flatMap(renderGate),
    ...renderFactors(endpoints, { workers: report.workers, cores: machine.cores }),
  ].join('\n')
}

function renderRates(endpoints: readonly Measurement[]): string {
  const heads = [
    'endpoint',
    'connections',
    'req/s best',
    'median',
    'spread',
    'bare best',
    'median',
    'spread',
    'ratio',
    'paired',
    'by CPU',
    'p50 ms',
    'p99 ms',
    'CPU µs',
    'bare',
    'RSS MB',
  ]
  const rows = endpoints.map((one) => [
    nameOf(one),
    String(one.connections),
    one.subject.best.toFixed(0),
    one.subject.median.toFixed(0),
    percent(one.subject.spread),
    one.bare.best.toFixed(0),
    one.bare.median.toFixed(0),
    percent(one.bare.spread),
    one.ratio.toFixed(3),
    one.pairedRatio.toFixed(3),
    one.cpuRatio?.toFixed(3) ?? '–',
    one.p50Ms.toFixed(1),
    one.p99Ms.toFixed(1),
    one.cpuMicrosPerRequest?.subject.toFixed(0) ?? '–',
    one.cpuMicrosPerRequest?.bare.toFixed(0) ?? '–',
    one.residentMegabytes?.toFixed(0) ?? '–',
  ])
  return renderTable(heads, rows)
}

function renderRemarks(one: Measurement): readonly string[] {
  const { isUnsteady, bare, bareCoreShare, generatorLimit } = one
  const share = bareCoreShare === undefined ? '' : `, and it got ${percent(bareCoreShare)} of its core`
  const wobble = `${nameOf(one)}: UNSTEADY, the bare server's quartiles lie ${percent(bare.spread)} apart${share}. Other processes use the machine; run again.`
  const bound = `${nameOf(one)}: the generator can drive ${generatorLimit.toFixed(0)}/s, which is too close to the bare server's rate: the ratio is too high.`
  return [...(isUnsteady ? [wobble] : []), ...(generatorLimit < bare.best * 1.15 ? [bound] : [])]
}

function renderGate(one: Measurement): readonly string[] {
  if (one.gate === undefined) return []
  return [
    `${nameOf(one)}: ${passesGate(one) ? 'pass' : 'FAIL'}, ratio ${one.ratio.toFixed(3)}, by processor time ${one.cpuRatio?.toFixed(3) ?? '–'}, gate ${one.gate.toFixed(2)}`,
  ]
}

function nameOf({ endpoint, server }: Measurement): string {
  return server === 'SQLite' ? endpoint : `${endpoint}, ${server}`
}

function percent(part: number): string {
  return `${(part * 100).toFixed(0)} %`
}
