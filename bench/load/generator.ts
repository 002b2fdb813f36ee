import { summarizeTimes } from '../../tools/statistics.ts'
import { serveCalls, startWorker, type Worker } from '../../tools/process/worker.ts'
import { openBodies } from './bodies.ts'
import { headOf, openConnection, type Connection } from './connection.ts'
import type { Slice, SliceResult } from './slice.ts'

/** The load generator, a worker process. */
export type Generator = Worker<typeof functions>

/** Starts the generator on a core. undefined: any core. */
export function startGenerator(core: number | undefined): Promise<Generator> {
  return startWorker(new URL(import.meta.url), core)
}

/** Runs one slice. Rejects at the first unexpected answer. */
export async function runSlice(slice: Slice): Promise<SliceResult> {
  const bodies = openBodies(slice.bodies, slice.isFresh)
  const head = headOf(slice, slice.port, 'headers' in slice.bodies ? slice.bodies.headers : [])
  const latenciesMs: number[] = []
  const connections: Connection[] = []
  const starts: (() => void)[] = []
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  let busy = 0
  let answered = 0
  let lastMs = 0
  let deadlineMs = 0

  async function open(index: number): Promise<void> {
    let sentMs = 0
    let previous = ''
    const connection = await openConnection(slice.port, {
      onAnswer(status, body) {
        const now = performance.now()
        latenciesMs.push(now - sentMs)
        // A slice in which no answer came in time lasts until the first one, so that no rate is zero.
        if (now <= deadlineMs || answered === 0) {
          answered += 1
          lastMs = now
        }
        const fault = findFault(slice, status, body, previous) ?? bodies.take(index, body)
        if (fault !== undefined) return reject(new Error(`${slice.path} ${fault}: ${status} ${body.slice(0, 300)}`))
        previous = body
        next(now)
      },
      onFailure: (reason) => reject(new Error(`${slice.path}: ${reason}`)),
    })
    connections.push(connection)
    starts.push(() => next(performance.now()))

    function next(now: number): void {
      const body = now < deadlineMs ? bodies.next(index) : undefined
      if (body === undefined) {
        busy -= 1
        if (busy === 0) resolve()
        return
      }
      sentMs = now
      connection.send(slice.method === 'GET' ? head : `${head}${body.length}\r\n\r\n${body}`)
    }
  }

  try {
    await Promise.all(Array.from({ length: slice.connections }, (_, index) => open(index)))
    const cpu = process.cpuUsage()
    const startMs = performance.now()
    deadlineMs = startMs + slice.seconds * 1000
    busy = starts.length
    for (const start of starts) start()
    await promise
    const { user, system } = process.cpuUsage(cpu)
    const { count, p50Ms, p99Ms } = summarizeTimes(latenciesMs)
    return {
      answered,
      // If the list of bodies was used up, the slice ended with the last answer.
      elapsedMs: bodies.isSpent() ? lastMs - startMs : Math.max(lastMs - startMs, slice.seconds * 1000),
      total: count,
      p50Ms,
      p99Ms,
      generatorCpuMs: (user + system) / 1000,
      tokens: bodies.tokens(),
    }
  } finally {
    for (const connection of connections) connection.close()
  }
}

function findFault(slice: Slice, status: number, body: string, previous: string): string | undefined {
  if (status !== slice.status) return `must answer ${slice.status}`
  if (!body.includes(slice.contains)) return `must answer with ${slice.contains}`
  return slice.isFresh && body === previous ? 'gave the same answer twice' : undefined
}

const functions = { runSlice }
if (import.meta.main) serveCalls(functions)
