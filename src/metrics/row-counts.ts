import type { Context } from '../ports/context.ts'
import type { Store } from '../ports/store.ts'
import { COUNTED_TABLES, NOTHING_COUNTED, type RowCountsRecord } from '../ports/records/row-counts.ts'
import type { EpochMs } from '../base/brand.ts'
import { chooseIdTokenKey, chooseStartedKey, linesOf } from '../protocol/key-rotation.ts'
import type { Sample } from './families.ts'

/** Counts of grants and clients, the signing keys, and what else the store knows. */
export interface RowCounts {
  /** Reads what is known. Waits only briefly for a store that is unavailable or slow, and then returns what it read before. */
  readonly sample: () => Promise<readonly Sample[]>
}

/** The newest credentials of administrators that are read. */
const CREDENTIALS_LIMIT = 200
/** The shortest time between two steps, however many scrapes there are. */
const PAUSE_MS = 5000
/** A scrape waits at most this long for a step, and then returns the known numbers. */
const STEP_TIMEOUT_MS = 500

type Needs = Pick<Context, 'clock'> & {
  readonly store: Pick<Store, 'findRowCounts' | 'listKeys' | 'listAdminCredentials' | 'findLastBackup'>
}

/** Reads what the store knows while /metrics is being scraped. The node that holds the lease counts (server/background/row-counter.ts). */
export function openRowCounts({ clock, store }: Needs): RowCounts {
  let keys: readonly Sample[] = []
  let credentials: readonly Sample[] = []
  let backup: readonly Sample[] = []
  let counted: RowCountsRecord = NOTHING_COUNTED
  let steppedAt: EpochMs | undefined
  let stepping: Promise<void> | undefined

  async function step(): Promise<void> {
    steppedAt = clock()
    keys = describeKeys(await store.listKeys(), clock())
    const listed = await store.listAdminCredentials({ before: undefined, limit: CREDENTIALS_LIMIT })
    credentials = describeCredentials(listed, clock())
    const backedUpAt = await store.findLastBackup()
    if (backedUpAt !== undefined) {
      const age = Math.max(0, clock() - backedUpAt) / 1000
      backup = [{ name: 'grantor_backup_age_seconds', labels: [], value: age }]
    }
    counted = { ...NOTHING_COUNTED, ...(await store.findRowCounts()) }
  }

  return {
    async sample() {
      const isDue = steppedAt === undefined || Math.abs(clock() - steppedAt) >= PAUSE_MS
      if (isDue) {
        // If the store is unavailable, the age of the counts increases, and failing requests report it anyway.
        stepping ??= step()
          .then(undefined, () => undefined)
          .finally(() => (stepping = undefined))
      }
      await atMost(STEP_TIMEOUT_MS, stepping)
      return [...keys, ...credentials, ...backup, ...describeCounts(counted, clock())]
    },
  }
}

const NAMES = { grants: 'grantor_grants', clients: 'grantor_clients', users: 'grantor_users' } as const

/** Before its first end a count has no numbers, but an age, so that one that never ends is noticed. */
function describeCounts(record: RowCountsRecord, now: EpochMs): readonly Sample[] {
  return COUNTED_TABLES.flatMap((of): readonly Sample[] => {
    const { finished, running } = record[of]
    const begunAt = (finished ?? running)?.begunAt
    if (begunAt === undefined) return []
    const { indexed, ...states } = finished?.counts ?? {}
    return [
      ...Object.entries(states).map(([state, value]): Sample => ({ name: NAMES[of], labels: [state], value })),
      ...(indexed === undefined ? [] : [{ name: 'grantor_users_indexed', labels: [], value: indexed } as const]),
      { name: 'grantor_row_counts_age_seconds', labels: [of], value: Math.max(0, now - begunAt) / 1000 },
      { name: 'grantor_row_count_duration_seconds', labels: [of], value: (finished?.countedMs ?? 0) / 1000 },
    ]
  })
}

function describeKeys(keys: Awaited<ReturnType<Store['listKeys']>>, now: EpochMs): readonly Sample[] {
  return linesOf(keys).flatMap((line): readonly Sample[] => {
    const [{ purpose, algorithm }] = line
    const signing = purpose === 'id' ? chooseIdTokenKey(line, algorithm, now) : chooseStartedKey(line, algorithm, now)
    const labels = [algorithm, purpose]
    const count: Sample = { name: 'grantor_signing_keys', labels, value: line.length }
    if (signing === undefined) return [count]
    const age = (now - signing.activeFrom) / 1000
    return [count, { name: 'grantor_signing_key_age_seconds', labels, value: age }]
  })
}

/** The time until the next credentials expire. Expired ones are not counted: their owner has noticed. */
function describeCredentials(
  listed: Awaited<ReturnType<Store['listAdminCredentials']>>,
  now: EpochMs,
): readonly Sample[] {
  const left = listed.map(({ expiresAt }) => expiresAt - now).filter((ms) => ms > 0)
  if (left.length === 0) return []
  return [{ name: 'grantor_admin_credentials_expire_seconds', labels: [], value: Math.min(...left) / 1000 }]
}

async function atMost(limitMs: number, work: Promise<void> | undefined): Promise<void> {
  if (work === undefined) return
  let timer: NodeJS.Timeout | undefined
  const over = new Promise<void>((resolve) => void (timer = setTimeout(resolve, limitMs)))
  await Promise.race([work, over])
  clearTimeout(timer)
}
