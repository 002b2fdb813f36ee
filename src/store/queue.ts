/** How many turns a batch may grow. */
const TURN_LIMIT = 4

export interface QueueOptions<Item> {
  /** How many batches may be under way at a time. */
  readonly inFlight: number
  /** Items in one batch at most. */
  readonly batchLimit: number
  /** Deals with one batch. Must not reject. */
  readonly run: (batch: readonly Item[]) => Promise<void>
}

export interface Queue<Item> {
  readonly size: () => number
  readonly add: (item: Item) => void
  /** Empties what waits and answers it. */
  readonly drain: () => readonly Item[]
}

/**
 * Gathers what is asked for in a turn of the event loop. While more comes in with every turn it is worth a few turns more:
 * a turn costs microseconds, a commit a hundred. What comes while as many batches as allowed are under way makes the next.
 */
export function openQueue<Item>({ inFlight, batchLimit, run }: QueueOptions<Item>): Queue<Item> {
  let waiting: Item[] = []
  let isScheduled = false
  let running = 0

  function schedule(): void {
    if (isScheduled || waiting.length === 0 || running >= inFlight) return
    isScheduled = true
    atEndOfTurn(0, 1)
  }

  function atEndOfTurn(seen: number, turn: number): void {
    setImmediate(() => {
      const count = waiting.length
      if (count > seen && count < batchLimit && turn < TURN_LIMIT) atEndOfTurn(count, turn + 1)
      else void runWaiting()
    })
  }

  async function runWaiting(): Promise<void> {
    const batch = waiting.slice(0, batchLimit)
    waiting = waiting.slice(batchLimit)
    isScheduled = false
    running += 1
    schedule()
    if (batch.length > 0) await run(batch)
    running -= 1
    schedule()
  }

  return {
    size: () => waiting.length,
    add(item) {
      waiting.push(item)
      schedule()
    },
    drain: () => waiting.splice(0),
  }
}
