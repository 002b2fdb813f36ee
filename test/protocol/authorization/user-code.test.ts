import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import {
  deviceIdOf,
  formatUserCode,
  mintUserCode,
  parseUserCode,
} from '../../../src/protocol/authorization/user-code.ts'
import { ORDERED_ID_FORM } from '../../../src/protocol/ids.ts'
import { openSecrets } from '../../../src/protocol/secrets.ts'

test('RFC 8628 §6.1: a user code is eight consonants, each as likely as the others', () => {
  const codes = Array.from({ length: 5000 }, () => mintUserCode(randomBytes))
  assert.equal(new Set(codes).size, codes.length)
  const counts = Map.groupBy(codes.join(''), (letter) => letter)
  assert.equal([...counts.keys()].toSorted().join(''), 'BCDFGHJKLMNPQRSTVWXZ')
  // 2,000 of each, with a standard deviation of 44.
  for (const [letter, found] of counts) assert.ok(Math.abs(found.length - 2000) < 400, letter)
  assert.equal(formatUserCode(parseUserCode('BCDFGHJK') ?? ('' as never)), 'BCDF-GHJK')
})

test('RFC 8628 §6.1: bytes that would make some letters more likely are skipped', () => {
  const bytes = [...Array<number>(8).fill(255), ...Array<number>(8).fill(239)]
  const seen: number[] = []
  const code = mintUserCode((count) => (seen.push(count), Buffer.from(bytes.splice(0, count))))
  assert.deepEqual([code, seen], ['ZZZZZZZZ', [8, 8]])
})

const TYPED: readonly (readonly [text: string, code: string | undefined])[] = [
  ['BCDF-GHJK', 'BCDFGHJK'],
  ['bcdf ghjk', 'BCDFGHJK'],
  [' b.c/d\u2013f\tg h j k 12', 'BCDFGHJK'],
  ['', undefined],
  ['BCDF-GHJ', undefined],
  ['BCDF-GHJKL', undefined],
  ['ACDF-GHJK', undefined],
  ['B\u{1d400}CDF-GHJK', 'BCDFGHJK'],
  ['x'.repeat(16_000), undefined],
]

test('RFC 8628 §6.1: a user code is read in any case, with anything between its letters', () => {
  for (const [text, code] of TYPED) assert.equal(parseUserCode(text), code, text.slice(0, 20))
})

test('RFC 8628 §5.1: the id of a device has the form of other ids and needs the key', () => {
  const code = mintUserCode(randomBytes)
  const [one, other] = [openSecrets('a'.repeat(32)), openSecrets('b'.repeat(32))]
  assert.match(deviceIdOf(one, code), ORDERED_ID_FORM)
  assert.match(deviceIdOf(one, code), /^00/)
  assert.equal(deviceIdOf(one, code), deviceIdOf(one, code))
  assert.notEqual(deviceIdOf(one, code), deviceIdOf(other, code))
})
