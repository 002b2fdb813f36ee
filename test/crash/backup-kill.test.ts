import assert from 'node:assert/strict'
import { test } from 'node:test'
import { proveBackup } from '../../prove/backup/campaign.ts'
import { openSqlitePlace } from '../../prove/backup/place.ts'
import { openFindings } from '../../prove/findings.ts'
import { temporaryFolder } from '../support/server.ts'

test('BAK-03: after kill -9 at any point of a backup or a restore the previous store is whole', async (t) => {
  const findings = openFindings({ isPrinted: false })
  const folder = temporaryFolder(t)
  const left = await proveBackup(openSqlitePlace(folder), folder, findings, { points: 4, rows: 3000 })
  assert.deepEqual(findings.violations, [])
  t.diagnostic(JSON.stringify(left))
})
