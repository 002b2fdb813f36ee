import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { StoreClosed, StoreRefusesWrites, StoreUnavailable } from '../../src/ports/store.ts'
import { openWriteCheck } from '../../src/store/write-check.ts'

/** A store whose probes end as the script says, and how often each was called. */
function openScript(pauseMs = 0, monotonic?: () => number) {
  const script: { look: Error | undefined; write: Error | undefined; looks: number; writes: number } = {
    look: undefined,
    write: undefined,
    looks: 0,
    writes: 0,
  }
  const look = async (): Promise<void> => {
    script.looks += 1
    if (script.look !== undefined) throw script.look
  }
  const write = async (): Promise<void> => {
    script.writes += 1
    if (script.write !== undefined) throw script.write
  }
  return { script, check: openWriteCheck({ writeProbes: { look, write, pauseMs } }, monotonic) }
}

const BROKEN = new StoreUnavailable('planted')

test('STO-07: while commits succeed a check writes nothing', async () => {
  const { script, check } = openScript()
  for (let count = 0; count < 3; count += 1) await check.require()
  assert.deepEqual([script.looks, script.writes, check.isDoubted()], [3, 0, false])
  check.refuse()
})

test('STO-07: one commit that failed takes no node out of the balancer where another write succeeds', async () => {
  const { script, check } = openScript()
  check.failed(BROKEN)
  assert.equal(check.isDoubted(), true)
  await check.require()
  assert.deepEqual([script.writes, check.isDoubted()], [1, false])
  await check.require()
  assert.equal(script.writes, 1)
})

test('STO-07: operations that fail one after the other cause no write each', async () => {
  const { script, check } = openScript(60_000)
  for (let count = 0; count < 5; count += 1) {
    check.failed(BROKEN)
    await check.require()
  }
  assert.deepEqual([script.writes, check.isDoubted()], [1, true])
})

test('STO-07: the fault of an operation, and a closed store, are no doubt', () => {
  const { check } = openScript()
  for (const cause of [new Error('a constraint'), new StoreClosed()]) check.failed(cause)
  assert.equal(check.isDoubted(), false)
})

test('STO-07: where the write fails too, the store accepts none until a write succeeds, also without a commit', async () => {
  const { script, check } = openScript()
  check.failed(BROKEN)
  script.write = new StoreRefusesWrites('store_locked')
  await assert.rejects(check.require(), script.write)
  await assert.rejects(check.require(), script.write)
  assert.equal(check.isDoubted(), true)
  check.refuse()
  script.write = undefined
  await until(check.require)
  assert.equal(check.isDoubted(), false)
})

test('STO-07: a commit that fails while the check writes keeps the doubt', async () => {
  let writes = 0
  const look = async (): Promise<void> => undefined
  const write = async (): Promise<void> => {
    writes += 1
    if (writes === 1) check.failed(new StoreUnavailable('again'))
  }
  const check = openWriteCheck({ writeProbes: { look, write, pauseMs: 0 } })
  check.failed(BROKEN)
  await check.require()
  assert.equal(check.isDoubted(), true)
  await check.require()
  assert.deepEqual([writes, check.isDoubted()], [2, false])
})

test('STO-07: concurrent checks share one, and the failing write is not repeated before its pause is over', async () => {
  const { script, check } = openScript(60_000)
  check.failed(BROKEN)
  script.write = BROKEN
  await Promise.allSettled([check.require(), check.require(), check.require()])
  assert.deepEqual([script.looks, script.writes], [1, 1])
  await assert.rejects(check.require(), BROKEN)
  assert.equal(script.writes, 1)
})

test('STO-07: a check of a store in doubt that hangs is answered with what is known', async (t: TestContext) => {
  const never = new Promise<void>(() => undefined)
  const check = openWriteCheck({ writeProbes: { look: () => never, write: () => never, pauseMs: 0 } })
  check.failed(BROKEN)
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const answer = assert.rejects(check.require(), BROKEN)
  t.mock.timers.tick(1000)
  await answer
})

test('STO-07: commits that would wait for a standby are refused at once, and a refusal makes the check that ends this', async () => {
  const { script, check } = openScript()
  script.look = new StoreRefusesWrites('commits_wait')
  await assert.rejects(check.require(), script.look)
  assert.throws(check.refuse, script.look)
  script.look = undefined
  await until(async () => check.refuse())
  await check.require()
})

test('STO-07: an outage lasts from the first failure that was noticed to the write that succeeds, also with short pauses', async () => {
  let now = 1_000_000
  const { script, check } = openScript(0, () => now)
  const commits = new StoreRefusesWrites('commits_wait')
  async function failUntilSeen(): Promise<void> {
    check.failed(BROKEN)
    now += 1000
    script.look = commits
    await assert.rejects(check.require(), commits)
    script.look = undefined
  }
  assert.equal(check.lastOutage(), undefined)
  await failUntilSeen()
  now += 4000
  assert.deepEqual(check.lastOutage(), { beganMsAgo: 15_000, endedMsAgo: 0 })
  await check.require()
  now += 10_000
  assert.deepEqual(check.lastOutage(), { beganMsAgo: 25_000, endedMsAgo: 10_000 })
  await failUntilSeen()
  assert.deepEqual(check.lastOutage(), { beganMsAgo: 26_000, endedMsAgo: 0 })
  await check.require()
  now += 10_001
  script.look = commits
  await assert.rejects(check.require(), commits)
  now += 60_000
  await assert.rejects(check.require(), commits)
  assert.deepEqual(check.lastOutage(), { beganMsAgo: 70_000, endedMsAgo: 0 })
  script.look = undefined
  await check.require()
  now += 1
  assert.deepEqual(check.lastOutage(), { beganMsAgo: 70_001, endedMsAgo: 1 })
})

test('AG-20: commits of one row that fail while other writes succeed are no outage', async () => {
  let now = 1_000_000
  const { check } = openScript(0, () => now)
  for (let round = 0; round < 10; round += 1) {
    check.failed(BROKEN)
    now += 5000
    assert.equal(check.lastOutage(), undefined)
    await check.require()
    assert.equal(check.lastOutage(), undefined)
  }
})

/** Repeats what fails until it succeeds. */
async function until(act: () => Promise<void>): Promise<void> {
  for (;;) {
    try {
      return await act()
    } catch {
      await new Promise((resolve) => setImmediate(resolve))
    }
  }
}
