import type { EpochMs } from '../../base/brand.ts'
import { windowStart } from '../rows.ts'
import { columns } from './connection/column-parameters.ts'
import type { Handlers } from './handlers.ts'
import { insertion, insertRows } from './connection/insertion.ts'

const COUNT_HITS = insertion({
  name: 'count-hits',
  into: 'hits as h (bucket, window_start, window_end, count)',
  types: ['text', 'bigint', 'bigint', 'bigint'],
  ending: `on conflict (bucket, window_start) do update set count = h.count + excluded.count
    returning h.bucket, h.window_start, h.count`,
})
const FORGIVE_HITS = {
  name: 'forgive-hits',
  text: `update hits as h set count = greatest(h.count - i.by, 0)
    from unnest($1::text[], $2::bigint[], $3::bigint[]) as i (bucket, window_start, by)
    where h.bucket = i.bucket and h.window_start = i.window_start`,
}

/** Counts attempts in fixed windows. */
export const hitHandlers = {
  countHit: {
    keys: (hit) => [`hit:${hit.bucket}:${windowStart(hit)}`],
    async run(query, inputs) {
      const rows = await insertRows(
        query,
        COUNT_HITS,
        columns(inputs, 'bucket', windowStart, (hit) => windowStart(hit) + hit.windowMs, 'by'),
      )
      const counts = new Map(rows.map((row) => [`${row['bucket']}:${row['window_start']}`, row['count']]))
      return inputs.map((hit) => {
        const start = windowStart(hit)
        return {
          count: counts.get(`${hit.bucket}:${start}`) as number,
          windowEndsAt: (start + hit.windowMs) as EpochMs,
        }
      })
    },
  },
  forgiveHit: {
    keys: (hit) => [`hit:${hit.bucket}:${windowStart(hit)}`],
    async run(query, inputs) {
      await query(FORGIVE_HITS, columns(inputs, 'bucket', windowStart, 'by'))
      return inputs.map(() => 'forgiven' as const)
    },
  },
} satisfies Partial<Handlers>
