import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import {
  drift,
  largestT,
  median,
  medianInterval,
  quantile,
  slope,
  summarize,
  summarizeTimes,
} from '../../tools/statistics.ts'

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

/** Times like those of a server: a base, noise, and sometimes a much slower time. They are the same in each run. */
function timesOf(seed: number, count: number, baseMs: number): readonly number[] {
  const bytes = createHash('shake256', { outputLength: 16 * count })
    .update(String(seed))
    .digest()
  let place = 0
  const next = (): number => bytes.readUInt32LE(4 * place++) / 2 ** 32
  return Array.from({ length: count }, () => baseMs + next() + next() + (next() > 0.99 ? 50 * next() : 0))
}

test('UI-08: two sets of times of the same kind do not differ', () => {
  for (let seed = 1; seed <= 20; seed += 1)
    assert.ok(largestT(timesOf(seed, 10_000, 1), timesOf(seed + 100, 10_000, 1)) < 4.5, String(seed))
})

test('UI-08: a difference of a tenth of the noise is found in 10,000 times, although one in a hundred is much slower', () => {
  for (let seed = 1; seed <= 20; seed += 1)
    assert.ok(largestT(timesOf(seed, 10_000, 1), timesOf(seed + 100, 10_000, 1.05)) > 4.5, String(seed))
})

test('the median is the middle value', () => {
  assert.equal(median([5, 1, 9, 2, 3]), 3)
})

test('times without a value are NaN, and others have their median, 99th percentile and worst', () => {
  assert.deepEqual(summarizeTimes([]), { count: 0, p50Ms: Number.NaN, p99Ms: Number.NaN, worstMs: Number.NaN })
  assert.deepEqual(summarizeTimes([3, 1, 2]), { count: 3, p50Ms: 2, p99Ms: 2.98, worstMs: 3 })
})
