import { setTimeout as delay } from 'node:timers/promises'
import type { Context, StoreNeeds } from '../../ports/context.ts'
import type { SearchMarks } from '../../ports/operations/user-search.ts'
import { after } from '../../base/brand.ts'
import { CLOCK_MARGIN_MS } from '../../base/clock.ts'
import { firstUserId } from '../../protocol/ids.ts'
import type { Log } from '../log.ts'

const INTERVAL_MS = 10_000

/** Users of one turn. SQLite needs two milliseconds for 25, four for 100, and a sync of the disk, and no request is served meanwhile. */
const USERS = { idle: 100, busy: 25 } as const
/** The pause after a turn, in lengths of the turn for each request in a second. */
const LENGTHS = 4
const PAUSE_MS = { least: 1, most: 1000 } as const
/** With fewer requests in a second a node is idle. */
const BUSY = 1
/** How long ago requests were that count half. */
const MEMORY_MS = 200

type Needs = Pick<Context, 'clock' | 'clockCheck'> & StoreNeeds<'indexUsers'>

/** The requests that this node has answered, which its turns make wait. */
export interface Load {
  readonly answered: () => number
  readonly monotonic: () => number
}

/** Writes the index of the names and addresses of users. */
export interface UserIndexer {
  /** Indexes turn after turn, until the index has all users that it may have, or the node may no longer write it. */
  readonly round: () => Promise<void>
  readonly end: () => void
}

/** Opens the indexer of a node. What a turn reached is noted by the next one, so an indexer belongs to one state of the store. */
export function openUserIndexer({ clock, clockCheck, store }: Needs, isHolder: () => boolean, load: Load): UserIndexer {
  let reached: SearchMarks | undefined
  const ended = new AbortController()
  const readRate = openRate(load)
  const pause = (ms: number) => delay(ms, undefined, ended).then(undefined, () => undefined)
  return {
    async round() {
      while (!ended.signal.aborted && isHolder() && clockCheck.differenceMs() === 0) {
        // An id may be older than its commit, or minted by a node whose clock is behind.
        const until = firstUserId(after(clock(), -CLOCK_MARGIN_MS))
        const requests = readRate()
        const startedAt = load.monotonic()
        const limit = requests < BUSY ? USERS.idle : USERS.busy
        const indexed = await store.indexUsers({ reached, until, limit })
        reached = indexed.reached
        if (indexed.count === 0) return
        await pause(pauseOf(load.monotonic() - startedAt, requests))
      }
    },
    end: () => ended.abort(),
  }
}

/** A request that arrives during a turn waits for its end. With these pauses a request waits once in four seconds, or one of four hundred does. */
function pauseOf(turnMs: number, requests: number): number {
  return Math.max(PAUSE_MS.least, Math.min(PAUSE_MS.most, LENGTHS * requests * turnMs))
}

/** Returns how many requests there were in a second lately. */
function openRate({ answered, monotonic }: Load): () => number {
  let last = { atMs: monotonic(), answered: answered() }
  let rate = 0
  return () => {
    const now = { atMs: monotonic(), answered: answered() }
    rate = (rate * MEMORY_MS + (now.answered - last.answered) * 1000) / (MEMORY_MS + now.atMs - last.atMs)
    last = now
    return rate
  }
}

/**
 * Indexes at intervals, on the node that holds the lease. No request waits for it: a search also looks at the users whom the
 * index lacks. Returns the function that stops this.
 */
export function startIndexing(
  context: Needs,
  load: Load,
  logger: Pick<Log, 'error'>,
  isHolder: () => boolean,
): () => Promise<void> {
  const { round, end } = openUserIndexer(context, isHolder, load)
  let running: Promise<void> | undefined
  const timer = setInterval(() => {
    running ??= round()
      .catch((cause: unknown) => logger.error({ event: 'store.index-failed', err: cause }))
      .finally(() => (running = undefined))
  }, INTERVAL_MS).unref()
  return async () => {
    end()
    clearInterval(timer)
    await running
  }
}
