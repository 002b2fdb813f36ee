import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openPageCommands } from './page-commands.ts'
import { rehearse } from './page-replays.ts'

test('the commands of docs/operations/rehearsal.md give exactly the outputs that the page shows', async (t) => {
  assert.equal(await rehearse(t, await openPageCommands(t)), '')
})
