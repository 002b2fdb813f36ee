import assert from 'node:assert/strict'
import { EventEmitter } from 'node:events'
import { test } from 'node:test'
import { closeOnSignal } from '../../../src/cli/serve/close-on-signal.ts'

/** A process that receives a signal, and a server that records its calls. `finish` completes its `close`. */
function openSignalledServer(drainSeconds: number) {
  const events: unknown[] = []
  const ending = Object.assign(new EventEmitter(), { exit: (code: number) => void events.push(code) })
  let finish: () => void = () => undefined
  const server = {
    drain: () => void events.push('drain'),
    close: () => {
      events.push('close')
      return new Promise<void>((resolve) => (finish = resolve))
    },
  }
  closeOnSignal(server, drainSeconds, ending)
  return { events, ending, finish: () => finish() }
}

test('a signal drains the server, closes it after the drain time, and exits with 0', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const { events, ending, finish } = openSignalledServer(2)
  ending.emit('SIGTERM')
  t.mock.timers.tick(1_999)
  assert.deepEqual(events, ['drain'])
  t.mock.timers.tick(1)
  assert.deepEqual(events, ['drain', 'close'])
  finish()
  await new Promise((resolve) => setImmediate(resolve))
  assert.deepEqual(events, ['drain', 'close', 0])
})

test('the process always exits within ten seconds', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const { events, ending } = openSignalledServer(4)
  ending.emit('SIGINT')
  t.mock.timers.tick(9_499)
  assert.deepEqual(events, ['drain', 'close'])
  t.mock.timers.tick(1)
  assert.deepEqual(events, ['drain', 'close', 1])
})

test('a second signal within a second is ignored, and a later one ends the process at once', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  let now = 0
  t.mock.method(performance, 'now', () => now)
  const { events, ending } = openSignalledServer(2)
  ending.emit('SIGINT')
  now = 1_000
  ending.emit('SIGTERM')
  assert.deepEqual(events, ['drain'])
  now = 1_001
  ending.emit('SIGINT')
  assert.deepEqual(events, ['drain', 1])
})
