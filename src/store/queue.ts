import type { StoreObserver } from '../ports/observers.ts'
import { StoreUnavailable } from '../ports/store.ts'

/** The most turns of the event loop for which a batch may grow. */
const TURN_LIMIT = 4
/** The longest time for which a batch may grow. A turn in which thousands of requests are refused is not short. */
const GROWTH_MS = 5
/** The longest queue. Further operations are rejected at once, because their results would come too late. */
const WAITING_LIMIT = 10_000
/** Operations queued longer than this are rejected, so that no caller waits through several slow batches. */
const PATIENCE_MS = 2000

/** A queued operation and the promise of its caller. */
export interface Waiting<Asked, Answer> {
  readonly asked: Asked
  readonly resolve: (answer: Answer) => void
  readonly reject: (cause: unknown) => void
  /** On the clock of `performance`. */
  readonly since: number
  /** What the observer's `mark` returned when the operation was queued. */
  readonly mark: unknown
}

export interface QueueOptions<Asked, Answer> {
  /** How many batches may run at a time. */
  readonly inFlight: number
  /** The most items of one batch. */
  readonly batchLimit: number
  /** Resolves or rejects each item of the batch. If it throws, the items without a result are rejected with what it threw. */
  readonly run: (batch: readonly Waiting<Asked, Answer>[]) => Promise<void>
  readonly observer?: Omit<StoreObserver, 'committed'> | undefined
}

/**
 * Collects the operations of a turn of the event loop into a batch. While each turn adds more, the batch waits for a few
 * more turns: a turn costs microseconds, a commit a hundred of them. While the maximum number of batches is running, further
 * operations wait for the next batch.
 *
 * The returned function rejects with StoreUnavailable if the queue is full, or if the operation waited too long.
 */
export function openQueue<Asked, Answer>({
  inFlight,
  batchLimit,
  run,
  observer,
}: QueueOptions<Asked, Answer>): (asked: Asked) => Promise<Answer> {
  let waiting: Waiting<Asked, Answer>[] = []
  let isScheduled = false
  let running = 0

  function schedule(): void {
    if (isScheduled || waiting.length === 0 || running >= inFlight) return
    isScheduled = true
    atEndOfTurn(0, 1, performance.now() + GROWTH_MS)
  }

  function atEndOfTurn(seen: number, turn: number, untilMs: number): void {
    setImmediate(() => {
      const count = waiting.length
      const mayGrow = count < batchLimit && turn < TURN_LIMIT && performance.now() < untilMs
      if (mayGrow && count > seen) atEndOfTurn(count, turn + 1, untilMs)
      else void runWaiting()
    })
  }

  async function runWaiting(): Promise<void> {
    const batch = waiting.slice(0, batchLimit)
    waiting = waiting.slice(batchLimit)
    isScheduled = false
    running += 1
    schedule()
    if (batch.length > 0) await answer(batch)
    running -= 1
    refuseLate()
    schedule()
  }

  /** Called after a batch, so that it rejects only what a slow batch delayed: a process that was suspended is not slow. */
  function refuseLate(): void {
    if (waiting.length === 0) return
    const oldest = performance.now() - PATIENCE_MS
    const late = waiting.findIndex(({ since }) => since > oldest)
    if (late === 0) return
    const cause = new StoreUnavailable('too slow for the current load')
    const refused = waiting.splice(0, late === -1 ? waiting.length : late)
    observer?.refused('late', refused.length)
    for (const { reject } of refused) reject(cause)
  }

  async function answer(batch: readonly Waiting<Asked, Answer>[]): Promise<void> {
    try {
      await run(batch)
    } catch (cause) {
      // Operations queued meanwhile would fail against the same store; rejecting them now avoids a second timeout.
      const others = cause instanceof StoreUnavailable ? waiting.splice(0) : []
      for (const { reject } of [...batch, ...others]) reject(cause)
    }
  }

  observer?.opened(() => ({ waiting: waiting.length, inFlight: running }))
  return (asked) => {
    if (waiting.length >= WAITING_LIMIT) {
      observer?.refused('full', 1)
      return Promise.reject(new StoreUnavailable('too many operations are waiting'))
    }
    return new Promise((resolve, reject) => {
      waiting.push({ asked, resolve, reject, since: performance.now(), mark: observer?.mark() })
      schedule()
    })
  }
}
