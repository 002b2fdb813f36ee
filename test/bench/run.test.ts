import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { test } from 'node:test'
import { promisify } from 'node:util'

const run = promisify(execFile)
const SCRIPT = new URL('../../bench/throughput/run.ts', import.meta.url).pathname

test('an invalid option prints the usage', async () => {
  await assert.rejects(run(process.execPath, [SCRIPT, '--only', 'everything']), {
    code: 2,
    stderr: /--connections <list>/,
  })
})
