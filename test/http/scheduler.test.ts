import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { EACH_TURN, oneEach, openScheduler, type Scheduler } from '../../src/http/scheduler.ts'
import { openTestServer } from '../support/server.ts'

test('all requests that wait for the end of a turn continue together at its end', async () => {
  const scheduler = openScheduler(EACH_TURN)
  const first = scheduler.endOfTurn('a')
  assert.equal(scheduler.endOfTurn('a'), first)
  let isOver = false
  setImmediate(() => void (isOver = true))
  await first
  assert.notEqual(scheduler.endOfTurn('a'), first)
  await scheduler.endOfTurn('a')
  assert.equal(isOver, true)
})

test('queued requests run after refusals, in order, 32 per turn', async () => {
  const scheduler = openScheduler(EACH_TURN)
  const order: string[] = []
  const work = Array.from({ length: 200 }, (_, index) => scheduler.batch('a').then(() => order.push(`work ${index}`)))
  await scheduler.endOfTurn('a').then(() => order.push('refusal'))
  await nextTurn()
  const late = scheduler.endOfTurn('a').then(() => order.push('later refusal'))
  await Promise.all([...work, late])
  assert.deepEqual(
    order.filter((what) => what.startsWith('work')),
    Array.from({ length: 200 }, (_, index) => `work ${index}`),
  )
  assert.equal(order[0], 'refusal')
  assert.ok(order.indexOf('later refusal') < order.indexOf('work 199'), order.join())
})

test('NET-17: while thousands of requests of a network are refused, a batch of its other requests runs in every turn', async () => {
  const scheduler = openScheduler(EACH_TURN)
  let done = 0
  let refused = 0
  for (let index = 0; index < 1000; index += 1) void scheduler.batch('a').then(() => (done += 1))
  for (let index = 0; index < 12_000; index += 1) void scheduler.endOfTurn('a').then(() => (refused += 1))
  for (let turn = 0; turn < 20; turn += 1) await nextTurn()
  assert.ok(done >= 32 * 19, String(done))
  assert.ok(refused >= 128 * 19 && refused <= 128 * 21, String(refused))
})

test('NET-17: a network with thousands of waiting requests gets no more of a turn than each other network', async () => {
  const scheduler = openScheduler(EACH_TURN)
  const done = new Map<string, number>()
  const count = (network: string) => () => void done.set(network, (done.get(network) ?? 0) + 1)
  const others = Array.from({ length: 15 }, (_, index) => `other ${index}`)
  await waitTogether(scheduler, [...others, 'greedy'])
  for (let index = 0; index < 2000; index += 1) {
    void scheduler.batch('greedy').then(count('greedy'))
    void scheduler.endOfTurn('greedy').then(count('greedy'))
  }
  for (let turn = 0; turn < 50; turn += 1) {
    await Promise.all(others.map((network) => scheduler.batch(network).then(count(network))))
  }
  for (const network of others) assert.equal(done.get(network), 50, network)
  const greedy = done.get('greedy') ?? 0
  // Two batched requests and two refusals in each turn: a sixteenth of 32.
  assert.ok(greedy > 50 && greedy <= 4 * 55, String(greedy))
})

test('NET-17: with a thousand waiting networks, the requests of each are processed', async () => {
  const scheduler = openScheduler(EACH_TURN)
  const order: number[] = []
  const all = Array.from({ length: 1000 }, (_, index) =>
    Promise.all([scheduler.batch(`n${index}`).then(() => order.push(index)), scheduler.endOfTurn(`n${index}`)]),
  )
  await Promise.all(all)
  assert.deepEqual(
    order.toSorted((left, right) => left - right),
    Array.from({ length: 1000 }, (_, index) => index),
  )
})

test('NET-17: when the other networks have left, the remaining network gets whole turns again', async () => {
  const scheduler = openScheduler(EACH_TURN)
  await waitTogether(
    scheduler,
    Array.from({ length: 20 }, (_, index) => `n${index}`),
  )
  for (let turn = 0; turn < 400; turn += 1) await scheduler.endOfTurn('a')
  const batches = Array.from({ length: 64 }, () => scheduler.batch('a'))
  assert.equal(new Set(batches).size, 2)
  await Promise.all(batches)
})

test('NET-17: while connections wait to be accepted, a limited number of turns only accept connections', async () => {
  const scheduler = openScheduler(EACH_TURN)
  const done: number[] = []
  const work = scheduler.batch('a').then(() => done.push(0))
  for (let round = 1; round <= 64; round += 1) {
    scheduler.accepted()
    await nextTurn()
    done.push(round)
  }
  await work
  assert.ok(done.indexOf(0) > 8 && done.indexOf(0) < 32, done.join())
})

test('NET-03: a refusal is sent after the turn in which its request arrived, so that a flood of them does not block the store', async (t) => {
  const server = await openTestServer(t)
  const answered: boolean[] = []
  server.http.prependListener('request', (_message, response) => {
    let isOver = false
    setImmediate(() => void (isOver = true))
    response.on('prefinish', () => answered.push(isOver))
  })
  for (const request of [
    { method: 'POST', url: '/v2/oauth/token', payload: 'x' },
    { method: 'POST', url: '/v2/oauth/register', headers: { 'content-type': 'application/json' }, payload: '{' },
    { method: 'DELETE', url: '/v2/oauth/token' },
  ] as const)
    assert.ok((await server.inject(request)).statusCode >= 400)
  assert.deepEqual(answered, [true, true, true])
})

/** Lets all these networks wait in the same turn. */
async function waitTogether(scheduler: Scheduler, networks: readonly string[]): Promise<void> {
  await Promise.all(networks.map((network) => scheduler.endOfTurn(network)))
}

test('CON-11: with a gap one request continues at a time, the first at once, and the networks take turns', async () => {
  const scheduler = openScheduler(oneEach(20))
  const startedAt = performance.now()
  const order: string[] = []
  const times: number[] = []
  const wait = async (network: string): Promise<void> => {
    await scheduler.batch(network)
    order.push(network)
    times.push(performance.now() - startedAt)
  }
  await Promise.all(['flood', 'flood', 'flood', 'person'].map(wait))
  assert.deepEqual(order, ['flood', 'person', 'flood', 'flood'])
  assert.ok((times[0] ?? 20) < 20 && (times[3] ?? 0) >= 57, 'A timer may fire a millisecond early.')
})
