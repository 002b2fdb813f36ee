import assert from 'node:assert/strict'
import { test } from 'node:test'
import { rehearse } from './rehearsal.ts'

test('the commands of docs/operations/rehearsal.md give exactly the outputs that the page shows', async (t) => {
  assert.equal(await rehearse(t, {}), '')
})
