import assert from 'node:assert/strict'
import { test } from 'node:test'
import { renderMetrics } from '../../src/metrics/exposition.ts'
import { openStoreCounters } from '../../src/metrics/store-counters.ts'
import { StoreUnavailable, type OperationResult, type StoreDriver } from '../../src/ports/store.ts'
import { openBatchingStore } from '../../src/store/batching-store.ts'
import { parseScrape, type Scraped } from '../support/scraped.ts'

/** A store whose batches end as `commit` says. */
function openCounted(commit: (count: number) => Promise<readonly OperationResult[]>) {
  const counters = openStoreCounters()
  const driver = { batchesInFlight: 1, commit: (operations: readonly unknown[]) => commit(operations.length) }
  const store = openBatchingStore(driver as unknown as StoreDriver, { ...counters.observer, mark: () => undefined })
  const read = (): Scraped => parseScrape(renderMetrics([{ worker: undefined, samples: counters.samples() }]))
  return { store, read }
}

const fill = (count: number, settled: OperationResult): readonly OperationResult[] =>
  Array.from({ length: count }, () => settled)

test('a lost batch is counted as failed, and so is each of its operations', async () => {
  const { store, read } = openCounted(() => Promise.reject(new StoreUnavailable('planted')))
  await Promise.allSettled([store.endSession('gss_1' as never), store.endSession('gss_2' as never)])
  const { value } = read()
  assert.equal(value('grantor_store_commit_seconds_count', { outcome: 'failed' }), 1)
  assert.equal(value('grantor_store_commit_seconds_count', { outcome: 'done' }), 0)
  assert.equal(value('grantor_store_operations_total', { operation: 'endSession', outcome: 'failed' }), 2)
})

test('a failed operation is counted as failed, and the others of its batch by their outcomes', async () => {
  const { store, read } = openCounted(async () => [
    { kind: 'done', outcome: 'ended' },
    { kind: 'failed', cause: new Error('planted') },
  ])
  await Promise.allSettled([store.endSession('gss_1' as never), store.endSession('gss_2' as never)])
  const { value } = read()
  assert.equal(value('grantor_store_operations_total', { operation: 'endSession', outcome: 'ended' }), 1)
  assert.equal(value('grantor_store_operations_total', { operation: 'endSession', outcome: 'failed' }), 1)
  assert.equal(value('grantor_store_batch_operations_sum'), 2)
})

test('a hash of another system that was replaced is counted by its format, and one that was not is not', async () => {
  const outcomes = ['changed', 'unknown', 'changed'] as const
  const { store, read } = openCounted(async () => outcomes.map((outcome) => ({ kind: 'done', outcome })))
  const change = { id: 'gus_1' as never, previousHash: 'theirs', passwordHash: 'ours' }
  await Promise.all(
    (['bcrypt', 'scrypt', 'bcrypt'] as const).map((format) => store.upgradePassword({ ...change, format })),
  )
  const { value } = read()
  const counts = (['bcrypt', 'scrypt'] as const).map((format) => value('grantor_password_upgrades_total', { format }))
  assert.deepEqual(counts, [2, 0])
})

test('an arbitrary text that the store returns does not become a label', async () => {
  const { store, read } = openCounted(async (count) => fill(count, { kind: 'done', outcome: 'a-kept-text' }))
  await store.insertSettingOnce({ name: 'secret-check', value: 'a-kept-text' })
  const { text, value } = read()
  assert.ok(!text.includes('a-kept-text'))
  assert.equal(value('grantor_store_operations_total', { operation: 'insertSettingOnce', outcome: 'done' }), 1)
})

test('waiting operations, running batches and operations rejected by a full queue are reported', async () => {
  const commit = Promise.withResolvers<void>()
  const { store, read } = openCounted(async (count) => {
    await commit.promise
    return fill(count, { kind: 'done', outcome: 'ended' })
  })
  const first = store.endSession('gss_1' as never)
  // A batch grows for four turns at most.
  for (let turn = 0; turn < 6; turn += 1) await new Promise(setImmediate)
  const others = Array.from({ length: 10_002 }, () => store.endSession('gss_2' as never))
  const settled = Promise.allSettled(others)
  const { value } = read()
  assert.equal(value('grantor_store_batches_in_flight'), 1)
  assert.equal(value('grantor_store_waiting'), 10_000)
  assert.equal(value('grantor_store_refused_total', { reason: 'full' }), 2)
  commit.resolve()
  await first
  assert.equal((await settled).filter(({ status }) => status === 'rejected').length, 2)
  const after = read()
  assert.equal(after.value('grantor_store_waiting'), 0)
  assert.equal(after.value('grantor_store_operations_total', { operation: 'endSession', outcome: 'ended' }), 10_001)
})

test('an operation that waited for too long is counted as rejected', async (t) => {
  const commit = Promise.withResolvers<void>()
  const { store, read } = openCounted(async (count) => {
    await commit.promise
    return fill(count, { kind: 'done', outcome: 'ended' })
  })
  let now = 0
  t.mock.method(performance, 'now', () => now)
  const first = store.endSession('gss_1' as never)
  for (let turn = 0; turn < 6; turn += 1) await new Promise(setImmediate)
  const late = store.endSession('gss_2' as never)
  now = 2001
  commit.resolve()
  await first
  await assert.rejects(late, StoreUnavailable)
  assert.equal(read().value('grantor_store_refused_total', { reason: 'late' }), 1)
  assert.equal(read().value('grantor_store_commit_seconds_sum', { outcome: 'done' }), 2.001)
})
