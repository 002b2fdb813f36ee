import { StoreUnavailable } from '../ports/store.ts'
import type { EpochMs } from '../base/brand.ts'
import { atMost } from './at-most.ts'
import type { TimelyWaits } from './timely-waits.ts'

/** A value of the store, of which this node has a copy. */
export interface CachedValue<T> {
  /** Returns the value, which is at most one second old while the store is available. */
  readonly read: () => Promise<T>
  /** The same without a promise; undefined: the store has to be read. */
  readonly peek: () => T | undefined
  /** Returns the value for a document, which does not wait for a store that does not answer. No decision may depend on it. */
  readonly describe: () => Promise<T>
}

/** The maximum age of a copy: within this time every node sees an operator's change. */
const MAX_AGE_MS = 1000
/** A document waits so long for a store that is slow. */
export const DOCUMENT_WAIT_MS = 200

/**
 * Caches a value that every token request needs and operators rarely change, such as the declared APIs. It is read from the
 * store at most once a second, and never twice at the same time.
 *
 * While the store is unavailable the last copy is returned, so that metadata can still be served. No token can be issued
 * from that copy alone: issuing one needs the store for other reads and writes.
 */
export function openCachedValue<T>(
  readStore: () => Promise<T>,
  { clock, within }: Pick<TimelyWaits, 'within'> & { readonly clock: () => EpochMs },
): CachedValue<T> {
  let copy: Promise<T> | undefined
  /** What `copy` resolves to. */
  let value: T | undefined
  let readAt = Number.NEGATIVE_INFINITY
  let reading: Promise<T> | undefined
  /** The read for which a document has waited in vain. */
  let late: Promise<T> | undefined

  async function readNow(now: EpochMs): Promise<T> {
    try {
      value = await readStore()
      copy = Promise.resolve(value)
      readAt = now
      return copy
    } catch (cause) {
      if (copy === undefined || !(cause instanceof StoreUnavailable)) throw cause
      // The copy is used for another second, because each failing read takes the store's whole timeout.
      readAt = clock()
      return copy
    } finally {
      reading = undefined
    }
  }

  const isFresh = (now: EpochMs): boolean => Math.abs(now - readAt) < MAX_AGE_MS

  function read(): Promise<T> {
    const now = clock()
    if (copy !== undefined && isFresh(now)) return copy
    return within(() => (reading ??= readNow(now)))
  }

  async function describe(): Promise<T> {
    const now = clock()
    const known = copy
    if (known === undefined || isFresh(now)) return read()
    const running = (reading ??= readNow(now))
    if (late === running) return known
    return atMost(DOCUMENT_WAIT_MS, running, () => {
      late = running
      return known
    })
  }

  return { read, describe, peek: () => (isFresh(clock()) ? value : undefined) }
}

/**
 * The same for a list of records whose read returns the same object for a row that has not changed. While no record changes, the list is the
 * same object too, so what is made of it is made once.
 */
export function openCachedList<T>(
  readStore: () => Promise<readonly T[]>,
  needs: Parameters<typeof openCachedValue>[1],
): CachedValue<readonly T[]> {
  let last: readonly T[] = []
  return openCachedValue(async () => {
    const list = await readStore()
    if (list.length !== last.length || list.some((record, index) => record !== last[index])) last = list
    return last
  }, needs)
}
