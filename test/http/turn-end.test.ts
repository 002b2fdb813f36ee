import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openTurnEnd } from '../../src/http/turn-end.ts'
import { openTestServer } from '../server.ts'

test('whoever waits for the end of one turn goes on at that end, together', async () => {
  const turnEnd = openTurnEnd()
  const first = turnEnd()
  assert.equal(turnEnd(), first)
  let isOver = false
  setImmediate(() => void (isOver = true))
  await first
  assert.notEqual(turnEnd(), first)
  await turnEnd()
  assert.equal(isOver, true)
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
