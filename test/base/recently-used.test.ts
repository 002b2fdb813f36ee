import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openRecentlyUsed } from '../../src/base/recently-used.ts'

test('the newest values are kept, and never more than twice as many', () => {
  const kept = openRecentlyUsed<number>(10)
  for (let number = 0; number < 95; number += 1) kept.set(String(number), number)
  const found = Array.from({ length: 95 }, (_, age) => kept.get(String(94 - age))).filter((one) => one !== undefined)
  assert.ok(found.length >= 10 && found.length <= 20, String(found.length))
  assert.deepEqual(found.slice(0, 10), [94, 93, 92, 91, 90, 89, 88, 87, 86, 85])
})

test('a value that is used stays, however many values are added', () => {
  const kept = openRecentlyUsed<number>(10)
  kept.set('used', -1)
  for (let number = 0; number < 1000; number += 1) {
    kept.set(String(number), number)
    assert.equal(kept.get('used'), -1)
  }
})

test('the newest value of a key is returned, and a deleted value is gone from both generations', () => {
  const kept = openRecentlyUsed<number>(2)
  for (const [key, value] of [
    ['a', 1],
    ['b', 2],
    ['c', 3],
    ['a', 4],
  ] as const)
    kept.set(key, value)
  assert.equal(kept.get('a'), 4)
  kept.delete('a')
  kept.delete('b')
  assert.deepEqual(
    ['a', 'b', 'c'].map((key) => kept.get(key)),
    [undefined, undefined, 3],
  )
  kept.clear()
  assert.equal(kept.get('c'), undefined)
})

test('with weights, the newest values up to the given total weight are kept, and at most twice that weight', () => {
  const kept = openRecentlyUsed<number>(100, (value) => value)
  for (let number = 0; number < 95; number += 1) kept.set(String(number), 10)
  const found = Array.from({ length: 95 }, (_, age) => kept.get(String(94 - age))).filter((one) => one !== undefined)
  assert.ok(found.length >= 10 && found.length <= 22, String(found.length))
  kept.set('heavy', 1000)
  kept.set('after', 10)
  assert.deepEqual([kept.get('heavy'), kept.get('after'), kept.get('0')], [1000, 10, undefined])
})

test('a replaced or deleted value no longer counts towards the total weight', () => {
  const kept = openRecentlyUsed<number>(100, (value) => value)
  kept.set('first', 1)
  for (let round = 0; round < 1000; round += 1) {
    kept.set('second', 50)
    kept.set('third', 40)
    kept.delete('third')
  }
  assert.equal(kept.get('first'), 1)
})
