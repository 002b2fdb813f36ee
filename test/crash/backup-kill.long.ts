import assert from 'node:assert/strict'
import { test } from 'node:test'
import { proveBackup } from '../../prove/backup/campaign.ts'
import { proveMove } from '../../prove/backup/move.ts'
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

test('MOV-04: after kill -9 of an export or import the same command completes the move, and no acknowledged client is lost', async (t) => {
  const findings = openFindings({ isPrinted: false })
  const openEmpty = async () => openSqlitePlace(temporaryFolder(t))
  const campaign = { rounds: 2, seed: Date.now() % 2 ** 32 }
  const left = await proveMove(await openEmpty(), openEmpty, temporaryFolder(t), findings, campaign)
  assert.deepEqual(findings.violations, [])
  assert.ok(left.acknowledged > 0)
  t.diagnostic(JSON.stringify(left))
})
