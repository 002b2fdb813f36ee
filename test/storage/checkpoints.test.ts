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
  const path = join(temporaryFolder(t), 'grantor.db')
  const started = once(process, 'worker') as Promise<[Worker]>
  const store = openSqliteStore({ path, patienceMs: 10_000, checkpoints: 'worker' })
  const [worker] = await started
  await worker.terminate()
  for (let batch = 0; batch < 40; batch += 1) {
    const clients = Array.from({ length: 500 }, () => aClient())
    await store.commit(clients.map((input) => ({ name: 'registerClient', input }) as const))
  }
  assert.ok(statSync(path).size > 5 * MEGABYTE)
  assert.ok(statSync(`${path}-wal`).size < 12 * MEGABYTE, String(statSync(`${path}-wal`).size))
  await store.close()
})
