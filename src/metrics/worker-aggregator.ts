import { renderMetrics } from './exposition.ts'
import type { Sample } from './families.ts'

/** The messages between supervisor and workers during a scrape. */
type Message =
  | { readonly kind: 'metrics-wanted'; readonly call: number }
  | { readonly kind: 'metrics'; readonly call: number; readonly text: string }
  | { readonly kind: 'sample-wanted'; readonly call: number; readonly withRowCounts: boolean }
  | { readonly kind: 'sample'; readonly call: number; readonly samples: readonly Sample[] }

type Send = (message: Message) => void

/** The supervisor's side of the channel to one worker. */
export interface WorkerMetrics {
  readonly receive: (message: unknown) => void
  readonly leave: () => void
}

/** How long a worker may take to reply. Prometheus itself waits for ten seconds. */
const REPLY_TIMEOUT_MS = 2000

/**
 * Aggregates the metrics of all workers in the supervisor. Each worker has a number from 1 on as its label `worker`. A
 * restarted worker gets the number of its predecessor, so Prometheus sees a counter reset and no new series. The first worker
 * also reports the row counts, for all workers. A worker that does not reply is reported as `grantor_up 0`.
 */
export function openWorkerMetrics(): { readonly join: (send: Send) => WorkerMetrics } {
  const present = new Map<number, Send>()
  const calls = new Map<number, (worker: number, samples: readonly Sample[]) => void>()
  let last = 0

  async function callAll(): Promise<string> {
    const workers = [...present].toSorted(([left], [right]) => left - right)
    const replies = new Map<number, readonly Sample[]>()
    const call = (last += 1)
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, REPLY_TIMEOUT_MS)
      calls.set(call, (worker, samples) => {
        replies.set(worker, samples)
        if (replies.size < workers.length) return
        clearTimeout(timer)
        resolve()
      })
      for (const [place, [, send]] of workers.entries())
        send({ kind: 'sample-wanted', call, withRowCounts: place === 0 })
    })
    calls.delete(call)
    return renderMetrics(
      workers.map(([worker]) => ({ worker: String(worker), samples: replies.get(worker) ?? [ABSENT] })),
    )
  }

  return {
    join(send) {
      const worker = firstFree(present)
      present.set(worker, send)
      return {
        receive(message) {
          if (!isMessage(message)) return
          const { kind, call } = message
          if (kind === 'sample') calls.get(call)?.(worker, message.samples)
          else if (kind === 'metrics-wanted') void callAll().then((text) => send({ kind: 'metrics', call, text }))
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

/** A worker's side of the channel to the supervisor. */
export interface WorkerAggregator {
  /** Returns the metrics of all workers in the text format of Prometheus. */
  readonly ask: () => Promise<string>
  readonly receive: (message: unknown, sample: (withRowCounts: boolean) => Promise<readonly Sample[]>) => void
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
    receive(message, sample) {
      if (!isMessage(message)) return
      const { kind, call } = message
      if (kind === 'sample-wanted') {
        void sample(message.withRowCounts).then((samples) => send({ kind: 'sample', call, samples }))
      } else if (kind === 'metrics') {
        waiting.get(call)?.(message.text)
        waiting.delete(call)
      }
    },
  }
}

function isMessage(message: unknown): message is Message {
  return typeof message === 'object' && message !== null && 'kind' in message && 'call' in message
}
