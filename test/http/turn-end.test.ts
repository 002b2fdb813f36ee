import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { openScheduler, type Scheduler } from '../../src/http/scheduler.ts'
import { openTestServer } from '../server.ts'

test('whoever waits for the end of one turn goes on at that end, together', async () => {
  const scheduler = openScheduler()
  const first = scheduler.over('a')
  assert.equal(scheduler.over('a'), first)
  let isOver = false
  setImmediate(() => void (isOver = true))
  await first
  assert.notEqual(scheduler.over('a'), first)
  await scheduler.over('a')
  assert.equal(isOver, true)
})

test('work goes on after what takes no time, in the order in which it came, and little of it in a turn', async () => {
  const scheduler = openScheduler()
  const order: string[] = []
  const work = Array.from({ length: 200 }, (_, index) => scheduler.crowd('a').then(() => order.push(`work ${index}`)))
  await scheduler.over('a').then(() => order.push('refusal'))
  await nextTurn()
  const late = scheduler.over('a').then(() => order.push('later refusal'))
  await Promise.all([...work, late])
  assert.deepEqual(
    order.filter((what) => what.startsWith('work')),
    Array.from({ length: 200 }, (_, index) => `work ${index}`),
  )
  assert.equal(order[0], 'refusal')
  assert.ok(order.indexOf('later refusal') < order.indexOf('work 199'), order.join())
})

test('NET-17: where a network is refused thousands of times, its work goes on in every turn', async () => {
  const scheduler = openScheduler()
  let done = 0
  let refused = 0
  for (let index = 0; index < 1000; index += 1) void scheduler.crowd('a').then(() => (done += 1))
  for (let index = 0; index < 12_000; index += 1) void scheduler.over('a').then(() => (refused += 1))
  for (let turn = 0; turn < 20; turn += 1) await nextTurn()
  assert.ok(done >= 32 * 19, String(done))
  assert.ok(refused >= 128 * 19 && refused <= 128 * 21, String(refused))
})

test('NET-17: a network that waits with thousands gets no more of a turn than each of the others', async () => {
  const scheduler = openScheduler()
  const done = new Map<string, number>()
  const count = (network: string) => () => void done.set(network, (done.get(network) ?? 0) + 1)
  const others = Array.from({ length: 15 }, (_, index) => `other ${index}`)
  await openCompany(scheduler, [...others, 'greedy'])
  for (let index = 0; index < 2000; index += 1) {
    void scheduler.crowd('greedy').then(count('greedy'))
    void scheduler.over('greedy').then(count('greedy'))
  }
  for (let turn = 0; turn < 50; turn += 1) {
    await Promise.all(others.map((network) => scheduler.crowd(network).then(count(network))))
  }
  for (const network of others) assert.equal(done.get(network), 50, network)
  const greedy = done.get('greedy') ?? 0
  // Two of work and two of refusals a turn: a sixteenth of 32.
  assert.ok(greedy > 50 && greedy <= 4 * 55, String(greedy))
})

test('NET-17: no network waits for ever, however many there are', async () => {
  const scheduler = openScheduler()
  const order: number[] = []
  const all = Array.from({ length: 1000 }, (_, index) =>
    Promise.all([scheduler.crowd(`n${index}`).then(() => order.push(index)), scheduler.over(`n${index}`)]),
  )
  await Promise.all(all)
  assert.deepEqual(
    order.toSorted((left, right) => left - right),
    Array.from({ length: 1000 }, (_, index) => index),
  )
})

test('NET-17: when the rivals have gone, a network has the whole turn again', async () => {
  const scheduler = openScheduler()
  await openCompany(
    scheduler,
    Array.from({ length: 20 }, (_, index) => `n${index}`),
  )
  for (let turn = 0; turn < 400; turn += 1) await scheduler.over('a')
  const crowds = Array.from({ length: 64 }, () => scheduler.crowd('a'))
  assert.equal(new Set(crowds).size, 2)
  await Promise.all(crowds)
})

test('NET-17: while connections wait to be accepted, the loop comes round for them, and not for ever', async () => {
  const scheduler = openScheduler()
  const done: number[] = []
  const work = scheduler.crowd('a').then(() => done.push(0))
  for (let round = 1; round <= 64; round += 1) {
    scheduler.accepted()
    await nextTurn()
    done.push(round)
  }
  await work
  assert.ok(done.indexOf(0) > 8 && done.indexOf(0) < 32, done.join())
})

test('NET-03: a refusal is answered after the turn in which it came, so that a flood of them keeps nobody from the store', async (t) => {
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

/** One turn in which all of them wait. */
async function openCompany(scheduler: Scheduler, networks: readonly string[]): Promise<void> {
  await Promise.all(networks.map((network) => scheduler.over(network)))
}
