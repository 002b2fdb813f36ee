import assert from 'node:assert/strict'
import { test } from 'node:test'
import { COPIED_TABLES, placementOf, SHARD_KEYS } from '../../../../src/store/postgres/distribution.ts'
import { runHere } from '../../../support/command.ts'
import { openPlace, openPostgresPlace } from '../../../support/process.ts'

/** `npm run prove citus` distributes the tables of a cluster. */

test('database distribute reports that a file is not distributed', async (t) => {
  const { code, stderr } = await runHere(await openPlace(t), ['database', 'distribute'])
  assert.deepEqual(
    [code, stderr],
    [1, 'grantor: Only PostgreSQL with Citus is distributed. This database is a file.\n'],
  )
})

test('database distribute reports that the extension is missing, also in a dry run', async (t) => {
  const place = await openPostgresPlace(t)
  for (const options of [[], ['--dry-run']]) {
    const { code, stdout, stderr } = await runHere(place, ['database', 'distribute', ...options])
    assert.deepEqual([code, stdout], [1, ''])
    assert.match(stderr, /^grantor: The database has no extension citus\. .*create extension citus\n$/)
  }
})

test('a table is distributed by its shard key, or each machine has a copy', () => {
  assert.equal(placementOf('users'), 'user_id')
  assert.equal(placementOf('apis'), 'copied')
  assert.deepEqual(
    COPIED_TABLES.filter((table) => table in SHARD_KEYS),
    [],
  )
})
