import type { RegistrationCount } from '../../../ports/inspection.ts'
import type { Sweep } from '../../../ports/operations/server.ts'
import type { EpochMs } from '../../../base/brand.ts'
import type { NounOperations } from '../../noun.ts'
import { windowStart } from '../../rows.ts'
import { rows, shared, type Steps } from '../../shared/statement.ts'

/** Counts of new clients, from which the sweep derives which of those that never got a token are too many (decision 0021). */

const WINDOW_MS = 15 * 60_000
/** More windows than the longest lifetime of an unused client has. */
const WINDOWS = 40_000

const COUNT = shared(
  `insert into registration_counts as r (window_start, count) values (:start, :by)
   on conflict (window_start) do update set count = r.count + excluded.count returning count`,
)
const LIST = shared('select window_start, count from registration_counts order by window_start desc limit :limit')

const operations = {
  countRegistrations: {
    keys: ({ now }) => [`registrations:${startOf(now)}`],
    cache: 'kept',
    event: 'no-event',
    *run({ now, by }) {
      const start = startOf(now)
      const [row] = yield* rows(COUNT, { start, by })
      return { count: row?.['count'] as number, windowEndsAt: (start + WINDOW_MS) as EpochMs }
    },
  },
} satisfies NounOperations

export const registrationCounts = { operations }

/** The clients that a sweep removes if they never got a token. */
interface Evicted {
  /** Clients that were registered before. */
  readonly registeredBefore: EpochMs
  /** Shared clients are held since they were last registered, until their lifetime is over. Those of such an end are removed. */
  readonly heldUntil: EpochMs
}

/**
 * Finds the time from which on at most `unusedClients` were registered. Clients that got a token since are among them, so the sweep
 * may keep fewer; no count of the rows is needed.
 */
export function* findEvicted({ now, unusedSince, unusedClients, evictedBefore }: Sweep): Steps<Evicted> {
  let registeredBefore = unusedSince
  let sum = 0
  for (const { count, windowEndsAt } of yield* listRegistrationCounts()) {
    sum += count
    if (sum <= unusedClients) continue
    const end = Math.min(windowEndsAt, evictedBefore)
    registeredBefore = Math.max(unusedSince, end) as EpochMs
    break
  }
  return { registeredBefore, heldUntil: (now + registeredBefore - unusedSince) as EpochMs }
}

/** The counts of all windows that are kept, newest first. */
export function* listRegistrationCounts(): Steps<readonly RegistrationCount[]> {
  return (yield* rows(LIST, { limit: WINDOWS })).map((row) => ({
    count: row['count'] as number,
    windowEndsAt: ((row['window_start'] as number) + WINDOW_MS) as EpochMs,
  }))
}

function startOf(now: EpochMs): EpochMs {
  return windowStart({ now, windowMs: WINDOW_MS }) as EpochMs
}
