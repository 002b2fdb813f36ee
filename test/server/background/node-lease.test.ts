import assert from 'node:assert/strict'
import { EventEmitter, once } from 'node:events'
import { test, type TestContext } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { openNodeLease, startHolding } from '../../../src/server/background/node-lease.ts'
import { closedFirst } from '../../support/closed-first.ts'
import { openMigratedDatabase } from '../../support/store/migrated-database.ts'
import { openTestServer } from '../../support/server.ts'

test('one of two nodes holds the lease, and the other takes over when the first has not kept it for six seconds', async (t) => {
  const { one, other, elapse } = await openNodes(t)
  await one.round()
  await other.round()
  for (let second = 0; second < 20; second += 2) {
    assert.deepEqual([one.isHeld(), other.isHeld()], [true, false])
    elapse(2000)
    await one.round()
    await other.round()
  }
  elapse(3999)
  await other.round()
  assert.deepEqual([one.isHeld(), other.isHeld()], [true, false])
  elapse(2001)
  await other.round()
  assert.deepEqual([one.isHeld(), other.isHeld()], [false, true])
  // The first one was not stopped, only slow.
  await one.round()
  await one.round()
  assert.deepEqual([one.isHeld(), other.isHeld()], [false, true])
})

test('a node that stops gives the lease up, and the other takes it with its next look', async (t) => {
  const { one, other } = await openNodes(t)
  await one.round()
  await other.round()
  await startHolding(one)()
  await other.round()
  assert.deepEqual([one.isHeld(), other.isHeld()], [false, true])
})

test('a node whose clock differs from the database’s does not hold the lease', async (t) => {
  const { one, other, differ } = await openNodes(t)
  await one.round()
  differ(60_000)
  await one.round()
  await other.round()
  assert.deepEqual([one.isHeld(), other.isHeld()], [false, true])
})

test('of two nodes the one that holds the lease sweeps', async (t) => {
  const closed = closedFirst(t)
  const env = { DATABASE_URL: await openMigratedDatabase(t), GRANTOR_SECRET: 's'.repeat(40) }
  const swept = new EventEmitter()
  t.mock.timers.enable({ apis: ['setInterval'] })
  const onLog = (line: string): void => void (line.includes('"store.swept"') && swept.emit('swept'))
  const holder = closed(await openTestServer(t, { env, onLog, listen: true }))
  while ((await holder.context.store.findLeaseMark('background')) === undefined) await nextTurn()
  const other = closed(await openTestServer(t, { env, clock: holder.clock, listen: true }))
  const first = once(swept, 'swept')
  t.mock.timers.tick(10_000)
  await first
  await other.close()
  assert.equal(other.log().includes('"store.swept"'), false)
})

/** Two nodes on one database, whose monotonic clocks started at other times. */
async function openNodes(t: TestContext) {
  const { context } = await openTestServer(t, {
    env: { DATABASE_URL: await openMigratedDatabase(t), GRANTOR_SECRET: 's'.repeat(40) },
  })
  let elapsed = 0
  let difference = 0
  const clockCheck = { ...context.clockCheck, differenceMs: () => difference }
  return {
    one: openNodeLease({ ...context, clockCheck }, 'background', () => 5_000_000 + elapsed),
    other: openNodeLease(context, 'background', () => elapsed),
    elapse: (milliseconds: number) => void (elapsed += milliseconds),
    differ: (milliseconds: number) => void (difference = milliseconds),
  }
}
