import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { allowedCores, chooseCores, moveSampler, pin } from '../../../tools/process/children.ts'
import { temporaryFolder } from '../../support/server.ts'

test('the sampling thread of a profiled process leaves its core where processes can be pinned, and no other thread does', async (t) => {
  const own = allowedCores('self')
  const canPin = own.length > 1 && spawnSync('taskset', ['--version']).status === 0
  const cores = chooseCores()
  assert.equal(cores !== undefined, canPin)
  const core = cores?.servers ?? own[0] ?? 0
  const program = "setInterval(() => {}, 1e6); console.log('started')"
  const options = ['--cpu-prof', `--cpu-prof-dir=${temporaryFolder(t)}`]
  const child = spawn(process.execPath, [...options, '-e', program], { stdio: ['ignore', 'pipe', 'inherit'] })
  t.after(async () => {
    const exited = once(child, 'exit')
    child.kill('SIGKILL')
    await exited
  })
  await once(child.stdout, 'data')
  const { pid = 0 } = child
  const threads = readdirSync(`/proc/${pid}/task`) as readonly `${number}`[]
  const isSampler = (thread: string): boolean => readFileSync(`/proc/${thread}/comm`, 'utf8').startsWith('v8:Prof')
  for (const thread of threads) pin(Number(thread), core)
  moveSampler(pid, core)
  assert.equal(threads.filter(isSampler).length, 1, 'V8 names its sampling thread otherwise now.')
  for (const thread of threads)
    assert.equal(allowedCores(thread).includes(core), !canPin || !isSampler(thread), `thread ${thread}`)
})
