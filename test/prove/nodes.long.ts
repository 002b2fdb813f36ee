import assert from 'node:assert/strict'
import { test } from 'node:test'
import { proveNodes } from '../../prove/nodes/campaign.ts'
import { openCluster } from '../../prove/cluster/cluster.ts'
import { openFindings } from '../../prove/findings.ts'
import { openTestDatabase } from '../support/store/postgres.ts'

/** A machine that is busy with other work may take longer than the campaigns allow. */
const LIMIT_MS = 30_000

test('CODE-02, RT-03, AG-14, DEV-02, JAG-04: on three nodes one of many concurrent requests gets what only one may have, and a reuse is seen by all', async (t) => {
  const databaseUrl = await openTestDatabase(t)
  const cluster = await openCluster({ databaseUrls: [databaseUrl], nodes: 3, drainSeconds: 0, limitMs: LIMIT_MS })
  t.after(cluster.close)
  const findings = openFindings({ isPrinted: false })
  const rounds = await proveNodes(cluster, findings, { rounds: 2, parallel: 24 })
  assert.deepEqual(findings.violations, [])
  assert.deepEqual(rounds, {
    code: 2,
    device: 1,
    refresh: 2,
    copies: 1,
    theft: 1,
    walk: 1,
    assertion: 1,
    membership: 1,
    unavailable: 0,
  })
  assert.ok(findings.operations > 100)
})
