import type { ChildProcess } from 'node:child_process'
import type { DatabaseUse, DatabaseWatch } from './database.ts'
import type { Endpoint } from './endpoints.ts'
import type { Options } from './options.ts'
import { takeSample } from './sample.ts'
import { readTreeUsage } from './process-tree.ts'
import type { Answer } from './slice.ts'
import { quantile, CORE_SHARE_LIMIT, summarize, WOBBLE_LIMIT, type Summary } from './statistics.ts'
import { cpuMicros, openLoad, rateOf, WARM_UP_ROUNDS, type LoadedServer, type Turn } from './turn.ts'

/** All servers and processes of a run. */
export interface Stage {
  readonly generator: ChildProcess
  readonly bare: BareServer
  readonly subject: LoadedServer & {
    /** The name of the server for a reader. */
    readonly name: string
    /** undefined: the database is in the process of the server. */
    readonly database: DatabaseWatch | undefined
  }
}

export interface BareServer extends LoadedServer {
  /** Sets the answer of the bare server. */
  readonly imitate: (answer: Answer) => Promise<void>
}

/** The measurement of one endpoint. Rates are answers per second. */
export interface Measurement {
  readonly endpoint: string
  readonly server: string
  readonly connections: number
  readonly subject: Summary
  readonly bare: Summary
  /** The ratio of the best rounds. */
  readonly ratio: number
  /** The median of the ratios of neighbouring slices. */
  readonly pairedRatio: number
  readonly gate: number | undefined
  /** The medians of the slices. */
  readonly p50Ms: number
  readonly p99Ms: number
  /** Processor time of all threads of the server. undefined on a system without /proc. */
  readonly cpuMicrosPerRequest: { readonly subject: number; readonly bare: number } | undefined
  /** The ratio of the bare server's processor time to that of the subject. Other load on the machine hardly changes it. It does not include waiting for the disk. */
  readonly cpuRatio: number | undefined
  readonly residentMegabytes: number | undefined
  /** The highest rate that the generator could drive, according to its processor time for the bare server's answers. */
  readonly generatorLimit: number
  /** The share of its core that the bare server got: all of it, unless another process ran there. */
  readonly bareCoreShare: number | undefined
  /** Whether the bare server was too uneven, or got too little of its core, for the rates to be meaningful. */
  readonly isUnsteady: boolean
  readonly answerBytes: { readonly headers: number; readonly body: number }
  /** The cost for the database, if it has processes of its own. */
  readonly database: DatabaseShare | undefined
}

/** The cost of a request for the database. undefined: it could not be counted. */
export interface DatabaseShare {
  readonly cpuMicrosPerRequest: number | undefined
  readonly requestsPerCommit: number | undefined
  readonly statementsPerRequest: number | undefined
}

/** Warms both servers up, then measures them in turn. */
export async function measure(
  stage: Stage,
  endpoint: Endpoint,
  connections: number,
  { seconds, rounds }: Options,
): Promise<Measurement> {
  const sample = await takeSample(stage, endpoint)
  const load = openLoad(stage.generator, stage.subject, endpoint, { connections, seconds })

  for (let round = 0; round < Math.min(WARM_UP_ROUNDS, rounds); round += 1) {
    await load.next()
    await load.repeat(stage.bare)
  }
  const subject: Turn[] = []
  const bare: Turn[] = []
  for (let round = 0; round < rounds; round += 1) {
    subject.push(await load.next())
    bare.push(await load.repeat(stage.bare))
  }
  return { ...compare(subject, bare), ...describe(stage, endpoint, connections, sample) }
}

type Rates = Omit<Measurement, Described>
type Described = 'endpoint' | 'server' | 'connections' | 'gate' | 'residentMegabytes' | 'answerBytes'

function compare(subject: readonly Turn[], bare: readonly Turn[]): Rates {
  const subjectRates = subject.map(rateOf)
  const bareRates = bare.map(rateOf)
  const summaries = { subject: summarize(subjectRates), bare: summarize(bareRates) }
  const pairs = subjectRates.map((rate, round) => rate / (bareRates[round] ?? Number.NaN))
  const cpu = { subject: cpuMicros(subject), bare: cpuMicros(bare) }
  const bareShare = median(bare.map(({ cpuMs, elapsedMs }) => (cpuMs ?? Number.NaN) / elapsedMs))
  const hasCpu = !Number.isNaN(cpu.subject + cpu.bare)
  return {
    ...summaries,
    ratio: summaries.subject.best / summaries.bare.best,
    pairedRatio: median(pairs),
    p50Ms: median(subject.map(({ p50Ms }) => p50Ms)),
    p99Ms: median(subject.map(({ p99Ms }) => p99Ms)),
    cpuMicrosPerRequest: hasCpu ? cpu : undefined,
    cpuRatio: hasCpu ? cpu.bare / cpu.subject : undefined,
    generatorLimit: (sumOf(bare, 'total') * 1000) / sumOf(bare, 'generatorCpuMs'),
    bareCoreShare: hasCpu ? bareShare : undefined,
    database: shareOf(subject),
    isUnsteady: summaries.bare.spread > WOBBLE_LIMIT || bareShare < CORE_SHARE_LIMIT,
  }
}

function shareOf(turns: readonly Turn[]): DatabaseShare | undefined {
  const pairs = turns.flatMap(({ database: [before, after] }) => (before && after ? [{ before, after }] : []))
  if (pairs.length === 0) return undefined
  const requests = sumOf(turns, 'total')
  const grown = (read: (use: DatabaseUse) => number | undefined): number =>
    pairs.reduce((sum, { before, after }) => sum + (read(after) ?? Number.NaN) - (read(before) ?? Number.NaN), 0)
  return {
    cpuMicrosPerRequest: orUndefined((grown(({ cpuMs }) => cpuMs) * 1000) / requests),
    requestsPerCommit: orUndefined(requests / grown(({ commits }) => commits)),
    statementsPerRequest: orUndefined(grown(({ statements }) => statements) / requests),
  }
}

function orUndefined(value: number): number | undefined {
  return Number.isFinite(value) ? value : undefined
}

function describe(
  { subject }: Stage,
  { name, gate }: Endpoint,
  connections: number,
  { headers, body }: Answer,
): Pick<Measurement, Described> {
  const usage = readTreeUsage(subject.pid)
  return {
    endpoint: name,
    server: subject.name,
    connections,
    gate,
    residentMegabytes: usage && usage.residentBytes / 1e6,
    answerBytes: { headers: headers.join('').length + headers.length * 2, body: body.length },
  }
}

function median(values: readonly number[]): number {
  return quantile(values, 0.5)
}

function sumOf(turns: readonly Turn[], member: 'total' | 'generatorCpuMs'): number {
  return turns.reduce((sum, turn) => sum + turn[member], 0)
}
