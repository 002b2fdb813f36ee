import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { test } from 'node:test'
import { promisify } from 'node:util'

const SCRIPT = new URL('../../bench/sign-in/run.ts', import.meta.url).pathname

test('the bench signs users in by each method, and reports the rate and the processor time', async () => {
  const { stdout } = await promisify(execFile)(process.execPath, [SCRIPT, '--count', '2', '--json'])
  const rows = JSON.parse(stdout) as readonly Readonly<Record<string, string | number>>[]
  assert.deepEqual(
    rows.map(({ method }) => method),
    ['password', 'password and code', 'passkey', 'provider', 'delegated'],
  )
  for (const { perSecond, p50Ms } of rows) assert.ok(Number(perSecond) > 0 && Number(p50Ms) > 0)
})
