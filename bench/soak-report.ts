import type { EndpointTimes, SoakInterval } from './soak-order.ts'
import type { Machine } from './result.ts'
import type { SoakOptions } from './soak-options.ts'
import type { RowCount } from './soak-store.ts'
import { quantile } from './statistics.ts'
import { renderTable } from './table.ts'
import { drift, slope } from './trend.ts'

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
  readonly options: SoakOptions
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
  const requests = samples.reduce((sum, sample) => sum + requestsOf(sample), 0)
  const worst = samples
    .flatMap(({ at, endpoints }) => endpoints.map(({ name, worstMs }) => ({ name, ms: worstMs, at })))
    .reduce((one, other) => (other.ms > one.ms ? other : one))
  return {
    requests,
    requestsPerSecond: requests / samples.reduce((sum, { seconds }) => sum + seconds, 0),
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
    `${result.date} · ${machine.processor}, ${machine.cores} cores · Grantor ${machine.grantor} · Node.js ${machine.node} · ${options.store === 'sqlite' ? `SQLite ${machine.sqlite}, synchronous = full` : 'PostgreSQL'}`,
    `${options.minutes} minutes, ${options.connections} connections, ${options.rate === undefined ? 'as fast as the answers come' : `${options.rate} requests a second`}, ${options.rows} rows of each kind at the start, ${result.rotationsAt.length} changes of the signing key`,
    '',
    `${summary.requests} requests, ${summary.requestsPerSecond.toFixed(0)}/s, ${failed} with an unexpected answer`,
    `drift, last quarter against the second: rate ${percent(summary.rateDrift)}, processor time of a request ${percent(summary.cpuDrift)}`,
    `worst request: ${worst.ms.toFixed(0)} ms (${worst.name}, in the ${samples[0]?.seconds.toFixed(0)} seconds before second ${worst.at.toFixed(0)})`,
    `largest write-ahead log: ${summary.logMegabytes.toFixed(1)} MB`,
    `memory: ${summary.residentMegabytesPerHour.toFixed(1)} MB an hour over the last two thirds, ${samples.at(-1)?.residentMegabytes?.toFixed(0) ?? '–'} MB at the end`,
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
  const rows = [...groups].map(([name, all]) => [
    name,
    String(all.reduce((sum, { count }) => sum + count, 0)),
    median(all.map(({ p50Ms }) => p50Ms)).toFixed(1),
    median(all.map(({ p99Ms }) => p99Ms)).toFixed(1),
    median(all.map(({ worstMs }) => worstMs)).toFixed(0),
    Math.max(...all.map(({ worstMs }) => worstMs)).toFixed(0),
  ])
  const heads = ['endpoint', 'requests', 'p50 ms', 'p99 ms', 'worst of a sample, median', 'worst ms']
  return renderTable(heads, rows)
}

/** Twelve rows for a soak of any length. */
const COURSE_ROWS = 12

function renderCourse(samples: readonly SoakSample[]): string {
  const size = Math.max(1, Math.ceil(samples.length / COURSE_ROWS))
  const rows: string[][] = []
  for (let start = 0; start < samples.length; start += size) {
    const some = samples.slice(start, start + size)
    const seconds = some.reduce((sum, sample) => sum + sample.seconds, 0)
    rows.push([
      (some.at(-1)?.at ?? 0).toFixed(0),
      (some.reduce((sum, sample) => sum + requestsOf(sample), 0) / seconds).toFixed(0),
      median(some.map(({ cpuMicros }) => cpuMicros ?? Number.NaN)).toFixed(0),
      Math.max(...some.flatMap(({ endpoints }) => endpoints.map(({ worstMs }) => worstMs))).toFixed(0),
      median(some.map(({ residentMegabytes }) => residentMegabytes ?? Number.NaN)).toFixed(0),
      Math.max(...some.map(({ logMegabytes }) => logMegabytes)).toFixed(0),
      (some.at(-1)?.databaseMegabytes ?? 0).toFixed(0),
    ])
  }
  const heads = ['until second', 'req/s', 'CPU µs', 'worst ms', 'RSS MB', 'log MB, most', 'database MB']
  return renderTable(heads, rows)
}

function renderRows({ rowsBefore, rowsAfter }: SoakResult): string {
  const rows = rowsAfter.map(({ table, rows: after, due }) => [
    table,
    String(rowsBefore.find((one) => one.table === table)?.rows ?? 0),
    String(after),
    due === undefined ? '–' : String(due),
  ])
  return renderTable(['table', 'rows before', 'after', 'of them due to go'], rows)
}

function requestsOf({ endpoints }: Pick<SoakSample, 'endpoints'>): number {
  return endpoints.reduce((sum, { count }) => sum + count, 0)
}

function median(values: readonly number[]): number {
  return quantile(values, 0.5)
}

function percent(factor: number): string {
  const change = (factor - 1) * 100
  return `${change < 0 ? '−' : '+'}${Math.abs(change).toFixed(1)} %`
}
