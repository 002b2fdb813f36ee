import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import type { DatabaseUse, DatabaseWatch } from './database.ts'
import type { Endpoint } from './endpoints.ts'
import type { Options } from './options.ts'
import { takeSample } from './sample.ts'
import { readTreeUsage } from './process-tree.ts'
import type { Answer, Bodies, GeneratorMessage, Slice, SliceResult } from './slice.ts'
import { quantile, CORE_SHARE_LIMIT, summarize, WOBBLE_LIMIT, type Summary } from './statistics.ts'

/** Everything that is up during the run. */
export interface Stage {
  readonly generator: ChildProcess
  readonly bare: BareServer
  readonly subject: {
    /** For a reader: what runs there. */
    readonly name: string
    readonly pid: number
    readonly port: number
    /** undefined: the database is in the process itself. */
    readonly database: DatabaseWatch | undefined
  }
}

export interface BareServer {
  readonly pid: number
  readonly port: number
  /** From now on it gives this answer. */
  readonly imitate: (answer: Answer) => Promise<void>
}

/** What one endpoint did. Rates are answers per second. */
export interface Measurement {
  readonly endpoint: string
  readonly server: string
  readonly connections: number
  readonly subject: Summary
  readonly bare: Summary
  /** Best of rounds against best of rounds. */
  readonly ratio: number
  /** Median of the ratios of neighbouring slices. */
  readonly pairedRatio: number
  readonly gate: number | undefined
  /** Medians of the slices. */
  readonly p50Ms: number
  readonly p99Ms: number
  /** Of all threads of the server. undefined where there is no /proc. */
  readonly cpuMicrosPerRequest: { readonly subject: number; readonly bare: number } | undefined
  /** The bare server's processor time against the subject's. Who else uses the machine hardly changes it; waiting for the disk is not in it. */
  readonly cpuRatio: number | undefined
  readonly residentMegabytes: number | undefined
  /** What the generator could drive at most, by the processor time that it took for the bare server's answers. */
  readonly generatorLimit: number
  /** The part of its core that the bare server got: all of it, unless something else ran there. */
  readonly bareCoreShare: number | undefined
  /** The bare server did too unevenly, or got too little of its core, for the rates to say much. */
  readonly isUnsteady: boolean
  readonly answerBytes: { readonly headers: number; readonly body: number }
  /** Of the database, where it has processes of its own. */
  readonly database: DatabaseShare | undefined
}

/** What a request costs the database. undefined: it could not be counted. */
export interface DatabaseShare {
  readonly cpuMicrosPerRequest: number | undefined
  readonly requestsPerCommit: number | undefined
  readonly statementsPerRequest: number | undefined
}

/** One slice, and the processor time that the server took for it. Of the database, what it had done before and after. */
type Turn = SliceResult & { readonly cpuMs: number | undefined; readonly database: readonly DatabaseUse[] }

/** The log of the store is moved into its file after a slice; that belongs to the slice, not to the one after it. */
const SETTLE_LIMIT_MS = 350
/** The compiler needs about four seconds, on the core that it shares with the server, until it has seen enough. */
const WARM_UP_ROUNDS = 4
const FIRST_GUESS_PER_SECOND = 4000

/** Warms both servers up, then lets them take turns. */
export async function measure(
  stage: Stage,
  endpoint: Endpoint,
  connections: number,
  { seconds, rounds }: Options,
): Promise<Measurement> {
  const sample = await takeSample(stage, endpoint)
  const settleMs = Math.min(SETTLE_LIMIT_MS, seconds * 500)
  let expectedRate = FIRST_GUESS_PER_SECOND
  let bodies: Bodies = { kind: 'same', body: '' }

  async function loadSubject(): Promise<Turn> {
    bodies = await endpoint.prepare(Math.ceil(expectedRate * seconds * 1.4) + connections, connections)
    await delay(settleMs)
    const { database } = stage.subject
    const before = await database?.read()
    const turn = await loadServer(stage.subject, true)
    const after = await database?.read()
    endpoint.carryOn?.(turn)
    expectedRate = rateOf(turn)
    return before === undefined || after === undefined ? turn : { ...turn, database: [before, after] }
  }

  async function loadServer(
    { pid, port }: { readonly pid: number; readonly port: number },
    isFresh: boolean,
  ): Promise<Turn> {
    const { method, path, contentType, status, contains } = endpoint
    const slice: Slice = {
      port,
      method,
      path,
      contentType,
      status,
      contains,
      connections,
      seconds,
      bodies,
      isFresh: isFresh && !endpoint.repeats,
    }
    const before = readTreeUsage(pid)
    const result = await load(stage.generator, slice)
    if (isFresh) await delay(settleMs)
    const after = readTreeUsage(pid)
    return { ...result, cpuMs: before && after && after.cpuMs - before.cpuMs, database: [] }
  }

  for (let round = 0; round < Math.min(WARM_UP_ROUNDS, rounds); round += 1) {
    await loadSubject()
    await loadServer(stage.bare, false)
  }
  const subject: Turn[] = []
  const bare: Turn[] = []
  for (let round = 0; round < rounds; round += 1) {
    subject.push(await loadSubject())
    bare.push(await loadServer(stage.bare, false))
  }
  return { ...compare(subject, bare), ...describe(stage, endpoint, connections, sample) }
}

async function load(generator: ChildProcess, slice: Slice): Promise<SliceResult> {
  const answer = once(generator, 'message') as Promise<[GeneratorMessage]>
  generator.send(slice)
  const [message] = await answer
  if (message.kind === 'done') return message.result
  throw new Error(message.kind === 'failed' ? message.reason : 'The generator started twice.')
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

function rateOf({ answered, elapsedMs }: SliceResult): number {
  return (answered * 1000) / elapsedMs
}

/** NaN where there is no /proc. */
function cpuMicros(turns: readonly Turn[]): number {
  const cpuMs = turns.reduce((sum, turn) => sum + (turn.cpuMs ?? Number.NaN), 0)
  return (cpuMs * 1000) / sumOf(turns, 'total')
}

function median(values: readonly number[]): number {
  return quantile(values, 0.5)
}

function sumOf(turns: readonly Turn[], member: 'total' | 'generatorCpuMs'): number {
  return turns.reduce((sum, turn) => sum + turn[member], 0)
}
