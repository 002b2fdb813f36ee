import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { listTree } from '../../tools/process/usage.ts'

const run = promisify(execFile)
const SCRIPT = new URL('../../bench/compare/run.ts', import.meta.url).pathname
const THIS_CHECKOUT = new URL('../../', import.meta.url).pathname
const SMALL = '--starts 1 --warm-up 0 --pairs 1 --seconds 0.1 --connections 4 --only client_credentials'.split(' ')

test('bench compare measures a request in two checkouts, whose servers V8 treats alike', async () => {
  const measuring = run(process.execPath, [SCRIPT, '--with', THIS_CHECKOUT, ...SMALL])
  const { pid = 0, stderr } = measuring.child
  // It names the endpoint when both servers run.
  if (stderr !== null) await once(stderr, 'data')
  const commands = listTree(pid).map((one) => readFileSync(`/proc/${one}/cmdline`, 'utf8').split('\0'))
  const servers = commands.filter((words) => words.includes('serve'))
  assert.equal(servers.length, 2)
  for (const words of servers)
    for (const option of ['--no-allocation-site-pretenuring', '--no-memory-reducer', '--single-threaded'])
      assert.ok(words.includes(option), words.join(' '))
  const { stdout } = await measuring
  const row = stdout.split('\n').find((line) => line.startsWith('| client_credentials'))
  const [before, after, ratio] = (row ?? '').split('|').slice(2, 5).map(Number)
  for (const number of [before, after, ratio]) assert.ok(Number(number) > 0, stdout)
})

test('bench compare refuses a folder that is not a checkout', async () => {
  const failed = run(process.execPath, [SCRIPT, '--with', '/nonexistent'])
  await assert.rejects(failed, { code: 2, stderr: /--with takes the folder of another checkout/ })
})
