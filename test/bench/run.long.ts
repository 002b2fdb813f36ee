import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { test } from 'node:test'
import { promisify } from 'node:util'
import type { Report } from '../../bench/throughput/report.ts'

const run = promisify(execFile)
const SCRIPT = new URL('../../bench/throughput/run.ts', import.meta.url).pathname

test('the bench measures every endpoint of the real server and of the bare server', async () => {
  const args = ['--rounds', '1', '--seconds', '0.05', '--connections', '4', '--json']
  const { stdout } = await run(process.execPath, [SCRIPT, ...args])
  const report = JSON.parse(stdout) as Report
  assert.deepEqual(
    report.endpoints.map(({ endpoint }) => endpoint),
    [
      'register',
      'client_credentials',
      'assertion',
      'dpop',
      'assertion+dpop',
      'opaque',
      'code',
      'login',
      'refresh',
      'refresh-earlier',
      'introspect',
      'metadata',
      'jwks',
    ],
  )
  for (const { subject, bare, ratio } of report.endpoints) {
    assert.ok(subject.best > 0 && bare.best > 0)
    assert.equal(ratio, subject.best / bare.best)
  }
})
