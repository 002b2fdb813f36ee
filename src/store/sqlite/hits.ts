import type { DatabaseSync } from 'node:sqlite'
import type { EpochMs } from '../../base/brand.ts'
import { windowStart, type Row } from '../rows.ts'
import type { Handlers } from './handlers.ts'

/** Counts attempts in fixed windows. */
export function hitStatements(database: DatabaseSync) {
  const countHit = database.prepare(
    `insert into hits (bucket, window_start, window_end, count) values (?, ?, ?, ?)
     on conflict (bucket, window_start) do update set count = count + excluded.count returning count`,
  )
  const forgiveHit = database.prepare('update hits set count = max(count - ?, 0) where bucket = ? and window_start = ?')
  return {
    countHit(hit) {
      const start = windowStart(hit)
      const end = (start + hit.windowMs) as EpochMs
      const row = countHit.get(hit.bucket, start, end, hit.by) as Row
      return { count: row['count'] as number, windowEndsAt: end }
    },
    forgiveHit(hit) {
      forgiveHit.run(hit.by, hit.bucket, windowStart(hit))
      return 'forgiven'
    },
  } satisfies Partial<Handlers>
}
