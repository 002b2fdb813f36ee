import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import { largestT, medianOf } from '../../prove/welch.ts'

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
  assert.equal(medianOf([5, 1, 9, 2, 3]), 3)
})
