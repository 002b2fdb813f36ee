import type { Hit, HitCount } from '../../../ports/operations/server.ts'
import type { EpochMs } from '../../../base/brand.ts'
import type { NounOperations } from '../../noun.ts'
import { windowStart } from '../../rows.ts'
import { listOf, rows, shared, type Steps } from '../../shared/statement.ts'

const FIND = shared('select count, window_end from hits where bucket = :bucket and window_start = :start')
const END = shared(`delete from hits where bucket = any(string_to_array(:buckets, ' '))`)

const operations = {
  // Each engine writes these by itself.
  countHit: { cache: 'kept', event: 'no-event' },
  forgiveHit: { cache: 'kept', event: 'no-event' },
} satisfies NounOperations

const reads = {
  *findHits({ bucket, now, windowMs }: Omit<Hit, 'by'>): Steps<HitCount | undefined> {
    const [row] = yield* rows(FIND, { bucket, start: windowStart({ now, windowMs }) })
    return row && { count: row['count'] as number, windowEndsAt: row['window_end'] as EpochMs }
  },
}

export const hits = { operations, reads }

/** Ends the counts of attempts in these buckets, for an operation that ends a lock. One that is counted at the same time may be the first of a new count. */
export function* endHits(buckets: readonly string[]): Steps<void> {
  if (buckets.length > 0) yield* rows(END, { buckets: listOf(buckets) })
}
