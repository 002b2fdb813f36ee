import { describeMachine, describeStore, type Machine } from '../../tools/machine.ts'
import { drift, median, slope, sum } from '../../tools/statistics.ts'
import { fixed, renderTable } from '../../tools/table.ts'
import type { EndpointTimes, SoakInterval } from './counts.ts'
import type { SoakOptions } from './options.ts'
import type { RowCount } from './rows.ts'

/** A sample: a few seconds of a soak. */
export interface SoakSample {
  /** Seconds from the start of the load to the end of the sample. */
  readonly at: number
  readonly seconds: number
  readonly endpoints: readonly EndpointTimes[]
  /** Processor time of all server processes for a request. undefined on a system without /proc. */
  readonly cpuMicros: number | undefined
  readonly residentMegabytes: number | undefined
  /** The largest size of the write-ahead log in the sample. */
  readonly logMegabytes: number
  readonly databaseMegabytes: number
  /** The share of a core that the load process used. */
  readonly generatorShare: number
}

/** The stored result of a soak. */
export interface SoakResult {
  readonly kind: 'soak'
  readonly date: string
  readonly machine: Machine
  readonly options: Pick<SoakOptions, 'minutes' | 'connections' | 'rate' | 'rows' | 'store'>
  readonly samples: readonly SoakSample[]
  /** The times at which the signing key changed, in seconds from the start of the load. */
  readonly rotationsAt: readonly number[]
  readonly rowsBefore: readonly RowCount[]
  readonly rowsAfter: readonly RowCount[]
  readonly failed: number
  readonly failures: readonly string[]
}

/** The summary of a soak. */
export interface SoakSummary {
  readonly requests: number
  readonly requestsPerSecond: number
  /** The change from the second to the last quarter, of the rate and of the processor time of a request. */
  readonly rateDrift: number
  readonly cpuDrift: number
  readonly worst: { readonly name: string; readonly ms: number; readonly at: number }
  readonly logMegabytes: number
  /** The slope of a straight line through the last two thirds. */
  readonly residentMegabytesPerHour: number
}

export function sampleOf(
  interval: SoakInterval,
  { seconds, cpuMs, ...rest }: Omit<SoakSample, 'endpoints' | 'cpuMicros' | 'generatorShare'> & { cpuMs: number },
): SoakSample {
  const requests = requestsOf(interval)
  return {
    ...rest,
    seconds,
    endpoints: interval.endpoints,
    cpuMicros: Number.isNaN(cpuMs) ? undefined : (cpuMs * 1000) / requests,
    generatorShare: interval.generatorCpuMs / 1000 / seconds,
  }
}

export function summarizeSoak(samples: readonly SoakSample[]): SoakSummary {
  const requests = sum(samples.map(requestsOf))
  const worst = samples
    .flatMap(({ at, endpoints }) => endpoints.map(({ name, worstMs }) => ({ name, ms: worstMs, at })))
    .reduce((one, other) => (other.ms > one.ms ? other : one))
  return {
    requests,
    requestsPerSecond: requests / sum(samples.map(({ seconds }) => seconds)),
    rateDrift: drift(samples.map((sample) => requestsOf(sample) / sample.seconds)),
    cpuDrift: drift(samples.map(({ cpuMicros }) => cpuMicros ?? Number.NaN)),
    worst,
    logMegabytes: Math.max(...samples.map(({ logMegabytes }) => logMegabytes)),
    residentMegabytesPerHour: slope(
      samples
        .slice(Math.floor(samples.length / 3))
        .map(({ at, residentMegabytes }) => [at / 3600, residentMegabytes ?? Number.NaN]),
    ),
  }
}

