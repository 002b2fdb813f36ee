import assert from 'node:assert/strict'
import { test } from 'node:test'
import { drift, slope } from '../../bench/trend.ts'

test('drift is the last quarter against the second one, whatever happened in the first', () => {
  assert.equal(drift([900, 900, 100, 100, 500, 500, 90, 90]), 0.9)
})

test('one bad value of a quarter does not move the drift', () => {
  assert.equal(drift([0, 0, 0, 10, 10, 9000, 7, 7, 7, 10, 1, 10]), 1)
})

test('drift of few values is of what there is', () => {
  assert.equal(drift([5]), 1)
  assert.equal(drift([5, 10]), 2)
})

test('a straight line has its slope, from wherever it starts', () => {
  const points = [10, 11, 12, 13].map((x) => [x, 3 * x + 7] as const)
  assert.equal(slope(points), 3)
})

test('noise around a level has no slope', () => {
  const points = [
    [0, 1],
    [1, -1],
    [2, -1],
    [3, 1],
  ] as const
  assert.equal(slope(points), 0)
})
