import assert from 'node:assert/strict'
import { test } from 'node:test'
import { StoreUnavailable, type OperationResult, type StoreDriver } from '../../src/ports/store.ts'
import type { Operation } from '../../src/ports/operations/index.ts'
import type { ClientId } from '../../src/protocol/ids.ts'
import { openBatchingStore } from '../../src/store/batching-store.ts'

/** A driver that records its batches. The contract tests cover the real drivers. */
function openNotebook(
  commit: (operations: readonly Operation[]) => Promise<readonly OperationResult[]>,
  batchesInFlight = 1,
): {
  batches: number[]
  driver: StoreDriver
} {
  const batches: number[] = []
  const driver = {
    batchesInFlight,
    commit: (operations: readonly Operation[]) => {
      batches.push(operations.length)
      return commit(operations)
    },
  } as unknown as StoreDriver
  return { batches, driver }
}

const echo = async (operations: readonly Operation[]): Promise<readonly OperationResult[]> =>
  operations.map(({ input }) => ({ kind: 'done', outcome: input }))
const id = (index: number): ClientId => `client-${index}` as ClientId

async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn += 1) await new Promise((resolve) => setImmediate(resolve))
}

test('all operations of one turn are one batch, and each caller gets the outcome of its own operation', async () => {
  const { batches, driver } = openNotebook(echo)
  const store = openBatchingStore(driver)
  const outcomes = await Promise.all(Array.from({ length: 100 }, (_, index) => store.deleteClient(id(index))))
  assert.deepEqual(batches, [100])
  assert.deepEqual(
    outcomes,
    Array.from({ length: 100 }, (_, index) => id(index)),
  )
})

test('while every turn adds operations a batch grows for a few turns, but not without limit', async () => {
  const { batches, driver } = openNotebook(echo)
  const store = openBatchingStore(driver)
  const outcomes: Promise<unknown>[] = []
  for (let turn = 0; turn < 12; turn += 1) {
    outcomes.push(store.deleteClient(id(turn)))
    await turns(1)
  }
  await Promise.all(outcomes)
  assert.equal(
    batches.reduce((sum, size) => sum + size, 0),
    12,
  )
  assert.ok(batches.length > 1 && batches.length <= 4, batches.join())
})

test('a batch does not grow over long turns', async () => {
  const { batches, driver } = openNotebook(echo)
  const store = openBatchingStore(driver)
  const outcomes: Promise<unknown>[] = []
  for (let turn = 0; turn < 3; turn += 1) {
    outcomes.push(store.deleteClient(id(turn)))
    const endMs = performance.now() + 10
    while (performance.now() < endMs);
    await turns(1)
  }
  await Promise.all(outcomes)
  assert.deepEqual(batches, [1, 1, 1])
})

test('a batch has a maximum size, and further operations follow in the next', async () => {
  const { batches, driver } = openNotebook(echo)
  const store = openBatchingStore(driver)
  await Promise.all(Array.from({ length: 1100 }, (_, index) => store.deleteClient(id(index))))
  assert.deepEqual(batches, [512, 512, 76])
})

test('as many batches run at a time as the driver allows', async () => {
  const releases: (() => void)[] = []
  const { batches, driver } = openNotebook(async (operations) => {
    await new Promise<void>((resolve) => releases.push(resolve))
    return echo(operations)
  }, 2)
  const store = openBatchingStore(driver)
  const outcomes: Promise<unknown>[] = []
  for (let index = 0; index < 3; index += 1) {
    outcomes.push(store.deleteClient(id(index)))
    await turns(8)
  }
  assert.deepEqual(batches, [1, 1])
  releases[0]?.()
  await turns(8)
  assert.deepEqual(batches, [1, 1, 1])
  for (const release of releases) release()
  assert.deepEqual(await Promise.all(outcomes), [id(0), id(1), id(2)])
})

