import { setTimeout as delay } from 'node:timers/promises'
import { serveCalls, startWorker, type Worker } from '../../tools/process/worker.ts'
import { openClient, WrongAnswer } from './client.ts'
import { openSoakCounts, type SoakInterval } from './counts.ts'
import { MIX, openSession, type Session, type Step } from './session.ts'

/** The load of a soak, in a worker process. Each connection simulates a user and a client until the load is stopped. */
export interface SoakPlan {
  readonly port: number
  readonly connections: number
  /** Requests per second of all connections together. undefined: each connection sends the next request after an answer. */
  readonly rate: number | undefined
  /** How long a user's session is used before the user signs in again with another client. */
  readonly sessionSeconds: number
}

export function startSoakLoad(): Promise<Worker<typeof functions>> {
  return startWorker(new URL(import.meta.url), undefined)
}

const STEPS: readonly Step[] = (Object.entries(MIX) as [Step, number][]).flatMap(([step, share]) =>
  Array.from({ length: share }, () => step),
)
/** A step that is coprime to 100, so that steps of the same kind are spread evenly and each occurs as often as planned. */
const STRIDE = 37
const OFFSET = 11
/** The pause after a wrong answer, so that a server that is down does not get millions of requests. */
const PAUSE_MS = 100

const counts = openSoakCounts()
const end = new AbortController()
let loops: readonly Promise<void>[] = []
let brokenBy: string | undefined
let registered = 0

async function openLoop(plan: SoakPlan, index: number): Promise<() => Promise<void>> {
  const { port, connections, rate, sessionSeconds } = plan
  const client = await openClient(port, counts, (reason) => (brokenBy ??= reason))
  const distanceMs = rate === undefined ? 0 : (connections * 1000) / rate
  const open = (): Promise<Session> => openSession(client, { port, number: () => registered++ })
  let session = await open()
  // The users do not sign in at the same time, because signing in costs as much as a hundred requests.
  let sessionUntilMs = performance.now() + sessionSeconds * 1000 * (0.5 + index / connections / 2)
  let turn = index * OFFSET
  let nextMs = performance.now() + (distanceMs * index) / connections

  async function take(): Promise<void> {
    if (performance.now() > sessionUntilMs) {
      session = await open()
      sessionUntilMs = performance.now() + sessionSeconds * 1000
    }
    turn += 1
    await session.steps[STEPS[(turn * STRIDE) % STEPS.length] ?? 'jwks']()
  }

  return async () => {
    while (!end.signal.aborted) {
      const waitMs = nextMs - performance.now()
      if (waitMs > 0) await delay(waitMs)
      // A connection that is behind its schedule does not send more requests to make up for it.
      nextMs = Math.max(nextMs + distanceMs, performance.now())
      await take().catch(async (cause: unknown) => {
        counts.addFailure(`${new Date().toISOString()} ${String(cause)}`)
        if (!(cause instanceof WrongAnswer)) await delay(PAUSE_MS)
      })
    }
    client.close()
  }
}

const functions = {
  async start(plan: SoakPlan): Promise<void> {
    const opened: (() => Promise<void>)[] = []
    // Users sign in one after the other, because the server checks few passwords at a time.
    for (let index = 0; index < plan.connections; index += 1) opened.push(await openLoop(plan, index))
    counts.take()
    loops = opened.map((loop) => loop())
  },
  /** The results since the last call. @throws Error if the server closed a connection */
  read(): SoakInterval {
    if (brokenBy !== undefined) throw new Error(brokenBy)
    return counts.take()
  },
  async stop(): Promise<void> {
    end.abort()
    await Promise.all(loops)
  },
}
if (import.meta.main) serveCalls(functions)
