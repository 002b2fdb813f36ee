import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { test } from 'node:test'
import { promisify } from 'node:util'

const run = promisify(execFile)
const SCRIPT = new URL('../../bench/growth/run.ts', import.meta.url).pathname
const SMALL = ['--sizes', '1000,2000', '--rounds', '1', '--operations', '64']

for (const store of ['sqlite', 'postgres']) {
  test(`on ${store} every operation is measured with each number of rows`, async () => {
    const { stdout } = await run(process.execPath, [SCRIPT, '--store', store, ...SMALL])
    const rows = stdout.split('\n').map((line) => line.split('|').map((cell) => cell.trim()))
    const measured = rows.filter(([, , size]) => size === '1000' || size === '2000')
    assert.equal(measured.length, store === 'sqlite' ? 9 : 6)
    for (const [, operation, , , , , , wall, cpu, bytes] of measured)
      for (const number of [wall, cpu, bytes]) assert.ok(Number(number) > 0, `${operation}: ${number}`)
  })
}

test('each screen of the console is measured, also with fewer rows than a thousand pages have', async () => {
  const options = ['--console', '--sizes', '1000', '--visits', '1']
  const { stdout } = await run(process.execPath, [SCRIPT, ...options])
  const rows = stdout.split('\n').map((line) => line.split('|').map((cell) => cell.trim()))
  const times = new Map(rows.map(([, screen, p50, p95, size]) => [screen, [p50, p95, size]]))
  for (const screen of ['overview', 'clients, page 1000', 'audit, page 1000', 'a user', 'the page that asks', 'script'])
    for (const number of times.get(screen) ?? ['none']) assert.ok(Number(number) > 0, `${screen}: ${number}`)
})
