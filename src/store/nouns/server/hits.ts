import type { CountedHits, HitCount } from '../../../ports/operations/server.ts'
import type { EpochMs } from '../../../base/brand.ts'
import type { NounOperations } from '../../noun.ts'
import { windowStart } from '../../rows.ts'
import { listOf, rows, shared, type Steps } from '../../shared/statement.ts'

const LIST = shared(
  `select bucket, count, window_end from hits where bucket = any(string_to_array(:buckets, ' ')) and window_start = :start`,
)
const END = shared(`delete from hits where bucket = any(string_to_array(:buckets, ' '))`)

const operations = {
  // Each engine writes these by itself.
  countHit: { cache: 'kept', event: 'no-event' },
  forgiveHit: { cache: 'kept', event: 'no-event' },
} satisfies NounOperations

const reads = {
  *listHits({ buckets, ...window }: CountedHits): Steps<ReadonlyMap<string, HitCount>> {
    if (buckets.length === 0) return new Map()
    const found = yield* rows(LIST, { buckets: listOf(buckets), start: windowStart(window) })
    return new Map(
      found.map((row) => [
        row['bucket'] as string,
        { count: row['count'] as number, windowEndsAt: row['window_end'] as EpochMs },
      ]),
    )
  },
}

export const hits = { operations, reads }

/** Ends the counts of attempts in these buckets, for an operation that ends a lock. One that is counted at the same time may be the first of a new count. */
export function* endHits(buckets: readonly string[]): Steps<void> {
  if (buckets.length > 0) yield* rows(END, { buckets: listOf(buckets) })
}
