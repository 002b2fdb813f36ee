import { describeMachine, describeStore, type Machine } from '../../tools/machine.ts'
import { fixed, percent, renderTable, type Column } from '../../tools/table.ts'
import { renderDatabase, renderFactors } from './database-report.ts'
import type { Measurement } from './measure.ts'

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

/** The report as text for a terminal. Its tables are Markdown. */
export function renderReport({ date, machine, rounds, seconds, workers, endpoints }: Report): string {
  const { pinned, postgres, loadBefore, cores } = machine
  const generator = postgres === undefined ? 'generator' : 'generator and PostgreSQL'
  return [
    `${describeMachine(date, machine)} · ${pinned ? `servers on one core, ${generator} on another` : 'not pinned'} · load ${loadBefore.toFixed(1)} before`,
    [
      describeStore('sqlite', machine),
      ...(postgres === undefined
        ? []
        : [describeStore('postgres', machine).replace('PostgreSQL', `PostgreSQL ${postgres}`)]),
      `${rounds} rounds of ${seconds} s`,
    ].join(' · '),
    '',
    renderTable(endpoints, COLUMNS),
    ...renderDatabase(endpoints),
    '',
    `The generator can drive ${endpoints.map((one) => `${one.generatorLimit.toFixed(0)}/s (${nameOf(one)})`).join(', ')}.`,
    ...endpoints.flatMap(renderRemarks),
    ...endpoints.flatMap(renderGate),
    ...renderFactors(endpoints, { workers, cores }),
  ].join('\n')
}

const COLUMNS: readonly Column<Measurement>[] = [
  ['endpoint', nameOf],
  ['connections', ({ connections }) => String(connections)],
  ['req/s best', ({ subject }) => fixed(subject.best, 0)],
  ['median', ({ subject }) => fixed(subject.median, 0)],
  ['spread', ({ subject }) => percent(subject.spread)],
  ['bare best', ({ bare }) => fixed(bare.best, 0)],
  ['median', ({ bare }) => fixed(bare.median, 0)],
  ['spread', ({ bare }) => percent(bare.spread)],
  ['ratio', ({ ratio }) => fixed(ratio, 3)],
  ['paired', ({ pairedRatio }) => fixed(pairedRatio, 3)],
  ['by CPU', ({ cpuRatio }) => fixed(cpuRatio, 3)],
  ['p50 ms', ({ p50Ms }) => fixed(p50Ms, 1)],
  ['p99 ms', ({ p99Ms }) => fixed(p99Ms, 1)],
  ['CPU µs', ({ cpuMicrosPerRequest }) => fixed(cpuMicrosPerRequest?.subject, 0)],
  ['bare', ({ cpuMicrosPerRequest }) => fixed(cpuMicrosPerRequest?.bare, 0)],
  ['RSS MB', ({ residentMegabytes }) => fixed(residentMegabytes, 0)],
]

function renderRemarks(one: Measurement): readonly string[] {
  const { isUnsteady, bare, bareCoreShare, generatorLimit } = one
  const share = bareCoreShare === undefined ? '' : `, and it got ${percent(bareCoreShare)} of its core`
  const unsteady = `${nameOf(one)}: UNSTEADY, the bare server's quartiles lie ${percent(bare.spread)} apart${share}. Other processes use the machine; run again.`
  const bound = `${nameOf(one)}: the generator can drive ${generatorLimit.toFixed(0)}/s, which is too close to the bare server's rate: the ratio is too high.`
  return [...(isUnsteady ? [unsteady] : []), ...(generatorLimit < bare.best * 1.15 ? [bound] : [])]
}

function renderGate(one: Measurement): readonly string[] {
  if (one.gate === undefined) return []
  return [
    `${nameOf(one)}: ${passesGate(one) ? 'pass' : 'FAIL'}, ratio ${one.ratio.toFixed(3)}, by processor time ${fixed(one.cpuRatio, 3)}, gate ${one.gate.toFixed(2)}`,
  ]
}

function nameOf({ endpoint, server }: Measurement): string {
  return server === 'SQLite' ? endpoint : `${endpoint}, ${server}`
}
