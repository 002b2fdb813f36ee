import { setTimeout as delay } from 'node:timers/promises'
import type { Context, StoreNeeds } from '../../ports/context.ts'
import type { SearchMarks } from '../../ports/operations/user-search.ts'
import { after } from '../../base/brand.ts'
import { CLOCK_MARGIN_MS } from '../../base/clock.ts'
import { firstUserId } from '../../protocol/ids.ts'
import type { Log } from '../log.ts'

const INTERVAL_MS = 10_000
/** Users of one turn. On SQLite a turn takes the store two to five milliseconds. */
const TURN = 100
/** The pause between two turns, in which the store serves requests. */
const PAUSE_MS = 10

type Needs = Pick<Context, 'clock' | 'clockCheck'> & StoreNeeds<'indexUsers'>

/**
 * Writes the index of the names and addresses of users at intervals, on the node that holds the lease (decision 0056). No request waits for it:
 * a search also looks at the users whom the index lacks. Returns the function that stops this.
 */
export function startIndexing(
  { clock, clockCheck, store }: Needs,
  logger: Pick<Log, 'error'>,
  isHolder: () => boolean,
): () => void {
  let reached: SearchMarks | undefined
  let isIndexing = false
  const end = new AbortController()

  async function indexThrough(): Promise<void> {
    let isMore = true
    while (isMore && !end.signal.aborted && isHolder() && clockCheck.differenceMs() === 0) {
      // The id of a user may be older than its commit, and of a node whose clock is behind.
      const until = firstUserId(after(clock(), -CLOCK_MARGIN_MS))
      const indexed = await store.indexUsers({ reached, until, limit: TURN })
      reached = indexed.reached
      isMore = indexed.count > 0
      if (isMore) await delay(PAUSE_MS)
    }
  }

  const timer = setInterval(() => {
    if (isIndexing || !isHolder()) return
    isIndexing = true
    indexThrough()
      .catch((cause: unknown) => logger.error({ event: 'store.index-failed', err: cause }))
      .finally(() => (isIndexing = false))
  }, INTERVAL_MS).unref()
  return () => {
    end.abort()
    clearInterval(timer)
  }
}
