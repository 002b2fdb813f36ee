import { openConnection, type Connection } from './connection.ts'
import { openBodies } from './bodies.ts'
import { headOf } from './request-head.ts'
import type { GeneratorMessage, Slice, SliceResult } from './slice.ts'
import { quantile } from './statistics.ts'

/** The load generator process. It receives slices over IPC and returns their results. */

/** Runs one slice. Rejects at the first unexpected answer. */
export async function runSlice(slice: Slice): Promise<SliceResult> {
  const bodies = openBodies(slice.bodies, slice.isFresh)
  const head = headOf(slice)
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
        if (now <= deadlineMs) {
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
    return {
      answered,
      // If the list of bodies was used up, the slice ended with the last answer.
      elapsedMs: bodies.isSpent() ? lastMs - startMs : slice.seconds * 1000,
      total: latenciesMs.length,
      p50Ms: quantile(latenciesMs, 0.5),
      p99Ms: quantile(latenciesMs, 0.99),
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

function say(message: GeneratorMessage): void {
  process.send?.(message)
}

if (process.send !== undefined) {
  process.on('disconnect', () => process.exit())
  process.on('message', (slice: Slice) => {
    runSlice(slice).then(
      (result) => say({ kind: 'done', result }),
      (cause: unknown) => say({ kind: 'failed', reason: String(cause) }),
    )
  })
  say({ kind: 'ready' })
}
