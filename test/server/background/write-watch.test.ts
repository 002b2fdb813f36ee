import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import type { Log } from '../../../src/server/log.ts'
import { openWriteWatch } from '../../../src/server/background/write-watch.ts'
import { StoreRefusesWrites, StoreUnavailable } from '../../../src/ports/store.ts'

test('STO-07: the log and the metric follow whether the store accepts writes, also when /health/ready is never requested', async (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] })
  const lines: unknown[] = []
  const log = (line: object): void =>
    void lines.push('reason' in line ? Object.values(line).slice(0, 2) : Object.values(line)[0])
  let fault: Error | undefined
  let checks = 0
  let isDoubted = false
  const checkWrites = async (): Promise<void> => {
    checks += 1
    if (fault !== undefined) throw fault
  }
  const watch = openWriteWatch({ checkWrites, doubtsWrites: () => isDoubted }, {
    info: log,
    error: log,
  } as unknown as Log)
  t.after(watch.start())
  async function pass(seconds: number): Promise<unknown> {
    for (let second = 0; second < seconds; second += 1) {
      t.mock.timers.tick(1000)
      await turn()
    }
    const [sample] = watch.sample()
    return sample !== undefined && 'value' in sample ? sample.value : undefined
  }
  assert.equal(await pass(20), 1)
  assert.equal(checks, 3, 'a store that accepts writes is checked every 10 seconds')
  isDoubted = true
  assert.equal(await pass(3), 1)
  isDoubted = false
  assert.equal(checks, 6, 'a store that failed a commit is checked every second')
  for (const reason of ['disk_full', 'store_read_only'] as const) {
    fault = new StoreRefusesWrites(reason)
    assert.equal(await pass(10), 0)
    assert.equal(await pass(5), 0)
    fault = undefined
    assert.equal(await pass(1), 1)
  }
  // Requests log a store that does not respond.
  fault = new StoreUnavailable('it does not respond')
  assert.equal(await pass(10), 0)
  fault = undefined
  assert.equal(await pass(1), 1)
  assert.deepEqual(lines, [
    ['store.refuses-writes', 'disk_full'],
    'store.accepts-writes',
    ['store.refuses-writes', 'store_read_only'],
    'store.accepts-writes',
    'store.accepts-writes',
  ])
})
