import { setTimeout as delay } from 'node:timers/promises'
import { openAsker, WrongAnswer } from './soak-asker.ts'
import type { SoakMessage, SoakOrder, SoakRequest } from './soak-order.ts'
import { openSoakTimes } from './soak-times.ts'
import { MIX, openVisit, type Step, type Visit } from './soak-visit.ts'

/** The load process of a soak. Each connection simulates a user and a client until the process gets the order to stop. */

const STEPS: readonly Step[] = (Object.entries(MIX) as [Step, number][]).flatMap(([step, share]) =>
  Array.from({ length: share }, () => step),
)
/** A step that is coprime to 100, so that steps of the same kind are spread evenly and each occurs as often as planned. */
const STRIDE = 37
const OFFSET = 11
/** The pause after a wrong answer, so that a server that is down does not get millions of requests. */
const PAUSE_MS = 100

const times = openSoakTimes()
const end = new AbortController()
let loops: readonly Promise<void>[] = []
let registered = 0

async function openLoop(order: SoakOrder, index: number): Promise<() => Promise<void>> {
  const { port, connections, rate, visitSeconds } = order
  const asker = await openAsker(port, times, (reason) => say({ kind: 'failed', reason }))
  const distanceMs = rate === undefined ? 0 : (connections * 1000) / rate
  const open = (): Promise<Visit> => openVisit(asker, { port, number: () => registered++ })
  let visit = await open()
  // The users do not sign in at the same time, because signing in costs as much as a hundred requests.
  let visitUntilMs = performance.now() + visitSeconds * 1000 * (0.5 + index / connections / 2)
  let turn = index * OFFSET
  let nextMs = performance.now() + (distanceMs * index) / connections

  async function take(): Promise<void> {
    if (performance.now() > visitUntilMs) {
      visit = await open()
      visitUntilMs = performance.now() + visitSeconds * 1000
    }
    turn += 1
    await visit.steps[STEPS[(turn * STRIDE) % STEPS.length] ?? 'jwks']()
  }

  return async () => {
    while (!end.signal.aborted) {
      const waitMs = nextMs - performance.now()
      if (waitMs > 0) await delay(waitMs)
      // A connection that is behind its schedule does not send more requests to make up for it.
      nextMs = Math.max(nextMs + distanceMs, performance.now())
      await take().catch(async (cause: unknown) => {
        times.failed(`${new Date().toISOString()} ${String(cause)}`)
        if (!(cause instanceof WrongAnswer)) await delay(PAUSE_MS)
      })
    }
    asker.close()
  }
}

async function start(order: SoakOrder): Promise<void> {
  const opened: (() => Promise<void>)[] = []
  // Users sign in one after the other, because the server checks few passwords at a time.
  for (let index = 0; index < order.connections; index += 1) opened.push(await openLoop(order, index))
  times.take()
  loops = opened.map((loop) => loop())
  say({ kind: 'started' })
}

async function answer(request: SoakRequest): Promise<void> {
  switch (request.kind) {
    case 'start':
      return start(request.order)
    case 'read':
      return say({ kind: 'interval', interval: times.take() })
    case 'stop':
      end.abort()
      await Promise.all(loops)
      return say({ kind: 'stopped' })
  }
}

function say(message: SoakMessage): void {
  process.send?.(message)
}

process.on('disconnect', () => process.exit())
process.on('message', (request: SoakRequest) => {
  answer(request).catch((cause: unknown) => say({ kind: 'failed', reason: String(cause) }))
})
say({ kind: 'ready' })
