import type { Measurement } from './measure.ts'

/** A whole run, as it is kept. */
export interface Report {
  readonly date: string
  readonly machine: {
    readonly processor: string
    readonly cores: number
    readonly pinned: boolean
    readonly node: string
    readonly sqlite: string
    readonly grantor: string
    readonly loadBefore: number
  }
  readonly connections: number
  readonly rounds: number
  readonly seconds: number
  readonly endpoints: readonly Measurement[]
}

/**
 * Whether the ratio is what it must be, by rate and by processor time: on a busy machine one of them alone passes by luck.
 * An endpoint without a gate always passes.
 */
export function passesGate({ ratio, cpuRatio, gate }: Pick<Measurement, 'ratio' | 'cpuRatio' | 'gate'>): boolean {
  return gate === undefined || Math.min(ratio, cpuRatio ?? ratio) >= gate
}

/** The run as text for a terminal; the table is Markdown as well. */
export function renderReport(report: Report): string {
  const { machine, connections, rounds, seconds, endpoints } = report
  return [
    `${report.date} · ${machine.processor}, ${machine.cores} cores${machine.pinned ? ', servers on one, generator on another' : ', not pinned'} · load ${machine.loadBefore.toFixed(1)} before`,
    `Grantor ${machine.grantor} · Node.js ${machine.node} · SQLite ${machine.sqlite}, synchronous = full · ${connections} connections, ${rounds} rounds of ${seconds} s`,
    '',
    renderTable(endpoints),
    '',
    `The generator can drive ${endpoints.map((one) => `${one.generatorLimit.toFixed(0)}/s (${one.endpoint})`).join(', ')}.`,
    ...endpoints.flatMap(renderRemarks),
    ...endpoints.flatMap(renderGate),
  ].join('\n')
}

function renderTable(endpoints: readonly Measurement[]): string {
  const heads = [
    'endpoint',
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
    one.endpoint,
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
  const widths = heads.map((head, column) =>
    Math.max(...[head, ...rows.map((row) => row[column] ?? '')].map((cell) => cell.length)),
  )
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell, column) => (column === 0 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0))).join(' | ')} |`
  const rule = `|${widths.map((width, column) => (column === 0 ? '-'.repeat(width + 2) : `${'-'.repeat(width + 1)}:`)).join('|')}|`
  return [line(heads), rule, ...rows.map(line)].join('\n')
}

function renderRemarks({ endpoint, isUnsteady, bare, bareCoreShare, generatorLimit }: Measurement): readonly string[] {
  const share = bareCoreShare === undefined ? '' : `, and it got ${percent(bareCoreShare)} of its core`
  const wobble = `${endpoint}: UNSTEADY, the bare server's quartiles lie ${percent(bare.spread)} apart${share}. Something else uses the machine; run again.`
  const bound = `${endpoint}: the generator can drive ${generatorLimit.toFixed(0)}/s, too near to the bare server: the ratio is flattered.`
  return [...(isUnsteady ? [wobble] : []), ...(generatorLimit < bare.best * 1.15 ? [bound] : [])]
}

function renderGate(one: Measurement): readonly string[] {
  if (one.gate === undefined) return []
  return [
    `${one.endpoint}: ${passesGate(one) ? 'pass' : 'FAIL'}, ratio ${one.ratio.toFixed(3)}, by processor time ${one.cpuRatio?.toFixed(3) ?? '–'}, gate ${one.gate.toFixed(2)}`,
  ]
}

function percent(part: number): string {
  return `${(part * 100).toFixed(0)} %`
}
