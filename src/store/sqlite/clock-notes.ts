import type { EpochMs } from '../../base/brand.ts'
import type { ClockNotes } from '../../base/clock.ts'
import { rows, shared, type Steps } from '../shared/statement.ts'
import { noteOfNewestRow, settings } from '../nouns/server/settings.ts'

const FIND_NEWEST_ROW = shared(
  `select max(at) as at from (
     select max(created_at) as at from signing_keys
     union all select created_at from (select created_at from users order by user_id desc limit 1)
     union all select created_at from (select created_at from grants order by grant_id desc limit 1)
     union all select created_at from (select created_at from sessions order by session_id desc limit 1)
     union all select issued_at * 1000 from (select issued_at from clients order by client_id desc limit 1))`,
)

/** Needs only the tables of the first migration. */
export function* findClockNotes(): Steps<ClockNotes> {
  const notes = yield* settings.reads.findClockNotes()
  return { ...notes, node: notes.node ?? noteOfNewestRow(yield* findNewestRow()) }
}

/**
 * Returns when the newest row was made; undefined in an empty database. Ids are ordered by time, so it is the last row of
 * its table. An id that the operator chose only makes the result earlier.
 */
function* findNewestRow(): Steps<EpochMs | undefined> {
  const [newest] = yield* rows(FIND_NEWEST_ROW)
  return (newest?.['at'] ?? undefined) as EpochMs | undefined
}
