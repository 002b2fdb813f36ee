import { setImmediate } from 'node:timers/promises'
import type { Context } from '../ports/context.ts'
import type { Store } from '../ports/store.ts'
import type { Walk } from '../ports/walks.ts'
import type { EpochMs } from '../base/brand.ts'
import { chooseIdTokenKey, chooseStartedKey, linesOf } from '../protocol/key-rotation.ts'
import type { Sample } from './families.ts'

/** Counts of grants and clients, and the signing keys. */
export interface RowCounts {
  /** Continues counting, and returns the known numbers. Waits only briefly for a store that is unavailable or slow. */
  readonly sample: () => Promise<readonly Sample[]>
}

/** Rows in a slice, which takes the store about a millisecond. */
const SLICE = 500
/** Slices of each table in one step. Counting a million rows takes fifty steps. */
const SLICES = 40
/** The newest credentials of administrators that are read. */
const CREDENTIALS_LIMIT = 200
/** The shortest time between two steps, however many scrapes there are. */
const PAUSE_MS = 5000
/** A scrape waits at most this long for a step, and then returns the known numbers. */
const STEP_TIMEOUT_MS = 500

type Needs = Pick<Context, 'clock'> & {
  readonly store: Pick<Store, 'walkGrants' | 'walkClients' | 'listKeys' | 'listAdminCredentials' | 'findLastBackup'>
}

/**
 * Counts rows in slices while /metrics is being scraped; never reads a whole table at once. The numbers are those of the last
 * count that reached the end of its table.
 */
export function openRowCounts({ clock, store }: Needs): RowCounts {
  const counters = [
    openRowCounter('grants', clock, store.walkGrants, ({ live, over }) => ({ live, over })),
    openRowCounter('clients', clock, store.walkClients, ({ used, unused, disabled }) => ({ used, unused, disabled })),
  ]
  let keys: readonly Sample[] = []
  let credentials: readonly Sample[] = []
  let backup: readonly Sample[] = []
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
    for (const { countSlices } of counters) await countSlices()
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
      return [...keys, ...credentials, ...backup, ...counters.flatMap(({ samples }) => samples())]
    },
  }
}

type Counts = Readonly<Record<string, number>>

function openRowCounter<Slice extends { readonly next: string }>(
  of: 'grants' | 'clients',
  clock: () => EpochMs,
  read: (walk: Walk) => Promise<Slice>,
  count: (slice: Slice) => Counts,
) {
  let known: { readonly counts: Counts; readonly begunAt: EpochMs } | undefined
  let after = ''
  let counts: Counts = {}
  let begunAt = clock()

  async function countSlices(): Promise<void> {
    for (let slice = 0; slice < SLICES; slice += 1) {
      if (after === '') [counts, begunAt] = [{}, clock()]
      const seen = await read({ after, limit: SLICE, now: clock() })
      counts = sum(counts, count(seen))
      after = seen.next
      if (after === '') return void (known = { counts, begunAt })
      // Lets requests run in between: a store in this process returns without leaving the turn of the event loop.
      await setImmediate()
    }
  }

  function samples(): readonly Sample[] {
    if (known === undefined) return []
    const name = of === 'grants' ? 'grantor_grants' : 'grantor_clients'
    const age = Math.max(0, clock() - known.begunAt) / 1000
    return [
      ...Object.entries(known.counts).map(([state, value]) => ({ name, labels: [state], value }) as const),
      { name: 'grantor_row_counts_age_seconds', labels: [of], value: age },
    ]
  }

  return { countSlices, samples }
}

function sum(some: Counts, more: Counts): Counts {
  return Object.fromEntries(Object.entries(more).map(([state, value]) => [state, (some[state] ?? 0) + value]))
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
