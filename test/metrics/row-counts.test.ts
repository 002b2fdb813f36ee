import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openRowCounts } from '../../src/metrics/row-counts.ts'
import type { Sample } from '../../src/metrics/families.ts'
import type { RowCountsRecord } from '../../src/ports/records/row-counts.ts'
import { StoreUnavailable } from '../../src/ports/store.ts'
import type { EpochMs } from '../../src/base/brand.ts'

const START = 1_800_000_000_000 as EpochMs

const COUNTED: RowCountsRecord = {
  grants: {
    finished: { counts: { live: 7, over: 2 }, begunAt: START, endedAt: (START + 30_000) as EpochMs, countedMs: 20_000 },
    running: { counts: { live: 3 }, begunAt: (START + 60_000) as EpochMs, countedMs: 1, after: 'x' },
  },
  clients: { running: { counts: { used: 1 }, begunAt: START, countedMs: 1, after: 'x' } },
  users: {
    finished: {
      counts: { used: 5, unused: 2, disabled: 1, indexed: 6 },
      begunAt: START,
      endedAt: (START + 30_000) as EpochMs,
      countedMs: 4000,
    },
  },
}

/** A store that remembers what is counted, and can be gone. */
function openCounted(record: RowCountsRecord | undefined) {
  const state = { now: START, isAway: false, read: 0, delay: Promise.resolve() }
  const rowCounts = openRowCounts({
    clock: () => state.now,
    store: {
      listKeys: async () => [],
      listAdminCredentials: async () => [],
      findLastBackup: async () => undefined,
      async findRowCounts() {
        await state.delay
        if (state.isAway) throw new StoreUnavailable('planted')
        state.read += 1
        return record
      },
    },
  })
  const look = async (): Promise<Readonly<Record<string, number>>> => {
    state.now = (state.now + 15_000) as EpochMs
    return numbersOf(await rowCounts.sample())
  }
  return { state, rowCounts, look }
}

function numbersOf(samples: readonly Sample[]): Readonly<Record<string, number>> {
  return Object.fromEntries(
    samples.map((sample) => [`${sample.name} ${sample.labels.join()}`, 'value' in sample ? sample.value : 0]),
  )
}

test('the numbers are those of the last whole count; a first count that is under way has only an age', async () => {
  assert.deepEqual(await openCounted(COUNTED).look(), {
    'grantor_grants live': 7,
    'grantor_grants over': 2,
    'grantor_row_counts_age_seconds grants': 15,
    'grantor_row_count_duration_seconds grants': 20,
    'grantor_row_counts_age_seconds clients': 15,
    'grantor_row_count_duration_seconds clients': 0,
    'grantor_users used': 5,
    'grantor_users unused': 2,
    'grantor_users disabled': 1,
    'grantor_users_indexed ': 6,
    'grantor_row_counts_age_seconds users': 15,
    'grantor_row_count_duration_seconds users': 4,
  })
  assert.deepEqual(await openCounted(undefined).look(), {})
})

test('however many scrapes there are, the store is read at most every five seconds', async () => {
  const { state, rowCounts, look } = openCounted(COUNTED)
  await look()
  await Promise.all(Array.from({ length: 50 }, () => rowCounts.sample()))
  assert.equal(state.read, 1)
})

test('while the store is unavailable the last numbers remain, and their age increases', async () => {
  const { state, look } = openCounted(COUNTED)
  await look()
  state.isAway = true
  const away = await look()
  assert.deepEqual([away['grantor_grants live'], away['grantor_row_counts_age_seconds grants']], [7, 30])
})

test('a store that does not reply blocks no scrape, and is asked once', async (t) => {
  const { state, look } = openCounted(COUNTED)
  const answer = Promise.withResolvers<void>()
  state.delay = answer.promise
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const waiting = look()
  // Three other reads come first.
  await new Promise(setImmediate)
  t.mock.timers.tick(500)
  assert.deepEqual(await waiting, {})
  const again = look()
  await new Promise(setImmediate)
  t.mock.timers.tick(500)
  await again
  answer.resolve()
  await new Promise(setImmediate)
  assert.equal(state.read, 1)
  t.mock.timers.reset()
  assert.equal((await look())['grantor_grants live'], 7)
})
