import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { test } from 'node:test'
import { promisify } from 'node:util'

const run = promisify(execFile)
const SCRIPT = new URL('../../bench/compare/run.ts', import.meta.url).pathname
const THIS_CHECKOUT = new URL('../../', import.meta.url).pathname
/** The processor time of a process counts in steps of 10 ms, so that a shorter slice could count none. */
const SMALL = [
  '--starts',
  '1',
  '--warm-up',
  '0',
  '--pairs',
  '1',
  '--seconds',
  '0.3',
  '--connections',
  '4',
  '--only',
  'client_credentials',
]

test('bench compare measures the processor time of a request in two checkouts', async () => {
  const { stdout } = await run(process.execPath, [SCRIPT, '--with', THIS_CHECKOUT, ...SMALL])
  const row = stdout.split('\n').find((line) => line.startsWith('| client_credentials'))
  const [before, after, ratio] = (row ?? '').split('|').slice(2, 5).map(Number)
  for (const number of [before, after, ratio]) assert.ok(Number(number) > 0, stdout)
})

test('bench compare refuses a folder that is not a checkout', async () => {
  const failed = run(process.execPath, [SCRIPT, '--with', '/nonexistent'])
  await assert.rejects(failed, { code: 2, stderr: /--with takes the folder of another checkout/ })
})