/** The report as text for a terminal. Its tables are Markdown. */
export function renderSoak(result: SoakResult): string {
  const { machine, options, samples, failed, failures } = result
  const summary = summarizeSoak(samples)
  const { worst } = summary
  return [
    `${describeMachine(result.date, machine)} · ${describeStore(options.store, machine)}`,
    `${options.minutes} minutes, ${options.connections} connections, ${options.rate === undefined ? 'as fast as the answers come' : `${options.rate} requests a second`}, ${options.rows} rows of each kind at the start, ${result.rotationsAt.length} changes of the signing key`,
    '',
    `${summary.requests} requests, ${summary.requestsPerSecond.toFixed(0)}/s, ${failed} with an unexpected answer`,
    `drift, last quarter against the second: rate ${changeOf(summary.rateDrift)}, processor time of a request ${changeOf(summary.cpuDrift)}`,
    `worst request: ${worst.ms.toFixed(0)} ms (${worst.name}, in the ${samples[0]?.seconds.toFixed(0)} seconds before second ${worst.at.toFixed(0)})`,
    `largest write-ahead log: ${summary.logMegabytes.toFixed(1)} MB`,
    `memory: ${summary.residentMegabytesPerHour.toFixed(1)} MB an hour over the last two thirds, ${fixed(samples.at(-1)?.residentMegabytes, 0)} MB at the end`,
    '',
    renderEndpoints(samples),
    '',
    renderCourse(samples),
    '',
    renderRows(result),
    ...failures.map((failure) => `failed: ${failure}`),
  ].join('\n')
}

function renderEndpoints(samples: readonly SoakSample[]): string {
  const groups = Map.groupBy(
    samples.flatMap(({ endpoints }) => endpoints),
    ({ name }) => name,
  )
  const middle = (all: readonly EndpointTimes[], read: (one: EndpointTimes) => number): number => median(all.map(read))
  return renderTable(
    [...groups],
    [
      ['endpoint', ([name]) => name],
      ['requests', ([, all]) => String(sum(all.map(({ count }) => count)))],
      [
        'p50 ms',
        ([, all]) =>
          fixed(
            middle(all, ({ p50Ms }) => p50Ms),
            1,
          ),
      ],
      [
        'p99 ms',
        ([, all]) =>
          fixed(
            middle(all, ({ p99Ms }) => p99Ms),
            1,
          ),
      ],
      [
        'worst of a sample, median',
        ([, all]) =>
          fixed(
            middle(all, ({ worstMs }) => worstMs),
            0,
          ),
      ],
      ['worst ms', ([, all]) => fixed(worstOf(all), 0)],
    ],
  )
}

/** Twelve rows for a soak of any length. */
const COURSE_ROWS = 12

function renderCourse(samples: readonly SoakSample[]): string {
  const size = Math.max(1, Math.ceil(samples.length / COURSE_ROWS))
  const rows = [...Map.groupBy(samples, (sample) => Math.floor(samples.indexOf(sample) / size)).values()]
  return renderTable(rows, [
    ['until second', (some) => fixed(some.at(-1)?.at, 0)],
    ['req/s', (some) => fixed(sum(some.map(requestsOf)) / sum(some.map(({ seconds }) => seconds)), 0)],
    ['CPU µs', (some) => fixed(median(some.map(({ cpuMicros }) => cpuMicros ?? Number.NaN)), 0)],
    ['worst ms', (some) => fixed(worstOf(some.flatMap(({ endpoints }) => endpoints)), 0)],
    ['RSS MB', (some) => fixed(median(some.map((one) => one.residentMegabytes ?? Number.NaN)), 0)],
    ['log MB, most', (some) => fixed(Math.max(...some.map(({ logMegabytes }) => logMegabytes)), 0)],
    ['database MB', (some) => fixed(some.at(-1)?.databaseMegabytes, 0)],
  ])
}

function renderRows({ rowsBefore, rowsAfter }: SoakResult): string {
  return renderTable(rowsAfter, [
    ['table', ({ table }) => table],
    ['rows before', ({ table }) => String(rowsBefore.find((one) => one.table === table)?.rows ?? 0)],
    ['after', ({ rows }) => String(rows)],
    ['of them due to go', ({ due }) => fixed(due, 0)],
  ])
}

function requestsOf({ endpoints }: Pick<SoakSample, 'endpoints'>): number {
  return sum(endpoints.map(({ count }) => count))
}

function worstOf(endpoints: readonly EndpointTimes[]): number {
  return Math.max(...endpoints.map(({ worstMs }) => worstMs))
}

/** A factor as a change with a sign. */
function changeOf(factor: number): string {
  const change = (factor - 1) * 100
  return `${change < 0 ? '−' : '+'}${Math.abs(change).toFixed(1)} %`
}
