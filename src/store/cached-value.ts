import { StoreUnavailable } from '../ports/store.ts'
import type { EpochMs } from '../base/brand.ts'

/** The maximum age of a copy: within this time every node sees an operator's change. */
const MAX_AGE_MS = 1000

/**
 * Caches a value that every token request needs and operators rarely change, such as the declared APIs. It is read from the
 * store at most once a second, and never twice at the same time.
 *
 * While the store is unavailable the last copy is returned, so that metadata can still be served. No token can be issued
 * from that copy alone: issuing one needs the store for other reads and writes.
 */
export function openCachedValue<T>(readStore: () => Promise<T>, clock: () => EpochMs): () => Promise<T> {
  let copy: Promise<T> | undefined
  let readAt = Number.NEGATIVE_INFINITY
  let reading: Promise<T> | undefined

  async function read(now: EpochMs): Promise<T> {
    try {
      copy = Promise.resolve(await readStore())
      readAt = now
      return copy
    } catch (cause) {
      if (copy === undefined || !(cause instanceof StoreUnavailable)) throw cause
      // The copy is used for another second, because each failing read takes the store's whole timeout.
      readAt = now
      return copy
    } finally {
      reading = undefined
    }
  }

  return () => {
    const now = clock()
    return copy !== undefined && Math.abs(now - readAt) < MAX_AGE_MS ? copy : (reading ??= read(now))
  }
}
