import { setTimeout as delay } from 'node:timers/promises'
import type { DatabaseUse, DatabaseWatch } from '../../tools/postgres/database.ts'
import { readMainThreadMs, readTreeUsage } from '../../tools/process/usage.ts'
import { sum } from '../../tools/statistics.ts'
import type { Endpoint } from '../endpoints.ts'
import type { Generator } from './generator.ts'
import type { Bodies, SliceResult } from './slice.ts'

/** One slice, the server's processor time for it, and the activity of the database before and after it. */
export type Turn = SliceResult & {
  /** Of all threads. */
  readonly cpuMs: number | undefined
  /** Of the thread that serves requests. */
  readonly mainMs: number | undefined
  readonly database: readonly DatabaseUse[]
}

/** A server under load. */
export interface LoadedServer {
  readonly pid: number
  readonly port: number
}

/** Runs slices of load on one endpoint of a server. */
export interface Load {
  readonly next: () => Promise<Turn>
  /** Repeats the last slice on the bare server. */
  readonly repeat: (bare: LoadedServer) => Promise<Turn>
}

/** V8's compiler, which shares the core with the server, needs about four seconds to optimize the hot functions. */
export const WARM_UP_ROUNDS = 4
/** After a slice the store moves its log into its file. That work is measured with this slice and not with the next one. */
const SETTLE_LIMIT_MS = 350
const FIRST_GUESS_PER_SECOND = 4000

export function openLoad(
  generator: Generator,
  subject: LoadedServer & { readonly database: DatabaseWatch | undefined },
  endpoint: Endpoint,
  { connections, seconds }: { readonly connections: number; readonly seconds: number },
): Load {
  const settleMs = Math.min(SETTLE_LIMIT_MS, seconds * 500)
  let expectedRate = FIRST_GUESS_PER_SECOND
  let bodies: Bodies = { kind: 'same', body: '' }

  async function next(): Promise<Turn> {
    bodies = await endpoint.prepare(Math.ceil(expectedRate * seconds * 1.4) + connections, connections)
    await delay(settleMs)
    const { database } = subject
    const before = await database?.read()
    const turn = await loadServer(subject, true)
    const after = await database?.read()
    endpoint.carryOn?.(turn)
    expectedRate = rateOf(turn)
    return before === undefined || after === undefined ? turn : { ...turn, database: [before, after] }
  }

  async function loadServer({ pid, port }: LoadedServer, isFresh: boolean): Promise<Turn> {
    const { method, path, contentType, status, contains } = endpoint
    const request = { method, path, contentType, status, contains }
    const [before, mainBefore] = [readTreeUsage(pid), readMainThreadMs(pid)]
    const result = await generator.call('runSlice', {
      ...request,
      port,
      connections,
      seconds,
      bodies,
      isFresh: isFresh && !endpoint.repeats,
    })
    if (isFresh) await delay(settleMs)
    const [after, mainAfter] = [readTreeUsage(pid), readMainThreadMs(pid)]
    const mainMs = mainBefore && mainAfter && mainAfter - mainBefore
    return { ...result, cpuMs: before && after && after.cpuMs - before.cpuMs, mainMs, database: [] }
  }

  return { next, repeat: (bare) => loadServer(bare, false) }
}

/** The rate in answers per second. */
export function rateOf({ answered, elapsedMs }: SliceResult): number {
  return (answered * 1000) / elapsedMs
}

/** The processor time of a request over all turns, of all threads or of the main thread. NaN on a system without /proc. */
export function cpuMicros(turns: readonly Turn[], of: 'cpuMs' | 'mainMs' = 'cpuMs'): number {
  return (sum(turns.map((turn) => turn[of] ?? Number.NaN)) * 1000) / sum(turns.map(({ total }) => total))
}
