import assert from 'node:assert/strict'
import { test } from 'node:test'
import { drift, slope } from '../../bench/trend.ts'

test('drift compares the last quarter with the second one and ignores the first', () => {
  assert.equal(drift([900, 900, 100, 100, 500, 500, 90, 90]), 0.9)
})

test('one outlier in a quarter does not change the drift', () => {
  assert.equal(drift([0, 0, 0, 10, 10, 9000, 7, 7, 7, 10, 1, 10]), 1)
})

test('drift is also computed for few values', () => {
  assert.equal(drift([5]), 1)
  assert.equal(drift([5, 10]), 2)
})

test('the slope of a straight line does not depend on its start', () => {
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
