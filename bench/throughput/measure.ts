import type { DatabaseUse, DatabaseWatch } from '../../tools/postgres/database.ts'
import { readTreeUsage } from '../../tools/process/usage.ts'
import { receive } from '../../tools/send.ts'
import { median, sum, summarize, type Summary } from '../../tools/statistics.ts'
import type { Endpoint } from '../endpoints.ts'
import type { BareServer } from '../load/bare-server.ts'
import { openBodies } from '../load/bodies.ts'
import type { Generator } from '../load/generator.ts'
import { ownHeaders, type Answer } from '../load/slice.ts'
import { cpuMicros, openLoad, rateOf, WARM_UP_ROUNDS, type LoadedServer, type Turn } from '../load/turn.ts'
import type { Options } from './options.ts'

/** If the spread of the rounds is larger, they show more about the machine than about the server. */
const SPREAD_LIMIT = 0.25
/** The lowest share of a core that a fully loaded server gets if it is alone on the core. */
const CORE_SHARE_LIMIT = 0.8

/** All servers and processes of a run. */
export interface Setup {
  readonly generator: Generator
  readonly bare: BareServer
  readonly subject: LoadedServer & {
    /** The name of the server for a reader. */
    readonly name: string
    /** undefined: the database is in the process of the server. */
    readonly database: DatabaseWatch | undefined
  }
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
  setup: Setup,
  endpoint: Endpoint,
  connections: number,
  { seconds, rounds }: Pick<Options, 'seconds' | 'rounds'>,
): Promise<Measurement> {
  const sample = await takeSample(setup, endpoint)
  const load = openLoad(setup.generator, setup.subject, endpoint, { connections, seconds })

  for (let round = 0; round < Math.min(WARM_UP_ROUNDS, rounds); round += 1) {
    await load.next()
    await load.repeat(setup.bare)
  }
  const subject: Turn[] = []
  const bare: Turn[] = []
  for (let round = 0; round < rounds; round += 1) {
    subject.push(await load.next())
    bare.push(await load.repeat(setup.bare))
  }
  return { ...compare(subject, bare), ...describe(setup, endpoint, connections, sample) }
}

/** Gets one right answer, which the bare server then repeats. */
async function takeSample({ subject: { port }, bare }: Setup, endpoint: Endpoint): Promise<Answer> {
  const { method, path, contentType, name } = endpoint
  const bodies = await endpoint.prepare(1, 1)
  const body = method === 'GET' ? undefined : openBodies(bodies, true).next(0)
  const lines = 'headers' in bodies ? (bodies.headers ?? []) : []
  const headers = {
    accept: 'application/json',
    ...(body !== undefined && { 'content-type': contentType }),
    ...Object.fromEntries(lines.map((line) => line.split(': ') as [string, string])),
  }
  const response = await receive({ port, path, headers, ...(body !== undefined && { body }) })
  if (response.status !== endpoint.status || !response.body.includes(endpoint.contains))
    throw new Error(`${name} answers ${response.status} ${response.body}`)
  endpoint.carryOn?.({ total: 1, tokens: [] })
  const answer = { status: response.status, headers: ownHeaders(response.rawHeaders), body: response.body }
  await bare.imitate(answer)
  return answer
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
    isUnsteady: summaries.bare.spread > SPREAD_LIMIT || bareShare < CORE_SHARE_LIMIT,
  }
}

function shareOf(turns: readonly Turn[]): DatabaseShare | undefined {
  const pairs = turns.flatMap(({ database: [before, after] }) => (before && after ? [{ before, after }] : []))
  if (pairs.length === 0) return undefined
  const requests = sumOf(turns, 'total')
  const grown = (read: (use: DatabaseUse) => number | undefined): number =>
    sum(pairs.map(({ before, after }) => (read(after) ?? Number.NaN) - (read(before) ?? Number.NaN)))
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
  { subject }: Setup,
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

function sumOf(turns: readonly Turn[], member: 'total' | 'generatorCpuMs'): number {
  return sum(turns.map((turn) => turn[member]))
}
