import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { PATIENCE, supervise, type WorkerEnd, type WorkerEvents } from '../../../src/cli/serve/supervisor.ts'

const CRASH: WorkerEnd = { code: null, signal: 'SIGKILL' }
const FAILURE: WorkerEnd = { code: 1, signal: null }

interface FakeWorker extends WorkerEvents {
  readonly pid: number
  readonly orders: string[]
}

/** A supervisor over workers that do only what the test tells them, and time that the test moves. */
function openTestSupervisor(t: TestContext, count: number) {
  t.mock.timers.enable({ apis: ['setTimeout', 'setInterval'] })
  const workers: FakeWorker[] = []
  const records: unknown[] = []
  const pings = new Map<number, number>()
  /** Those that do not answer pings. */
  const silent = new Set<number>()
  const supervisor = supervise({
    count,
    fork(events) {
      const orders: string[] = []
      const pid = workers.length + 1
      workers.push({ ...events, pid, orders })
      return {
        pid,
        stop: () => void orders.push('stop'),
        kill: () => void orders.push('kill'),
        ping() {
          pings.set(pid, (pings.get(pid) ?? 0) + 1)
          if (!silent.has(pid)) events.onPong(false)
        },
      }
    },
    record: (event) => void records.push(event),
    patience: PATIENCE,
  })
  const worker = (pid: number): FakeWorker => {
    const found = workers[pid - 1]
    assert.ok(found, `Worker ${pid} was not started.`)
    return found
  }
  return { supervisor, workers, worker, records, pings, silent, tick: (ms: number) => t.mock.timers.tick(ms) }
}

/** As above, with all of them serving. */
function openServing(t: TestContext, count: number) {
  const opened = openTestSupervisor(t, count)
  for (let pid = 1; pid <= count; pid += 1) opened.worker(pid).onServing()
  return opened
}

test('the first worker is started alone, the others when it serves; the supervisor is ready when all serve', async (t) => {
  const { supervisor, workers, worker } = openTestSupervisor(t, 3)
  assert.equal(workers.length, 1)
  worker(1).onServing()
  assert.equal(workers.length, 3)
  worker(3).onServing()
  worker(2).onServing()
  assert.equal(await supervisor.allServe, true)
})

test('a first worker that ends before it serves ends the supervisor with the reason', async (t) => {
  const { supervisor, workers, worker } = openTestSupervisor(t, 3)
  worker(1).onEnd(FAILURE)
  assert.equal(await supervisor.allServe, false)
  assert.match((await supervisor.ended) ?? '', /first worker ended before it served: it ended with code 1\./)
  assert.equal(workers.length, 1)
})

test('a worker that ended is started again and logged', (t) => {
  const { workers, worker, records, tick } = openServing(t, 2)
  worker(2).onEnd(CRASH)
  assert.deepEqual(records, [{ event: 'worker.ended', pid: 2, ...CRASH }])
  tick(99)
  assert.equal(workers.length, 2)
  tick(1)
  assert.equal(workers.length, 3)
})

test('the delay of a restart doubles up to half a minute, and is reset after ten seconds without an end', (t) => {
  const { workers, worker, tick } = openServing(t, 2)
  worker(2).onEnd(CRASH)
  for (const wait of [100, 200, 400, 800, 1600, 3200, 6400, 12_800, 25_600, 30_000, 30_000]) {
    const before = workers.length
    tick(wait - 1)
    assert.equal(workers.length, before, `${wait}`)
    tick(1)
    assert.equal(workers.length, before + 1)
    worker(before + 1).onEnd(FAILURE)
  }
  tick(30_000)
  worker(workers.length).onServing()
  tick(10_000)
  worker(workers.length).onEnd(CRASH)
  const before = workers.length
  tick(100)
  assert.equal(workers.length, before + 1)
})

