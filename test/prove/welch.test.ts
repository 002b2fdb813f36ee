import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import { largestT, medianOf } from '../../prove/welch.ts'

/** Times as a server has them: a base, noise, and now and then a much slower one. The same ones in each run. */
function timesOf(seed: number, count: number, baseMs: number): readonly number[] {
  const bytes = createHash('shake256', { outputLength: 16 * count })
    .update(String(seed))
    .digest()
  let place = 0
  const next = (): number => bytes.readUInt32LE(4 * place++) / 2 ** 32
  return Array.from({ length: count }, () => baseMs + next() + next() + (next() > 0.99 ? 50 * next() : 0))
}

test('UI-08: times of one kind do not differ', () => {
  for (let seed = 1; seed <= 20; seed += 1)
    assert.ok(largestT(timesOf(seed, 10_000, 1), timesOf(seed + 100, 10_000, 1)) < 4.5, String(seed))
})

test('UI-08: a difference of a tenth of the noise is found among 10,000, though one in a hundred is much slower', () => {
  for (let seed = 1; seed <= 20; seed += 1)
    assert.ok(largestT(timesOf(seed, 10_000, 1), timesOf(seed + 100, 10_000, 1.05)) > 4.5, String(seed))
})

test('the median of times is the one in the middle', () => {
  assert.equal(medianOf([5, 1, 9, 2, 3]), 3)
})
