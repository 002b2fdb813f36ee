import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openBodies } from '../../bench/load/bodies.ts'

test('numbered bodies differ and have one length', () => {
  const bodies = openBodies({ kind: 'numbered', before: '<', after: '>', first: 9 }, true)
  assert.deepEqual([bodies.next(0), bodies.next(1)], ['<000000009>', '<000000010>'])
})

test('a list gives each body to the server once, and then ends', () => {
  const bodies = openBodies({ kind: 'once', bodies: ['a', 'b'] }, true)
  assert.deepEqual([bodies.next(0), bodies.next(1), bodies.isSpent()], ['a', 'b', false])
  assert.deepEqual([bodies.next(0), bodies.isSpent()], [undefined, true])
})

test('for the bare server a list starts again from its beginning', () => {
  const bodies = openBodies({ kind: 'once', bodies: ['a', 'b'] }, false)
  assert.deepEqual([bodies.next(0), bodies.next(0), bodies.next(0)], ['a', 'b', 'a'])
})

test('each connection sends the newest token of its own chain', () => {
  const bodies = openBodies({ kind: 'chain', before: 't=', member: 'token', tokens: ['a0', 'b0'] }, true)
  assert.equal(bodies.take(0, '{"token":"a1"}'), undefined)
  assert.deepEqual([bodies.next(0), bodies.next(1)], ['t=a1', 't=b0'])
  assert.deepEqual(bodies.tokens(), ['a1', 'b0'])
})

test('an answer without a new token is a fault', () => {
  const bodies = openBodies({ kind: 'chain', before: 't=', member: 'token', tokens: ['a0'] }, true)
  assert.match(bodies.take(0, '{"token":"a0"}') ?? '', /same token again/)
  assert.match(bodies.take(0, '{"other":"a1"}') ?? '', /must answer with token/)
})
