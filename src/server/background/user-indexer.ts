import { setTimeout as delay } from 'node:timers/promises'
import type { Context, StoreNeeds } from '../../ports/context.ts'
import type { SearchMarks } from '../../ports/operations/user-search.ts'
import { after } from '../../base/brand.ts'
import { CLOCK_MARGIN_MS } from '../../base/clock.ts'
import { firstUserId } from '../../protocol/ids.ts'
import type { Log } from '../log.ts'

const INTERVAL_MS = 10_000
/** Users of one turn, which takes the store two to five milliseconds. */
const TURN = 100
/** The pause between two turns, in which the store serves requests. */
const PAUSE_MS = 8

type Needs = Pick<Context, 'clock' | 'clockCheck'> & StoreNeeds<'indexUsers'>

/** Writes the index of the names and addresses of users. */
export interface UserIndexer {
  /** Indexes turn after turn, until the index has all users that it may have, or the node may no longer write it. */
  readonly round: () => Promise<void>
  readonly end: () => void
}

/** Opens the indexer of a node. What a turn reached is noted by the next one, so an indexer belongs to one state of the store. */
export function openUserIndexer({ clock, clockCheck, store }: Needs, isHolder: () => boolean): UserIndexer {
  let reached: SearchMarks | undefined
  const ended = new AbortController()
  return {
    async round() {
      while (!ended.signal.aborted && isHolder() && clockCheck.differenceMs() === 0) {
        // An id may be older than its commit, or minted by a node whose clock is behind.
        const until = firstUserId(after(clock(), -CLOCK_MARGIN_MS))
        const indexed = await store.indexUsers({ reached, until, limit: TURN })
        reached = indexed.reached
        if (indexed.count === 0) return
        await delay(PAUSE_MS)
      }
    },
    end: () => ended.abort(),
  }
}

/**
 * Indexes at intervals, on the node that holds the lease (decision 0056). No request waits for it: a search also looks at the users whom the
 * index lacks. Returns the function that stops this.
 */
export function startIndexing(
  context: Needs,
  logger: Pick<Log, 'error'>,
  isHolder: () => boolean,
): () => Promise<void> {
  const { round, end } = openUserIndexer(context, isHolder)
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
