import assert from 'node:assert/strict'
import { test } from 'node:test'
import { proveKills, proveRolling } from '../../prove/restarts/campaign.ts'
import { openCluster } from '../../prove/cluster/cluster.ts'
import { openFindings } from '../../prove/findings.ts'
import { startPostgres } from '../../tools/postgres/postgres.ts'

/** A machine that is busy with other work may take longer than the campaigns allow. */
const LIMIT_MS = 30_000
/** Each client pauses for long, so that the load takes little of the processor. */
const PAUSE_MS = 200

test('a rolling restart fails no request, and a killed database loses nothing that was acknowledged', async (t) => {
  const postgres = await startPostgres({ settings: { fsync: 'on' } })
  t.after(postgres.remove)
  const { url } = await postgres.createDatabase()
  const cluster = await openCluster({ databaseUrls: [url], nodes: 2, drainSeconds: 1, limitMs: LIMIT_MS })
  const findings = openFindings({ isPrinted: false })
  try {
    const rolling = await proveRolling(cluster, findings, { restarts: 1, pauseMs: PAUSE_MS })
    assert.deepEqual(findings.violations, [])
    assert.equal(rolling.drainsMs.length, 2)
    assert.ok(rolling.requests > 0 && rolling.failed === 0)
    const killed = await proveKills(cluster, findings, postgres, { kills: 1, quietMs: 200, pauseMs: PAUSE_MS })
    assert.deepEqual(findings.violations, [])
    assert.ok(killed.acknowledged > 0 && (killed.windowsMs[0] ?? 0) > 0)
  } finally {
    await cluster.close()
  }
})
