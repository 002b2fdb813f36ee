import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { test } from 'node:test'
import { promisify } from 'node:util'

const run = promisify(execFile)
const SCRIPT = new URL('../../bench/soak/run.ts', import.meta.url).pathname

test('a soak of seconds gets right answers to every kind of request, changes the signing key and counts the rows', async () => {
  const args = ['--minutes', '0.1', '--sample', '2', '--connections', '4', '--rows', '100', '--rotations', '1']
  const { stdout } = await run(process.execPath, [SCRIPT, ...args, '--settle', '0'])
  assert.match(stdout, /requests, \d+\/s, 0 with an unexpected answer/)
  for (const endpoint of ['register', 'authorize', 'code', 'refresh', 'revoke', 'introspect', 'jwks']) {
    assert.match(stdout, new RegExp(`\\n\\| ${endpoint} +\\| +\\d+ \\|`))
  }
  assert.match(stdout, /1 changes of the signing key/)
  // The next key, and one of each of three algorithms for ID tokens.
  assert.match(stdout, /\n\| signing_keys +\| +1 \| +5 \|/)
})
