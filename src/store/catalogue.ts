import type { ApiRecord } from '../ports/records.ts'
import { StoreUnavailable, type Reads } from '../ports/store.ts'
import type { EpochMs } from '../protocol/brand.ts'

/** How old a copy may be: what an operator declares is seen everywhere within this. */
const MAX_AGE_MS = 1000

/**
 * The declared APIs, read from the store once a second at most, and once at a time: every token request asks for them.
 *
 * While the store is away the last copy is answered, so that metadata can be read. It gives nobody a token: whatever issues
 * one needs the store for something else too.
 */
export function openCatalogue(
  store: Pick<Reads, 'listApis'>,
  clock: () => EpochMs,
): () => Promise<readonly ApiRecord[]> {
  let copy: readonly ApiRecord[] | undefined
  let readAt = Number.NEGATIVE_INFINITY
  let reading: Promise<readonly ApiRecord[]> | undefined

  async function read(now: EpochMs): Promise<readonly ApiRecord[]> {
    try {
      copy = await store.listApis()
      readAt = now
      return copy
    } catch (cause) {
      if (copy === undefined || !(cause instanceof StoreUnavailable)) throw cause
      // For another while, because to find out takes the store's whole patience.
      readAt = now
      return copy
    } finally {
      reading = undefined
    }
  }

  return async () => {
    const now = clock()
    return copy !== undefined && Math.abs(now - readAt) < MAX_AGE_MS ? copy : (reading ??= read(now))
  }
}
