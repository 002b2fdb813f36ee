import assert from 'node:assert/strict'
import { test } from 'node:test'
import { proveNodes } from '../../prove/nodes-campaign.ts'
import { openStage } from '../../prove/stage.ts'
import { openTally } from '../../prove/tally.ts'
import { openTestDatabase } from '../support/postgres.ts'

/** A machine that is busy with other work may take longer than the campaigns allow. */
const LIMIT_MS = 30_000

test('CODE-02, RT-03: on three nodes one of many concurrent requests gets what only one may have, and a reuse is seen by all', async (t) => {
  const databaseUrl = await openTestDatabase(t)
  const stage = await openStage({ databaseUrl, nodes: 3, drainSeconds: 0, limitMs: LIMIT_MS })
  t.after(stage.close)
  const tally = openTally()
  const result = await proveNodes(stage, tally, { rounds: 4, parallel: 50, onProgress: () => undefined })
  assert.deepEqual(result.violations, [])
  assert.deepEqual(result.rounds, { code: 4, refresh: 4, theft: 1, walk: 1 })
  assert.ok(result.operations > 400)
})
