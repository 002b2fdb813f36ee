import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { StoreUnavailable } from '../../src/ports/store.ts'
import { openTimelyWaits } from '../../src/store/timely-waits.ts'

/** Waits by timers that the test advances, and a way to wait for the store for some time. */
function open(t: TestContext) {
  t.mock.timers.enable({ apis: ['setInterval', 'setTimeout'] })
  const waits = openTimelyWaits()
  const pass = async (ms: number): Promise<void> => {
    for (let passed = 0; passed < ms; passed += 100) {
      t.mock.timers.tick(100)
      await turn()
    }
  }
  const ask = (ms: number): Promise<number> =>
    waits.within(() => new Promise((resolve) => void setTimeout(resolve, ms, ms)))
  return { waits, pass, ask }
}

test('all waits of a request share one limit', async (t) => {
  const { waits, pass, ask } = open(t)
  const steps: number[] = []
  const request = waits.inTime(async () => {
    for (;;) steps.push(await ask(1500))
  })
  const refused = assert.rejects(request, StoreUnavailable)
  await pass(3900)
  assert.deepEqual(steps, [1500, 1500])
  await pass(200)
  await refused
  // Its third step has its answer, and is the last one.
  await pass(3000)
  assert.deepEqual(steps, [1500, 1500])
})

test('waits at the same time count once, and what else a request does counts not', async (t) => {
  const { waits, pass, ask } = open(t)
  const other = (ms: number): Promise<void> => new Promise((resolve) => void setTimeout(resolve, ms))
  const request = waits.inTime(async () => {
    await Promise.all([ask(1500), ask(1500), ask(1400)])
    await other(20_000)
    return ask(2000)
  })
  await pass(24_000)
  assert.equal(await request, 2000)
})

test('a request that waited too long asks the store nothing more, and another request has its own limit', async (t) => {
  const { waits, pass, ask } = open(t)
  let asked = 0
  const request = waits.inTime(async () => {
    await ask(60_000).catch(() => undefined)
    await waits.within(async () => void (asked += 1))
  })
  const refused = assert.rejects(request, StoreUnavailable)
  await pass(4200)
  await refused
  assert.equal(asked, 0)
  const next = waits.inTime(() => ask(1000))
  await pass(1000)
  assert.equal(await next, 1000)
})

test('work outside of a request has no limit', async (t) => {
  const { pass, ask } = open(t)
  const work = ask(30_000)
  await pass(30_000)
  assert.equal(await work, 30_000)
})

test('a fault of the store reaches the request as it is', async (t) => {
  const { waits } = open(t)
  const fault = new Error('planted')
  await assert.rejects(
    waits.inTime(() => waits.within(() => Promise.reject(fault))),
    fault,
  )
})
