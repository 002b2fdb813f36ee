import assert from 'node:assert/strict'
import { once } from 'node:events'
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import type { Worker } from 'node:worker_threads'
import { openSqliteStore } from '../../src/store/sqlite/store.ts'
import { aClient } from '../contract/records.ts'
import { temporaryFolder } from '../server.ts'

const MEGABYTE = 1024 * 1024

test('when the thread of checkpoints is gone SQLite makes them itself, and the store closes', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const path = join(temporaryFolder(t), 'grantor.db')
  const started = once(process, 'worker') as Promise<[Worker]>
  const store = openSqliteStore({ path, patienceMs: 10_000, checkpoints: 'worker' })
  t.mock.timers.tick(1000)
  const [worker] = await started
  t.mock.timers.reset()
  await worker.terminate()
  for (let batch = 0; batch < 40; batch += 1) {
    const clients = Array.from({ length: 500 }, () => aClient())
    await store.commit(clients.map((input) => ({ name: 'registerClient', input }) as const))
  }
  assert.ok(statSync(path).size > 5 * MEGABYTE)
  assert.ok(statSync(`${path}-wal`).size < 12 * MEGABYTE, String(statSync(`${path}-wal`).size))
  await store.close()
})

test('a store that is closed within a second starts no thread', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const started = t.mock.fn()
  process.on('worker', started)
  t.after(() => process.off('worker', started))
  const store = openSqliteStore({
    path: join(temporaryFolder(t), 'grantor.db'),
    patienceMs: 1000,
    checkpoints: 'worker',
  })
  t.mock.timers.tick(999)
  await store.close()
  t.mock.timers.tick(1000)
  assert.equal(started.mock.callCount(), 0)
})
