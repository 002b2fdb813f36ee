import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import type { Sample } from '../../src/metrics/families.ts'
import {
  openWorkerMetrics,
  openWorkerAggregator,
  type WorkerMetrics,
  type WorkerAggregator,
} from '../../src/metrics/worker-aggregator.ts'
import { parseScrape } from '../support/scraped.ts'

type RollCall = ReturnType<typeof openWorkerMetrics>

interface Worker {
  readonly scrape: WorkerAggregator['ask']
  readonly leave: WorkerMetrics['leave']
  /** Of each time it was asked, whether it was to look at the store. */
  readonly asked: boolean[]
}

/** A worker whose messages come a turn later, as between processes. */
function join(rollCall: RollCall, answers: number | 'never'): Worker {
  const asked: boolean[] = []
  const sample = (withRowCounts: boolean): Promise<readonly Sample[]> => {
    asked.push(withRowCounts)
    if (answers === 'never') return new Promise(() => undefined)
    return Promise.resolve([
      { name: 'grantor_up', labels: [], value: 1 },
      { name: 'grantor_connections', labels: [], value: answers },
    ])
  }
  const later = (hear: (message: unknown) => void) => (message: object) => {
    const copy: unknown = JSON.parse(JSON.stringify(message))
    setImmediate(() => hear(copy))
  }
  const caller: WorkerAggregator = openWorkerAggregator(later((message) => attendance.receive(message)))
  const attendance = rollCall.join(later((message) => caller.receive(message, sample)))
  return { scrape: caller.ask, leave: attendance.leave, asked }
}

test('any worker returns the metrics of all workers, and one of them counts the rows of the store', async () => {
  const rollCall = openWorkerMetrics()
  const workers = [join(rollCall, 10), join(rollCall, 20), join(rollCall, 30)]
  for (const worker of workers) {
    const { value } = parseScrape(await worker.scrape())
    assert.deepEqual(
      ['1', '2', '3'].map((number) => value('grantor_connections', { worker: number })),
      [10, 20, 30],
    )
  }
  assert.deepEqual(
    workers.map(({ asked }) => asked),
    [
      [true, true, true],
      [false, false, false],
      [false, false, false],
    ],
  )
})

test('a restarted worker gets the number of its predecessor, so no stale series remains', async () => {
  const rollCall = openWorkerMetrics()
  const [first, second] = [join(rollCall, 10), join(rollCall, 20)]
  first.leave()
  assert.equal(parseScrape(await second.scrape()).samples.length, 2)
  join(rollCall, 11)
  const { value } = parseScrape(await second.scrape())
  assert.equal(value('grantor_connections', { worker: '1' }), 11)
  assert.equal(value('grantor_connections', { worker: '2' }), 20)
})

test('a worker that does not reply is reported as down, and delays a scrape by at most two seconds', async (t: TestContext) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const rollCall = openWorkerMetrics()
  join(rollCall, 'never')
  const scrape = join(rollCall, 20).scrape()
  // There and back: the question, the calls, the one answer.
  for (let turn = 0; turn < 5; turn += 1) await new Promise(setImmediate)
  t.mock.timers.tick(2000)
  const { value, samples } = parseScrape(await scrape)
  assert.equal(value('grantor_up', { worker: '1' }), 0)
  assert.equal(value('grantor_up', { worker: '2' }), 1)
  assert.equal(samples.length, 3)
})

test('messages of any other kind are ignored', async () => {
  const rollCall = openWorkerMetrics()
  const attendance = rollCall.join(() => assert.fail('no worker is asked'))
  for (const message of ['serving', null, {}, { kind: 'sample', call: 99, samples: [] }]) attendance.receive(message)
})
