import assert from 'node:assert/strict'
import { test } from 'node:test'
import { medianInterval, quantile, summarize } from '../../bench/statistics.ts'

test('quartiles are interpolated between two values', () => {
  assert.equal(quantile([4, 1, 3, 2], 0.25), 1.75)
  assert.equal(quantile([4, 1, 3, 2], 0.5), 2.5)
  assert.equal(quantile([5, 1, 3, 2, 4], 0.75), 4)
  assert.equal(quantile([7], 0.99), 7)
})

test('values are sorted as numbers and not as text', () => {
  assert.equal(quantile([100, 9, 20], 0.5), 20)
})

test('an empty list of values has no quantile', () => {
  assert.throws(() => quantile([], 0.5))
})

test('the best of rounds is the fastest, and one slow round does not move the median', () => {
  const rounds = [100, 101, 102, 103, 10]
  assert.deepEqual(summarize(rounds), { best: 103, median: 101, spread: 2 / 101, rounds })
})

test('equal rounds have no spread', () => {
  assert.deepEqual(summarize([50, 50, 50]), { best: 50, median: 50, spread: 0, rounds: [50, 50, 50] })
})

test('the confidence interval of the median of nine samples is from the second to the eighth', () => {
  assert.deepEqual(medianInterval([9, 1, 8, 2, 7, 3, 6, 4, 5]), [2, 8])
  assert.deepEqual(medianInterval([3, 1, 2]), [1, 3])
})
