import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { test } from 'node:test'
import { promisify } from 'node:util'
import type { Report } from '../../bench/throughput/report.ts'

const run = promisify(execFile)
const SCRIPT = new URL('../../bench/throughput/run.ts', import.meta.url).pathname
const SMALL = ['--rounds', '1', '--seconds', '0.05', '--connections', '4', '--json', '--only']

test('every endpoint is measured on PostgreSQL and on SQLite, and its cost for the database is reported', async () => {
  const { stdout } = await run(process.execPath, [SCRIPT, '--store', 'postgres', ...SMALL, 'register,refresh'])
  const { endpoints, machine } = JSON.parse(stdout) as Report
  assert.deepEqual(
    endpoints.map(({ endpoint, server }) => `${endpoint} on ${server}`),
    ['register on SQLite', 'register on PostgreSQL', 'refresh on SQLite', 'refresh on PostgreSQL'],
  )
  assert.ok(machine.postgres !== undefined)
  for (const { server, database, gate } of endpoints) {
    assert.equal(database !== undefined, server === 'PostgreSQL')
    assert.ok(gate !== undefined)
    // With four connections a commit serves at most four requests.
    if (database?.requestsPerCommit !== undefined) assert.ok(database.requestsPerCommit <= 4.5)
  }
})

test('several processes are measured together with one, and several processes on SQLite are refused', async () => {
  const { stdout } = await run(process.execPath, [SCRIPT, '--store', 'postgres', '--workers', '2', ...SMALL, 'refresh'])
  const { endpoints } = JSON.parse(stdout) as Report
  assert.deepEqual(
    endpoints.map(({ server, gate }) => [server, gate]),
    [
      ['PostgreSQL, 1 process', undefined],
      ['PostgreSQL, 2 processes', undefined],
    ],
  )
  await assert.rejects(run(process.execPath, [SCRIPT, '--workers', '2']), { code: 2, stderr: /--store postgres/ })
})