test('the supervisor gives up after the fifth end without a serving worker, and never while one serves', async (t) => {
  const { supervisor, workers, worker, tick } = openServing(t, 2)
  for (let ends = 0; ends < 6; ends += 1) {
    worker(workers.length).onEnd(FAILURE)
    tick(30_000)
  }
  worker(1).onEnd(CRASH)
  assert.deepEqual(worker(workers.length).orders, ['stop'], 'The worker that is just starting is stopped.')
  worker(workers.length).onEnd({ code: 0, signal: null })
  assert.match((await supervisor.ended) ?? '', /No worker serves.*ended by SIGKILL/)
})

test('a stop is sent to each worker once, no worker is started again, and the supervisor ends after the last worker', async (t) => {
  const { supervisor, workers, worker, tick } = openServing(t, 3)
  worker(3).onEnd(CRASH)
  supervisor.stop()
  supervisor.stop()
  tick(1000)
  assert.equal(workers.length, 3)
  assert.deepEqual(
    workers.map(({ orders }) => orders),
    [['stop'], ['stop'], []],
  )
  worker(1).onEnd({ code: 0, signal: null })
  worker(2).onEnd({ code: 0, signal: null })
  assert.equal(await supervisor.ended, undefined)
  tick(10_000)
  assert.deepEqual(worker(1).orders, ['stop'])
})

test('a worker that does not end within ten seconds is killed, and the exit is not clean', async (t) => {
  const { supervisor, worker, tick } = openServing(t, 2)
  supervisor.stop()
  worker(1).onEnd({ code: 0, signal: null })
  tick(9_799)
  assert.deepEqual(worker(2).orders, ['stop'])
  tick(1)
  assert.deepEqual(worker(2).orders, ['stop', 'kill'])
  worker(2).onEnd(CRASH)
  assert.match((await supervisor.ended) ?? '', /did not end cleanly: it was ended by SIGKILL/)
})

test('a stop during the start ends the first worker, and starts no other', async (t) => {
  const { supervisor, workers, worker } = openTestSupervisor(t, 2)
  supervisor.stop()
  worker(1).onServing()
  assert.equal(workers.length, 1)
  worker(1).onEnd({ code: 0, signal: null })
  assert.deepEqual([await supervisor.allServe, await supervisor.ended], [false, undefined])
})

test('a serving worker that does not answer for half a minute is killed once and replaced; one that answers late is not', (t) => {
  const { workers, worker, records, pings, silent, tick } = openServing(t, 3)
  for (const pid of [2, 3]) silent.add(pid)
  for (let seconds = 1; seconds <= 30; seconds += 1) tick(1000)
  worker(3).onPong(false)
  assert.deepEqual(Object.fromEntries(pings), { 1: 30, 2: 1, 3: 1 })
  assert.deepEqual(records, [])
  tick(1000)
  assert.deepEqual(records, [{ event: 'worker.stuck', pid: 2, silentMs: 30_000 }])
  tick(5000)
  assert.deepEqual([worker(1).orders, worker(2).orders, worker(3).orders], [[], ['kill'], []])
  worker(2).onEnd(CRASH)
  tick(100)
  assert.equal(workers.length, 4)
})

test('a worker that a debugger may pause is not killed, and neither is one that does not serve yet', (t) => {
  const { worker, records, pings, silent, tick } = openServing(t, 2)
  silent.add(2)
  worker(2).onPong(true)
  tick(600_000)
  assert.deepEqual(records, [])
  worker(2).onPong(false)
  tick(31_000)
  assert.deepEqual(worker(2).orders, ['kill'])
  worker(2).onEnd(CRASH)
  tick(600_000)
  assert.deepEqual([worker(3).orders, pings.get(3)], [[], undefined])
})

test('a supervisor that is stopping pings no worker', (t) => {
  const { supervisor, worker, pings, tick } = openServing(t, 1)
  supervisor.stop()
  tick(9000)
  assert.deepEqual([worker(1).orders, pings.size], [['stop'], 0])
})
