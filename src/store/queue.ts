import type { StoreObserver } from '../ports/observers.ts'
import { StoreUnavailable } from '../ports/store.ts'

/** How many turns a batch may grow. */
const TURN_LIMIT = 4
/** And how long: turns in which thousands are refused are not short. */
const GROWTH_MS = 5
/** More waiting than this are refused at once: an answer that late helps nobody. */
const WAITING_LIMIT = 10_000
/** What has waited for this long is refused instead of begun, so that nobody waits for several slow batches. */
const PATIENCE_MS = 2000

/** Somebody who asked for something and waits for the answer. */
export interface Waiting<Asked, Answer> {
  readonly asked: Asked
  readonly resolve: (answer: Answer) => void
  readonly reject: (cause: unknown) => void
  /** On the clock of `performance`. */
  readonly since: number
  /** What the observer answered when it was asked for. */
  readonly mark: unknown
}

export interface QueueOptions<Asked, Answer> {
  /** How many batches may be under way at a time. */
  readonly inFlight: number
  /** Items in one batch at most. */
  readonly batchLimit: number
  /** Answers everybody in a batch, or throws what is to be told to those who have no answer yet. */
  readonly run: (batch: readonly Waiting<Asked, Answer>[]) => Promise<void>
  readonly observer?: Omit<StoreObserver, 'committed'> | undefined
}

/**
 * Gathers what is asked for in a turn of the event loop. While more comes in with every turn it is worth a few turns more:
 * a turn costs microseconds, a commit a hundred. What comes while as many batches as allowed are under way makes the next.
 *
 * The answer function rejects with StoreUnavailable when too many are waiting or one has waited for too long.
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

  /** Only what a batch was in the way of: a process that was suspended is not slow. */
  function refuseLate(): void {
    if (waiting.length === 0) return
    const oldest = performance.now() - PATIENCE_MS
    const late = waiting.findIndex(({ since }) => since > oldest)
    if (late === 0) return
    const cause = new StoreUnavailable('too slow for all that is asked of it')
    const refused = waiting.splice(0, late === -1 ? waiting.length : late)
    observer?.refused('late', refused.length)
    for (const { reject } of refused) reject(cause)
  }

  async function answer(batch: readonly Waiting<Asked, Answer>[]): Promise<void> {
    try {
      await run(batch)
    } catch (cause) {
      // What came meanwhile has waited for the same store: with a wait of its own it would be told twice as late.
      const others = cause instanceof StoreUnavailable ? waiting.splice(0) : []
      for (const { reject } of [...batch, ...others]) reject(cause)
    }
  }

  observer?.opened(() => ({ waiting: waiting.length, inFlight: running }))
  return (asked) => {
    if (waiting.length >= WAITING_LIMIT) {
      observer?.refused('full', 1)
      return Promise.reject(new StoreUnavailable('too many are waiting'))
    }
    return new Promise((resolve, reject) => {
      waiting.push({ asked, resolve, reject, since: performance.now(), mark: observer?.mark() })
      schedule()
    })
  }
}
