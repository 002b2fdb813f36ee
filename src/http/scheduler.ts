/**
 * Decides which requests continue in each turn of the event loop.
 *
 * A request waits here until the loop has read all the sockets that have data. Then a limited number of requests continue,
 * and the others wait for the next turn. Each network has queues of its own, and the networks share every turn equally.
 */
export interface Scheduler {
  /**
   * Waits for the end of this turn. For quick work, such as refusing a request, and for requests of high priority. They
   * continue before the batches.
   */
  readonly endOfTurn: (network: string) => Promise<void>
  /** Waits for the next batch that has room. For all other requests, in the order in which they arrived. */
  readonly batch: (network: string) => Promise<void>
  /** To be called for each accepted connection, because more connections may be waiting in the kernel. */
  readonly accepted: () => void
}

/** How fast requests continue. */
export interface Pace {
  /** Requests that are not quick, of a turn. */
  readonly batchSize: number
  /** Calls a function at the end of the next turn, or later. */
  readonly defer: (finish: () => void) => void
}

/** Requests of one network that continue together: they all wait for one promise. */
interface Batch {
  readonly promise: Promise<void>
  readonly resolve: () => void
  size: number
}

/** The waiting batches of one network, in the order of arrival. */
interface Queues {
  readonly quick: Batch[]
  readonly work: Batch[]
}

/**
 * Requests that continue in one turn. Five hundred would block the loop for tens of milliseconds, refusals included; 32 are
 * enough to keep code and data in the processor's caches.
 */
const BATCH_SIZE = 32
/** Quick requests that continue in one turn. They take about as long as a batch, so that neither starves the other. */
const QUICK_SIZE = 128
/**
 * Turns in a row that only accept connections. libuv accepts one connection in each turn. Under a flood a turn takes ten
 * milliseconds, so without these short turns only a hundred connections a second would be accepted.
 */
const ACCEPTED_PER_TURN = 16
/** In this many turns the number of competing networks forgets about two thirds of those that have left. */
const COMPETING_TURNS = 64

/**
 * Opens a scheduler. All waiting requests share one `setImmediate`.
 *
 * Why requests wait for the end of the turn: a client that gets its answer within a turn can send its next request within the
 * same turn. A thousand such connections would keep the loop reading for seconds, while nothing is committed and no timer runs.
 *
 * Why networks share a turn (threats.md NET-17): clients send nothing more on a connection until they have their answer. So a
 * network with thousands of connections is slowed down to its share, and delays the others no more than any other network. A
 * network gets no more than its share even when the turn has time left, because another client that sends one request after
 * the other would wait for that extra work.
 */
export function openScheduler({ batchSize, defer }: Pace): Scheduler {
  /** Queues by network, in the order in which the networks continue. */
  const waiting = new Map<string, Queues>()
  /** How many networks have lately waited at the same time. */
  let competing = 1
  let shares = sharesOf(competing, batchSize)
  let isScheduled = false
  let hasAccepted = false
  let acceptedInTurn = 0

  function schedule(): void {
    if (isScheduled) return
    isScheduled = true
    defer(finish)
  }

  function wait(network: string, kind: keyof Queues): Promise<void> {
    schedule()
    let queues = waiting.get(network)
    if (queues === undefined) {
      queues = { quick: [], work: [] }
      waiting.set(network, queues)
    }
    const batches = queues[kind]
    let last = batches.at(-1)
    if (last === undefined || last.size >= shares[kind]) {
      last = openBatch()
      batches.push(last)
    }
    last.size += 1
    return last.promise
  }

  function finish(): void {
    isScheduled = false
    if (hasAccepted && acceptedInTurn < ACCEPTED_PER_TURN) {
      hasAccepted = false
      acceptedInTurn += 1
      return schedule()
    }
    acceptedInTurn = 0
    competing = Math.max(waiting.size, competing - competing / COMPETING_TURNS)
    shares = sharesOf(competing, batchSize)
    const quick: Batch[] = []
    const work: Batch[] = []
    const served: string[] = []
    const left = { quick: QUICK_SIZE, work: batchSize }
    for (const [network, queues] of waiting) {
      const quickCount = left.quick > 0 ? moveBatches(queues.quick, quick, shares.quick) : 0
      const workCount = left.work > 0 ? moveBatches(queues.work, work, shares.work) : 0
      left.quick -= quickCount
      left.work -= workCount
      if (quickCount + workCount > 0) served.push(network)
      if (left.quick <= 0 && left.work <= 0) break
    }
    for (const network of served) moveToEnd(waiting, network)
    for (const { resolve } of quick) resolve()
    for (const { resolve } of work) resolve()
    if (waiting.size > 0) schedule()
  }

  return {
    endOfTurn: (network) => wait(network, 'quick'),
    batch: (network) => wait(network, 'work'),
    accepted: () => void (hasAccepted = true),
  }
}

/** As many requests as a turn has room for. */
export const EACH_TURN: Pace = { batchSize: BATCH_SIZE, defer: (finish) => void setImmediate(finish) }

/** One request at the end of a turn, and the next one so much later. */
export function oneEach(gapMs: number): Pace {
  let freeAt = 0
  return {
    batchSize: 1,
    defer(finish) {
      const waitMs = freeAt - performance.now()
      freeAt = Math.max(freeAt, performance.now()) + gapMs
      if (waitMs <= 0) setImmediate(finish)
      else setTimeout(finish, waitMs)
    },
  }
}

/** How many requests of one network continue in a turn. */
function sharesOf(competing: number, batchSize: number): Readonly<Record<keyof Queues, number>> {
  if (competing < 2) return { quick: QUICK_SIZE, work: batchSize }
  const share = Math.max(1, Math.floor(batchSize / competing))
  return { quick: share, work: share }
}

/** Moves the first batch, and further batches that fit into the share. Returns the number of requests in them. */
function moveBatches(from: Batch[], to: Batch[], share: number): number {
  let count = 0
  for (let next = from[0]; next !== undefined && (count === 0 || count + next.size <= share); next = from[0]) {
    from.shift()
    to.push(next)
    count += next.size
  }
  return count
}

/** Puts a network that was served behind all others, or removes it when none of its requests waits. */
function moveToEnd(waiting: Map<string, Queues>, network: string): void {
  const queues = waiting.get(network)
  waiting.delete(network)
  if (queues !== undefined && queues.quick.length + queues.work.length > 0) waiting.set(network, queues)
}

function openBatch(): Batch {
  const { promise, resolve } = Promise.withResolvers<void>()
  return { promise, resolve, size: 0 }
}
