import assert from 'node:assert/strict'
import { test } from 'node:test'
import { rehearse } from './rehearsal.ts'
import { openTestDatabase } from '../support/store/postgres.ts'

test('the commands of docs/operations/rehearsal.md give exactly the outputs that the page shows, on PostgreSQL', async (t) => {
  const databases = { REHEARSAL_URL: await openTestDatabase(t), RESTORED_URL: await openTestDatabase(t) }
  assert.equal(await rehearse(t, databases), '')
})
