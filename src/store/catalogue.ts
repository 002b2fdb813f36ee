import type { ApiRecord } from '../ports/records.ts'
import type { Reads } from '../ports/store.ts'
import type { EpochMs } from '../protocol/brand.ts'

/** How old a copy may be: what an operator declares is seen everywhere within this. */
const MAX_AGE_MS = 1000

/** The declared APIs, read from the store once a second at most: every token request asks for them. */
export function openCatalogue(
  store: Pick<Reads, 'listApis'>,
  clock: () => EpochMs,
): () => Promise<readonly ApiRecord[]> {
  let copy: readonly ApiRecord[] = []
  let readAt = Number.NEGATIVE_INFINITY
  return async () => {
    const now = clock()
    if (Math.abs(now - readAt) >= MAX_AGE_MS) {
      copy = await store.listApis()
      readAt = now
    }
    return copy
  }
}
