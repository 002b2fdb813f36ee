import { renderMetrics } from './exposition.ts'
import type { Sample } from './families.ts'

/** What the processes of one server say to each other when somebody scrapes one of them. */
type Message =
  | { readonly kind: 'metrics-wanted'; readonly call: number }
  | { readonly kind: 'metrics-told'; readonly call: number; readonly text: string }
  | { readonly kind: 'sample-wanted'; readonly call: number; readonly withCensus: boolean }
  | { readonly kind: 'sample-told'; readonly call: number; readonly samples: readonly Sample[] }

type Send = (message: Message) => void

/** The supervisor's end of a worker. */
export interface WorkerMetrics {
  readonly hear: (message: unknown) => void
  readonly leave: () => void
}

/** How long a worker may take. Prometheus waits for ten seconds. */
const PATIENCE_MS = 2000

/**
 * Gathers the numbers of all workers, each under a number of its own from 1 on, which the worker that takes its place gets
 * again: the series of a scrape stay the same, and Prometheus sees counters that begin anew. One worker looks at the store for
 * all. Of a worker that does not answer only `grantor_up 0` is told.
 */
export function openWorkerMetrics(): { readonly join: (send: Send) => WorkerMetrics } {
  const present = new Map<number, Send>()
  const calls = new Map<number, (worker: number, samples: readonly Sample[]) => void>()
  let last = 0

  async function callAll(): Promise<string> {
    const workers = [...present].toSorted(([left], [right]) => left - right)
    const heard = new Map<number, readonly Sample[]>()
    const call = (last += 1)
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, PATIENCE_MS)
      calls.set(call, (worker, samples) => {
        heard.set(worker, samples)
        if (heard.size < workers.length) return
        clearTimeout(timer)
        resolve()
      })
      for (const [place, [, send]] of workers.entries()) send({ kind: 'sample-wanted', call, withCensus: place === 0 })
    })
    calls.delete(call)
    return renderMetrics(
      workers.map(([worker]) => ({ worker: String(worker), samples: heard.get(worker) ?? [ABSENT] })),
    )
  }

  return {
    join(send) {
      const worker = firstFree(present)
      present.set(worker, send)
      return {
        hear(message) {
          if (!isMessage(message)) return
          const { kind, call } = message
          if (kind === 'sample-told') calls.get(call)?.(worker, message.samples)
          else if (kind === 'metrics-wanted') void callAll().then((text) => send({ kind: 'metrics-told', call, text }))
        },
        leave: () => void present.delete(worker),
      }
    },
  }
}

const ABSENT: Sample = { name: 'grantor_up', labels: [], value: 0 }

function firstFree(taken: ReadonlyMap<number, unknown>): number {
  let free = 1
  while (taken.has(free)) free += 1
  return free
}

/** A worker's end. */
export interface WorkerAggregator {
  /** The metrics of all workers, as text. */
  readonly ask: () => Promise<string>
  readonly hear: (message: unknown, sample: (withCensus: boolean) => Promise<readonly Sample[]>) => void
}

export function openWorkerAggregator(send: Send): WorkerAggregator {
  const waiting = new Map<number, (text: string) => void>()
  let last = 0
  return {
    ask() {
      const call = (last += 1)
      send({ kind: 'metrics-wanted', call })
      return new Promise((resolve) => void waiting.set(call, resolve))
    },
    hear(message, sample) {
      if (!isMessage(message)) return
      const { kind, call } = message
      if (kind === 'sample-wanted') {
        void sample(message.withCensus).then((samples) => send({ kind: 'sample-told', call, samples }))
      } else if (kind === 'metrics-told') {
        waiting.get(call)?.(message.text)
        waiting.delete(call)
      }
    },
  }
}

function isMessage(message: unknown): message is Message {
  return typeof message === 'object' && message !== null && 'kind' in message && 'call' in message
}
