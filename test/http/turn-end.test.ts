import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { openTurnEnd } from '../../src/http/turn-end.ts'
import { openTestServer } from '../server.ts'

test('whoever waits for the end of one turn goes on at that end, together', async () => {
  const turnEnd = openTurnEnd()
  const first = turnEnd.over()
  assert.equal(turnEnd.over(), first)
  let isOver = false
  setImmediate(() => void (isOver = true))
  await first
  assert.notEqual(turnEnd.over(), first)
  await turnEnd.over()
  assert.equal(isOver, true)
})

test('work goes on after what takes no time, in the order in which it came, and little of it in a turn', async () => {
  const turnEnd = openTurnEnd()
  const order: string[] = []
  const work = Array.from({ length: 200 }, (_, index) => turnEnd.crowd().then(() => order.push(`work ${index}`)))
  await turnEnd.over().then(() => order.push('refusal'))
  await nextTurn()
  const late = turnEnd.over().then(() => order.push('later refusal'))
  await Promise.all([...work, late])
  assert.deepEqual(
    order.filter((what) => what.startsWith('work')),
    Array.from({ length: 200 }, (_, index) => `work ${index}`),
  )
  assert.equal(order[0], 'refusal')
  assert.ok(order.indexOf('later refusal') < order.indexOf('work 199'), order.join())
})

test('where thousands are refused in a turn, more work goes on in it', async () => {
  const turnEnd = openTurnEnd()
  let done = 0
  for (let index = 0; index < 1000; index += 1) void turnEnd.crowd().then(() => (done += 1))
  await turnEnd.over()
  await nextTurn()
  const few = done
  for (let index = 0; index < 12_000; index += 1) void turnEnd.over()
  await turnEnd.over()
  await nextTurn()
  assert.ok(done - few > few * 3, `${few}, ${done}`)
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
