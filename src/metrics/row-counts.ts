import { setImmediate } from 'node:timers/promises'
import type { Context } from '../ports/context.ts'
import type { Store } from '../ports/store.ts'
import type { Walk } from '../ports/walks.ts'
import type { EpochMs } from '../protocol/brand.ts'
import { chooseStartedKey } from '../protocol/key-rotation.ts'
import type { Sample } from './families.ts'

/** What stands in the store, as far as it was looked at. */
export interface RowCounts {
  /** Looks a bit further, and answers what is known. A store that is away or slow keeps nobody waiting. */
  readonly sample: () => Promise<readonly Sample[]>
}

/** Rows in a slice: about a millisecond of the store. */
const SLICE = 500
/** Slices of each table in one look. A million rows take fifty looks. */
const SLICES = 40
/** More often than this nobody looks, however many scrape. */
const PAUSE_MS = 5000
/** A scrape is answered after this long, with what is known then. */
const PATIENCE_MS = 500

type Needs = Pick<Context, 'clock'> & { readonly store: Pick<Store, 'walkGrants' | 'walkClients' | 'listKeys'> }

/**
 * Walks over the tables in slices, only while somebody scrapes: a whole table is never counted at once. The numbers are those
 * of the last walk that came to the end.
 */
export function openRowCounts({ clock, store }: Needs): RowCounts {
  const walkers = [
    openWalker('grants', clock, store.walkGrants, ({ live, over }) => ({ live, over })),
    openWalker('clients', clock, store.walkClients, ({ used, unused, disabled }) => ({ used, unused, disabled })),
  ]
  let keys: readonly Sample[] = []
  let lookedAt: EpochMs | undefined
  let looking: Promise<void> | undefined

  async function look(): Promise<void> {
    lookedAt = clock()
    keys = describeKeys(await store.listKeys(), clock())
    for (const { walk } of walkers) await walk()
  }

  return {
    async sample() {
      const isDue = lookedAt === undefined || Math.abs(clock() - lookedAt) >= PAUSE_MS
      if (isDue) {
        // What is away is seen by the age of the numbers, and by all that fails meanwhile.
        looking ??= look()
          .then(undefined, () => undefined)
          .finally(() => (looking = undefined))
      }
      await atMost(PATIENCE_MS, looking)
      return [...keys, ...walkers.flatMap(({ samples }) => samples())]
    },
  }
}

type Counts = Readonly<Record<string, number>>

function openWalker<Slice extends { readonly next: string }>(
  of: 'grants' | 'clients',
  clock: () => EpochMs,
  read: (walk: Walk) => Promise<Slice>,
  count: (slice: Slice) => Counts,
) {
  let known: { readonly counts: Counts; readonly begunAt: EpochMs } | undefined
  let after = ''
  let counts: Counts = {}
  let begunAt = clock()

  async function walk(): Promise<void> {
    for (let slice = 0; slice < SLICES; slice += 1) {
      if (after === '') [counts, begunAt] = [{}, clock()]
      const seen = await read({ after, limit: SLICE, now: clock() })
      counts = sum(counts, count(seen))
      after = seen.next
      if (after === '') return void (known = { counts, begunAt })
      // Requests come first: a store in this process answers without leaving the turn.
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

  return { walk, samples }
}

function sum(some: Counts, more: Counts): Counts {
  return Object.fromEntries(Object.entries(more).map(([state, value]) => [state, (some[state] ?? 0) + value]))
}

function describeKeys(keys: Awaited<ReturnType<Store['listKeys']>>, now: EpochMs): readonly Sample[] {
  return [...Map.groupBy(keys, ({ algorithm }) => algorithm)].flatMap(([algorithm, some]): readonly Sample[] => {
    const signing = chooseStartedKey(keys, algorithm, now)
    const labels = [algorithm]
    const count: Sample = { name: 'grantor_signing_keys', labels, value: some.length }
    if (signing === undefined) return [count]
    const age = (now - signing.activeFrom) / 1000
    return [count, { name: 'grantor_signing_key_age_seconds', labels, value: age }]
  })
}

async function atMost(limitMs: number, work: Promise<void> | undefined): Promise<void> {
  if (work === undefined) return
  let timer: NodeJS.Timeout | undefined
  const over = new Promise<void>((resolve) => void (timer = setTimeout(resolve, limitMs)))
  await Promise.race([work, over])
  clearTimeout(timer)
}
