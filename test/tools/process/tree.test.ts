import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { test } from 'node:test'
import { listTree, readTreeUsage } from '../../../tools/process/usage.ts'

test('a tree contains the process and all its descendants', async (t) => {
  const program = `
    const { spawn } = require('node:child_process')
    const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1e6)'], { stdio: 'ignore' })
    child.once('spawn', () => console.log(child.pid))
    process.once('SIGTERM', () => { child.kill(); child.once('exit', () => process.exit()) })`
  const child = spawn(process.execPath, ['-e', program], { stdio: ['ignore', 'pipe', 'inherit'] })
  t.after(async () => {
    const exited = once(child, 'exit')
    child.kill()
    await exited
  })
  const [chunk] = (await once(child.stdout, 'data')) as [Buffer]
  const tree = listTree(process.pid)
  assert.equal(tree[0], process.pid)
  assert.ok(tree.includes(child.pid ?? 0) && tree.includes(Number(chunk.toString())))
  const usage = readTreeUsage(process.pid)
  assert.ok(usage !== undefined && usage.residentBytes > process.memoryUsage().rss)
})

test('the processor time of ended children is still counted', async () => {
  const before = readTreeUsage(process.pid)
  const work = 'const end = Date.now() + 300; while (Date.now() < end);'
  await once(spawn(process.execPath, ['-e', work]), 'exit')
  const after = readTreeUsage(process.pid)
  assert.ok(before !== undefined && after !== undefined)
  assert.ok(after.cpuMs > before.cpuMs)
})
