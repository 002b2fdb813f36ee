import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openRowCounts } from '../../src/metrics/row-counts.ts'
import type { Sample } from '../../src/metrics/families.ts'
import { StoreUnavailable } from '../../src/ports/store.ts'
import type { Walk } from '../../src/ports/walks.ts'
import type { EpochMs } from '../../src/base/brand.ts'

/** A store of so many live grants, without clients and keys, that can be gone. */
function openGrants(count: number) {
  const state = { now: 1_800_000_000_000 as EpochMs, isAway: false, walked: 0, delay: Promise.resolve() }
  const rowCounts = openRowCounts({
    clock: () => state.now,
    store: {
      listKeys: async () => [],
      listAdminCredentials: async () => [],
      findLastBackup: async () => undefined,
      walkClients: async () => ({ next: '', used: 0, unused: 0, disabled: 0 }),
      async walkGrants({ after, limit }: Walk) {
        await state.delay
        if (state.isAway) throw new StoreUnavailable('planted')
        state.walked += 1
        const from = Number(after)
        const live = Math.min(limit, count - from)
        return { next: live < limit ? '' : String(from + live), live, over: 0 }
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

test('a small store is counted completely in the first step', async () => {
  const { look } = openGrants(1234)
  assert.equal((await look())['grantor_grants live'], 1234)
})

test('a large store is counted in bounded steps, and its numbers appear at the end of the count', async () => {
  const { state, look } = openGrants(50_000)
  const first = await look()
  assert.equal(state.walked, 40)
  assert.equal(first['grantor_grants live'], undefined)
  assert.equal((await look())['grantor_grants live'], undefined)
  const third = await look()
  assert.equal(third['grantor_grants live'], 50_000)
  // The walk began two looks ago.
  assert.equal(third['grantor_row_counts_age_seconds grants'], 30)
})

test('however many scrapes there are, the store is read at most every five seconds', async () => {
  const { state, rowCounts, look } = openGrants(10)
  await look()
  await Promise.all(Array.from({ length: 50 }, () => rowCounts.sample()))
  assert.equal(state.walked, 1)
})

test('while the store is unavailable the last numbers remain, and their age increases', async () => {
  const { state, look } = openGrants(10)
  await look()
  state.isAway = true
  const away = await look()
  assert.equal(away['grantor_grants live'], 10)
  assert.equal(away['grantor_row_counts_age_seconds grants'], 15)
  state.isAway = false
  assert.equal((await look())['grantor_row_counts_age_seconds grants'], 0)
})

test('a store that does not reply blocks no scrape, and is asked once', async (t) => {
  const { state, look } = openGrants(10)
  const answer = Promise.withResolvers<void>()
  state.delay = answer.promise
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const waiting = look()
  // Counting asks for the keys, then for the first slice, then waits.
  await new Promise(setImmediate)
  t.mock.timers.tick(500)
  assert.deepEqual(await waiting, {})
  const again = look()
  await new Promise(setImmediate)
  t.mock.timers.tick(500)
  await again
  answer.resolve()
  await new Promise(setImmediate)
  assert.equal(state.walked, 1)
  t.mock.timers.reset()
  assert.equal((await look())['grantor_grants live'], 10)
})
