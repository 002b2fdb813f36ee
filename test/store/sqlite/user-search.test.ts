import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { openSqliteStore } from '../../../src/store/sqlite/store.ts'
import type { Operation } from '../../../src/ports/operations/index.ts'
import { firstUserId } from '../../../src/protocol/ids.ts'
import { aClient, aUser, at, HOUR } from '../../support/records.ts'
import { temporaryFolder } from '../../support/server.ts'

test('a turn of the index in a batch that is rolled back leaves the next turns, and other operations, as they are', async (t) => {
  const store = openSqliteStore({
    path: join(temporaryFolder(t), 'grantor.db'),
    patienceMs: 1000,
    checkpoints: 'inline',
  })
  t.after(() => store.close())
  const index: Operation = {
    name: 'indexUsers',
    input: { reached: undefined, until: firstUserId(at(HOUR)), limit: 10 },
  }
  const broken = { name: 'createUser', input: { ...aUser(), email: {} } } as unknown as Operation
  await store.commit([{ name: 'createUser', input: aUser() }])
  for (let attempt = 0; attempt < 2; attempt += 1) {
    const results = await store.commit([index, broken, { name: 'registerClient', input: aClient() }])
    assert.deepEqual(
      results.map(({ kind }) => kind),
      ['done', 'failed', 'done'],
    )
  }
  const [indexed] = await store.commit([index])
  assert.equal(indexed?.kind, 'done')
})
