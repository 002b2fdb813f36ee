import { StoreUnavailable } from '../ports/store.ts'
import type { EpochMs } from '../protocol/brand.ts'

/** How old a copy may be: what an operator changes is seen everywhere within this. */
const MAX_AGE_MS = 1000

/**
 * What every token request asks for and few operators ever change (the declared APIs), read from the store once a second at
 * most, and once at a time.
 *
 * While the store is away the last copy is answered, so that metadata can be read. It gives nobody a token: whatever issues
 * one needs the store for something else too.
 */
export function openCachedValue<T>(readStore: () => Promise<T>, clock: () => EpochMs): () => Promise<T> {
  let copy: { readonly value: T } | undefined
  let readAt = Number.NEGATIVE_INFINITY
  let reading: Promise<T> | undefined

  async function read(now: EpochMs): Promise<T> {
    try {
      copy = { value: await readStore() }
      readAt = now
      return copy.value
    } catch (cause) {
      if (copy === undefined || !(cause instanceof StoreUnavailable)) throw cause
      // For another while, because to find out takes the store's whole patience.
      readAt = now
      return copy.value
    } finally {
      reading = undefined
    }
  }

  return async () => {
    const now = clock()
    return copy !== undefined && Math.abs(now - readAt) < MAX_AGE_MS ? copy.value : (reading ??= read(now))
  }
}
