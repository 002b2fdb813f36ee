import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openTestDatabase } from '../support/store/postgres.ts'
import { rehearse, walkThrough } from './page-replays.ts'

/** Each command in a process of its own. */

test('the commands of docs/operations/rehearsal.md give exactly the outputs that the page shows, on PostgreSQL', async (t) => {
  const databases = { REHEARSAL_URL: await openTestDatabase(t), RESTORED_URL: await openTestDatabase(t) }
  assert.equal(await rehearse(t, databases), '')
})

test('the commands of docs/walkthrough.md as processes give exactly the outputs that the page shows', async (t) => {
  assert.deepEqual(await walkThrough(t, {}), [''])
})
