/** Ways to wait until this turn of the event loop has read what there was. Each network waits in a queue of its own. */
export interface Scheduler {
  /** For what takes little time, such as a refusal, and for what is shed last. */
  readonly over: (network: string) => Promise<void>
  /** For all other work, in the order in which it came: after `over`, and a crowd a turn. */
  readonly crowd: (network: string) => Promise<void>
  /** A connection was accepted: more may wait. */
  readonly accepted: () => void
}

interface Crowd {
  readonly promise: Promise<void>
  readonly resolve: () => void
  size: number
}

/** The crowds of a network, in the order in which they came. */
interface Queues {
  readonly quick: Crowd[]
  readonly work: Crowd[]
}

/**
 * Requests that continue together. Of five hundred each step takes tens of milliseconds, in which nothing else is even refused; so
 * many find code and data in the processor's caches as often.
 */
const CROWD_SIZE = 32
/** Quick things of a turn. They take about as long as the work of the turn, so that neither takes the time of the other. */
const QUICK_SIZE = 128
/**
 * libuv accepts one connection each time that the loop comes round. While connections wait, the loop so often comes round
 * without doing anything else, or a flood that makes turns of ten milliseconds would let in a hundred connections a second.
 */
const ACCEPTED_PER_TURN = 16
/** In so many turns the number of rivals forgets about two thirds of those that have left. */
const RIVAL_TURNS = 64

/**
 * Returns the ways to wait for the end of a turn, with one timer for all.
 *
 * A request that is answered within the turn makes room for the next within it: a thousand connections would keep the loop
 * reading for seconds, and meanwhile nothing is committed and no timer runs.
 *
 * Networks take turns, and those that wait together divide a turn among them (threats.md NET-17). A connection that has no
 * answer yet asks nothing more, so a network with thousands of connections is slowed down to its part: it costs the others no
 * more than one of them. What a network may not have stays undone even when the turn has time left, because a client that
 * asks one thing after the other would wait for it.
 */
export function openScheduler(): Scheduler {
  /** In the order in which the networks go on. */
  const waiting = new Map<string, Queues>()
  /** As many networks have waited together lately. */
  let rivals = 1
  let shares = sharesOf(rivals)
  let isScheduled = false
  let hasAccepted = false
  let acceptedInTurn = 0

  function schedule(): void {
    if (isScheduled) return
    isScheduled = true
    setImmediate(finish)
  }

  function wait(network: string, kind: keyof Queues): Promise<void> {
    schedule()
    let queues = waiting.get(network)
    if (queues === undefined) {
      queues = { quick: [], work: [] }
      waiting.set(network, queues)
    }
    const crowds = queues[kind]
    let last = crowds.at(-1)
    if (last === undefined || last.size >= shares[kind]) {
      last = openCrowd()
      crowds.push(last)
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
    rivals = Math.max(waiting.size, rivals - rivals / RIVAL_TURNS)
    shares = sharesOf(rivals)
    const quick: Crowd[] = []
    const work: Crowd[] = []
    const served: string[] = []
    const left = { quick: QUICK_SIZE, work: CROWD_SIZE }
    for (const [network, queues] of waiting) {
      const quickCount = left.quick > 0 ? moveCrowds(queues.quick, quick, shares.quick) : 0
      const workCount = left.work > 0 ? moveCrowds(queues.work, work, shares.work) : 0
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
    over: (network) => wait(network, 'quick'),
    crowd: (network) => wait(network, 'work'),
    accepted: () => void (hasAccepted = true),
  }
}

/** What one network may have of a turn. */
function sharesOf(rivals: number): Readonly<Record<keyof Queues, number>> {
  if (rivals < 2) return { quick: QUICK_SIZE, work: CROWD_SIZE }
  const share = Math.max(1, Math.floor(CROWD_SIZE / rivals))
  return { quick: share, work: share }
}

/** Moves the first crowd, and more as far as they are within the share. Returns how many requests they hold. */
function moveCrowds(from: Crowd[], to: Crowd[], share: number): number {
  let count = 0
  for (let next = from[0]; next !== undefined && (count === 0 || count + next.size <= share); next = from[0]) {
    from.shift()
    to.push(next)
    count += next.size
  }
  return count
}

/** The networks that were served come after all others. A network for which nothing waits is forgotten. */
function moveToEnd(waiting: Map<string, Queues>, network: string): void {
  const queues = waiting.get(network)
  waiting.delete(network)
  if (queues !== undefined && queues.quick.length + queues.work.length > 0) waiting.set(network, queues)
}

function openCrowd(): Crowd {
  const { promise, resolve } = Promise.withResolvers<void>()
  return { promise, resolve, size: 0 }
}
