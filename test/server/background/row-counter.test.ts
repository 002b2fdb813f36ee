import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { EpochMs } from '../../../src/base/brand.ts'
import type { RowCountsRecord } from '../../../src/ports/records/row-counts.ts'
import type { Walk } from '../../../src/ports/walks.ts'
import { countDue } from '../../../src/server/background/row-counter.ts'

/** A store of so many live grants and no clients or users, with the time that a slice of them takes. */
function openGrants(count: number, msOf: (rows: number) => number = () => 0) {
  const state = { now: 1_800_000_000_000 as EpochMs, monotonic: 0, record: undefined as string | undefined, saves: 0 }
  const slices: number[] = []
  const counter = {
    clock: () => state.now,
    monotonic: () => state.monotonic,
    pause: async (milliseconds: number) => void (state.monotonic += milliseconds),
    store: {
      findRowCounts: async () =>
        state.record === undefined ? undefined : (JSON.parse(state.record) as RowCountsRecord),
      async replaceSetting({ value }: { readonly value: string }) {
        state.record = value
        state.saves += 1
        return 'replaced' as const
      },
      walkClients: async () => ({ next: '', used: 0, unused: 0, disabled: 0 }),
      walkUsers: async () => ({ next: '', used: 0, unused: 0, disabled: 0, indexed: 0 }),
      async walkGrants({ after, limit }: Walk) {
        slices.push(limit)
        state.monotonic += msOf(limit)
        const from = Number(after)
        const live = Math.min(limit, count - from)
        return { next: live < limit ? '' : String(from + live), live, over: 0 }
      },
    },
  }
  const grants = () => (state.record === undefined ? {} : (JSON.parse(state.record) as RowCountsRecord).grants)
  return { state, slices, counter, grants }
}

test('a count that was ended goes on where it was, on whichever node, and has all rows once', async () => {
  const { slices, counter, grants } = openGrants(100_000)
  await countDue(counter, () => slices.length < 4)
  assert.deepEqual(
    [slices.length, grants().finished, grants().running?.counts],
    [4, undefined, { live: 7500, over: 0 }],
  )
  await countDue(counter, () => true)
  assert.deepEqual([grants().finished?.counts, grants().running], [{ live: 100_000, over: 0 }, undefined])
})

test('a slice has as many rows as take a few milliseconds, and the place is stored every 15 seconds', async () => {
  const slow = openGrants(5_000, () => 15)
  await countDue(slow.counter, () => true)
  assert.deepEqual(new Set(slow.slices), new Set([500]))
  const fast = openGrants(2_000_000, (rows) => rows / 10_000)
  await countDue(fast.counter, () => true)
  assert.equal(Math.max(...fast.slices), 20_000)
  assert.ok(fast.slices.length < 120, `${fast.slices.length} slices`)
  const long = openGrants(8_000, () => 4_000)
  await countDue(long.counter, () => long.slices.length < 9)
  // A slice and its pause are 8 seconds: at the end of the clients, four times after two slices, and at the end.
  assert.equal(long.state.saves, 6)
})

test('the next count begins after nine times the last one, at least a minute, and at once if the clock was set back', async () => {
  for (const [tookMs, restMs] of [
    [0, 60_000],
    [10_000, 90_000],
  ] as const) {
    const { state, slices, counter } = openGrants(100, () => tookMs)
    await countDue(counter, () => true)
    state.now = (state.now + restMs - 1) as EpochMs
    await countDue(counter, () => true)
    assert.equal(slices.length, 1)
    state.now = (state.now + 1) as EpochMs
    await countDue(counter, () => true)
    assert.equal(slices.length, 2)
    state.now = (state.now - 7 * 86_400_000) as EpochMs
    await countDue(counter, () => true)
    assert.equal(slices.length, 3)
  }
})
