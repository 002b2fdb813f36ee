import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { openLineWriter, openLog, type LogLevel } from '../../src/server/log.ts'
import { StoreUnavailable } from '../../src/ports/store.ts'
import { temporaryFolder } from '../support/server.ts'

function openMemoryLog(level: LogLevel) {
  const lines: string[] = []
  return { lines, log: openLog(level, { write: (line) => void lines.push(line), flush: async () => undefined }, {}) }
}

test('an event is one line of JSON with its level and time, without undefined members', () => {
  const { lines, log } = openMemoryLog('info')
  const before = Date.now()
  log.info({ event: 'server.ready', text: 'two\nlines "quoted"', nothing: undefined, count: 3 })
  const [line = ''] = lines
  assert.match(line, /^[^\n]+\n$/)
  const { time, ...rest } = JSON.parse(line) as { time: number }
  assert.ok(time >= before && time <= Date.now())
  assert.deepEqual(rest, { level: 30, event: 'server.ready', text: 'two\nlines "quoted"', count: 3 })
})

test('a log writes events of its level and above', () => {
  const numbers = { debug: 20, info: 30, warn: 40, error: 50, silent: Number.POSITIVE_INFINITY }
  for (const level of ['debug', 'info', 'warn', 'error', 'silent'] as const) {
    const { lines, log } = openMemoryLog(level)
    for (const name of ['debug', 'info', 'warn'] as const) log[name]({ event: 'server.ready' })
    log.error({ event: 'store.sweep-failed', err: new Error('x') })
    const written = lines.map((line) => (JSON.parse(line) as { level: number }).level)
    assert.deepEqual(
      written,
      [20, 30, 40, 50].filter((number) => number >= numbers[level]),
    )
  }
})

test('errors of an unavailable store are logged without stacks, because every request causes them', () => {
  const { lines, log } = openMemoryLog('error')
  log.error({ event: 'request.refused', err: new StoreUnavailable('gone', new Error('connect ECONNREFUSED')) })
  const { err } = JSON.parse(lines[0] ?? '') as { err: object }
  assert.deepEqual(err, {
    type: 'StoreUnavailable',
    message: 'The store is unavailable: gone',
    cause: { type: 'Error', message: 'connect ECONNREFUSED' },
  })
})

test('the type, message, stack and causes of an error are logged, and no other property', () => {
  const { lines, log } = openMemoryLog('error')
  const inner = Object.assign(new TypeError('inner'), { secret: 'marked' })
  const outer = new Error('outer', { cause: inner })
  inner.cause = outer
  log.error({ event: 'store.sweep-failed', err: outer })
  const { err } = JSON.parse(lines[0] ?? '') as { err: Record<string, unknown> & { cause: Record<string, unknown> } }
  assert.deepEqual(
    [err['type'], err['message'], err.cause['type'], err.cause['message']],
    ['Error', 'outer', 'TypeError', 'inner'],
  )
  assert.match(String(err['stack']), /log\.test\.ts/)
  assert.doesNotMatch(lines.join(''), /marked/)
  log.error({ event: 'store.sweep-failed', err: 'marked' })
  assert.doesNotMatch(lines.join(''), /marked/)
})

const LINES = Array.from({ length: 2000 }, (_, index) => `{"n":${index},"x":"${'x'.repeat(index % 300)}"}\n`)

test('a file gets every line, in order', async (t) => {
  const path = join(temporaryFolder(t), 'log')
  const descriptor = openSync(path, 'w')
  const writer = openLineWriter(descriptor)
  for (const line of LINES) writer.write(line)
  await writer.flush()
  closeSync(descriptor)
  assert.equal(readFileSync(path, 'utf8'), LINES.join(''))
})

test('a pipe with a slow reader gets every line in order and does not block the process', async (t) => {
  const script = `
    import { openLineWriter } from ${JSON.stringify(new URL('../../src/server/log.ts', import.meta.url).href)}
    const writer = openLineWriter(1)
    for (let index = 0; index < 2000; index += 1) writer.write(\`{"n":\${index},"x":"\${'x'.repeat(index % 300)}"}\\n\`)
    process.stderr.write('going on')
    await writer.flush()`
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: ['ignore', 'pipe', 'pipe'] })
  t.after(() => child.kill())
  // The reader has read nothing yet, and the text is larger than the pipe's buffer.
  await once(child.stderr, 'data')
  const pieces: Buffer[] = []
  for await (const piece of child.stdout) pieces.push(piece as Buffer)
  assert.equal(Buffer.concat(pieces).toString(), LINES.join(''))
})
