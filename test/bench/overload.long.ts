import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { test } from 'node:test'
import { promisify } from 'node:util'

const run = promisify(execFile)
const SCRIPT = new URL('../../bench/overload/run.ts', import.meta.url).pathname

test('a run of seconds overloads and floods the server, requests what is shed last, and gets no wrong answer', async () => {
  const args = [
    '--seconds',
    '0.2',
    '--factors',
    '0.5,3',
    '--floods',
    '600',
    '--hostile',
    '300',
    '--rounds',
    '1',
    '--silent',
    '20',
    '--console',
  ]
  const { stdout } = await run(process.execPath, [SCRIPT, ...args])
  for (const row of ['0.5×', '3.0×', '600']) assert.match(stdout, new RegExp(`\\n\\| ${row} +\\| +\\d+ \\|`))
  for (const name of ['metadata', 'jwks', 'introspect', 'revoke']) {
    assert.match(stdout, new RegExp(`\\n\\| ${name} +\\| +3.0× \\| +\\d+ \\|`))
  }
  for (const row of ['no flood', 'one network, 300', 'many networks, 300'])
    assert.match(stdout, new RegExp(`\\n\\| ${row} +\\| +\\d+ \\|`))
  for (const name of ['the server', 'a host of the library'])
    assert.match(stdout, new RegExp(`\\n\\| ${name}, [\\d.]+ s, .* running \\|`))
  for (const row of ['tokens', 'tokens beside visitors of the console', 'tokens beside pages of a person', 'pages'])
    assert.match(stdout, new RegExp(`\\n\\| ${row} +\\| +[\\d.]+ \\|`))
  assert.match(stdout, /\n0 answers were wrong/)
})