test('one batch runs at a time, and operations that arrive meanwhile form the next', async () => {
  let release: () => void = () => undefined
  let underWay = 0
  const { batches, driver } = openNotebook(async (operations) => {
    underWay += 1
    assert.equal(underWay, 1)
    await new Promise<void>((resolve) => (release = resolve))
    underWay -= 1
    return echo(operations)
  })
  const store = openBatchingStore(driver)
  const first = store.deleteClient(id(1))
  await turns(8)
  const second = [store.deleteClient(id(2)), store.deleteClient(id(3))]
  await turns(8)
  assert.deepEqual(batches, [1])
  release()
  await first
  await turns(8)
  release()
  await Promise.all(second)
  assert.deepEqual(batches, [1, 2])
})

test('an operation that failed rejects for its own caller only', async () => {
  const { driver } = openNotebook(async (operations) =>
    operations.map(({ input }) =>
      input === id(1) ? { kind: 'failed', cause: new Error('mine') } : { kind: 'done', outcome: 'deleted' },
    ),
  )
  const store = openBatchingStore(driver)
  const results = await Promise.allSettled([
    store.deleteClient(id(0)),
    store.deleteClient(id(1)),
    store.deleteClient(id(2)),
  ])
  assert.deepEqual(
    results.map(({ status }) => status),
    ['fulfilled', 'rejected', 'fulfilled'],
  )
})

test('a batch that could not be committed rejects for all its callers, and the next one is committed', async () => {
  let isBroken = true
  const { driver } = openNotebook(async (operations) => {
    if (isBroken) throw new StoreUnavailable('a test')
    return echo(operations)
  })
  const store = openBatchingStore(driver)
  const results = await Promise.allSettled([store.deleteClient(id(0)), store.deleteClient(id(1))])
  assert.ok(results.every((result) => result.status === 'rejected' && result.reason instanceof StoreUnavailable))
  isBroken = false
  assert.equal(await store.deleteClient(id(2)), id(2))
})

test('beyond ten thousand waiting operations a further one is rejected at once', async () => {
  const { driver } = openNotebook(echo)
  const store = openBatchingStore(driver)
  const waiting = Array.from({ length: 10_000 }, (_, index) => store.deleteClient(id(index)))
  await assert.rejects(store.deleteClient(id(10_000)), StoreUnavailable)
  await Promise.all(waiting)
})

test('an operation that waited for two seconds is rejected before it starts, and later ones are served', async (t) => {
  let now = 0
  t.mock.method(performance, 'now', () => now)
  const releases: (() => void)[] = []
  const { batches, driver } = openNotebook(async (operations) => {
    await new Promise<void>((resolve) => releases.push(resolve))
    return echo(operations)
  })
  const store = openBatchingStore(driver)
  const slow = store.deleteClient(id(1))
  await turns(8)
  const late = store.deleteClient(id(2))
  now = 1999
  const patient = store.deleteClient(id(3))
  now = 2001
  releases[0]?.()
  assert.equal(await slow, id(1))
  await assert.rejects(late, StoreUnavailable)
  await turns(8)
  releases[1]?.()
  assert.equal(await patient, id(3))
  assert.deepEqual(batches, [1, 1])
})

test('an operation that waited because the process was suspended, not because of a batch, is done', async (t) => {
  let now = 0
  t.mock.method(performance, 'now', () => now)
  const store = openBatchingStore(openNotebook(echo).driver)
  const outcome = store.deleteClient(id(1))
  now = 60_000
  assert.equal(await outcome, id(1))
})

test('when the store becomes unavailable, waiting operations are rejected at the same time', async () => {
  let fail: (cause: unknown) => void = () => undefined
  const { batches, driver } = openNotebook(() => new Promise((_, reject) => (fail = reject)))
  const store = openBatchingStore(driver)
  const first = store.deleteClient(id(1))
  await turns(8)
  const waiting = [store.deleteClient(id(2)), store.deleteClient(id(3))]
  fail(new StoreUnavailable('a test'))
  for (const outcome of [first, ...waiting]) await assert.rejects(outcome, StoreUnavailable)
  assert.deepEqual(batches, [1])
})
