import assert from 'node:assert/strict'
import { test } from 'node:test'
import { proveKills, proveRolling } from '../../prove/restarts-campaign.ts'
import { openStage } from '../../prove/stage.ts'
import { openTally } from '../../prove/tally.ts'
import { startPostgres } from '../support/postgres.ts'

/** A machine that is busy with other work may take longer than the campaigns allow. */
const LIMIT_MS = 30_000
const onProgress = (): void => undefined

test('a rolling restart fails no request, and a killed database loses nothing that was acknowledged', async (t) => {
  const postgres = await startPostgres({ settings: { fsync: 'on' } })
  t.after(postgres.remove)
  const { url } = await postgres.createDatabase()
  const stage = await openStage({ databaseUrl: url, nodes: 3, drainSeconds: 2, limitMs: LIMIT_MS })
  const tally = openTally()
  try {
    const rolling = await proveRolling(stage, tally, { restarts: 1, onProgress })
    assert.deepEqual(tally.violations, [])
    assert.equal(rolling.nodeRestarts, 3)
    assert.ok(rolling.requests > 0 && rolling.failed === 0)
    const killed = await proveKills(stage, tally, postgres, { kills: 1, onProgress })
    assert.deepEqual(tally.violations, [])
    assert.ok(killed.acknowledged > 0 && killed.windowMs.worst > 0)
  } finally {
    await stage.close()
  }
})
