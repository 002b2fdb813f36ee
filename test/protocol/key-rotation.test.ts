import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { EpochMs } from '../../src/base/brand.ts'
import type { KeyId } from '../../src/protocol/ids.ts'
import {
  chooseServerKey,
  chooseSigningKey,
  chooseStartedKey,
  findSuccessor,
  findReplacement,
  INTRODUCTION_MS,
  isRotationDue,
  keyState,
  KEEPING_MS,
  linesOf,
  PUBLICATION_MS,
  SPREAD_MS,
  type KeyTerm,
} from '../../src/protocol/key-rotation.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR
const NOW = 1_790_000_000_000 as EpochMs
const at = (milliseconds: number): EpochMs => (NOW + milliseconds) as EpochMs

/** A key that becomes active the given time after NOW. */
function key(id: string, startsAfterMs: number, algorithm = 'ES256'): KeyTerm {
  return { id: id as KeyId, purpose: 'access', algorithm, activeFrom: at(startsAfterMs) }
}

test('the keys of one purpose and algorithm follow each other', () => {
  const [first, other, second] = [key('a', 0), key('b', 0, 'EdDSA'), key('c', 0)]
  const forId = { ...key('d', 0), purpose: 'id' } as const
  assert.deepEqual(linesOf([]), [])
  assert.deepEqual(linesOf([first, other, second, forId]), [[first, second], [other], [forId]])
})

const CHOICES: readonly (readonly [why: string, keys: readonly KeyTerm[], signing: string | undefined])[] = [
  ['there is no key', [], undefined],
  ['there is one key', [key('a', -DAY)], 'a'],
  ['the only key is not active yet, because this clock is behind', [key('a', 2000)], 'a'],
  ['no key is active yet', [key('b', 2 * DAY), key('a', DAY)], 'a'],
  ['the next key is published', [key('a', -DAY), key('b', DAY)], 'a'],
  ['the next key becomes active in a millisecond', [key('a', -DAY), key('b', 1)], 'a'],
  ['the next key becomes active now', [key('a', -DAY), key('b', 0)], 'b'],
  ['several keys are active', [key('a', -3 * DAY), key('b', -DAY), key('c', -2 * DAY)], 'b'],
  ['a newer key became active at once, before a published one', [key('a', -DAY), key('b', DAY), key('c', 0)], 'c'],
  ['two keys become active at the same time', [key('b', 0), key('a', 0)], 'b'],
]

for (const [why, keys, signing] of CHOICES) {
  test(`which key signs when ${why}`, () => {
    assert.equal(chooseSigningKey(keys, NOW)?.id, signing)
    assert.equal(chooseSigningKey(keys.toReversed(), NOW)?.id, signing)
  })
}

test('keys that are older than the signing key are verifying, and newer keys are next', () => {
  const keys = [key('a', -2 * DAY), key('b', -DAY), key('c', DAY)]
  assert.deepEqual(
    keys.map((one) => keyState(one, keys, { own: 'ES256', before: undefined, declared: new Set() }, NOW)),
    ['verifying', 'signing', 'next'],
  )
})

const ROTATION = 30 * DAY
const DUE: readonly (readonly [why: string, keys: readonly KeyTerm[], rotationMs: number, isDue: boolean])[] = [
  ['there is no key', [], ROTATION, false],
  ['the key is new', [key('a', 0)], ROTATION, false],
  ['more than a day is left', [key('a', 1 - ROTATION + PUBLICATION_MS)], ROTATION, false],
  ['one day is left', [key('a', -ROTATION + PUBLICATION_MS)], ROTATION, true],
  ['the key is long overdue', [key('a', -10 * ROTATION)], ROTATION, true],
  ['the next key exists already', [key('a', -ROTATION), key('b', HOUR)], ROTATION, false],
  [
    'an older key is published that becomes active after the signing key',
    [key('b', DAY), key('c', -ROTATION)],
    ROTATION,
    false,
  ],
  ['each key signs for a day, and this one has become active', [key('a', 0)], DAY, true],
  ['each key signs for a day, and the next one is published', [key('a', -DAY + 1), key('b', 1)], DAY, false],
  ['keys do not rotate', [key('a', -10 * ROTATION)], 0, false],
]

for (const [why, keys, rotationMs, isDue] of DUE) {
  test(`the next key is ${isDue ? '' : 'not '}due when ${why}`, () => {
    assert.equal(isRotationDue(keys, rotationMs, NOW), isDue)
  })
}

const GONE: readonly (readonly [why: string, of: string, keys: readonly KeyTerm[], replacement: string | undefined])[] =
  [
    ['it is the only key', 'a', [key('a', -9 * DAY)], undefined],
    ['the next key is not active yet', 'a', [key('a', -9 * DAY), key('b', 1)], undefined],
    ['its tokens may still be valid', 'a', [key('a', -9 * DAY), key('b', 1 - KEEPING_MS)], undefined],
    ['its tokens have expired', 'a', [key('a', -9 * DAY), key('b', -KEEPING_MS)], 'b'],
    ['several newer keys are active', 'a', [key('a', -9 * DAY), key('b', -2 * DAY), key('c', -DAY)], 'b'],
    [
      'the key that replaces it has just become active',
      'b',
      [key('a', -9 * DAY), key('b', -2 * DAY), key('c', 0)],
      undefined,
    ],
    ['it is not active yet', 'b', [key('a', -DAY), key('b', DAY)], 'a'],
    ['it becomes active within the clock tolerance', 'b', [key('a', -DAY), key('b', SPREAD_MS)], undefined],
    ['no key is active yet', 'b', [key('a', HOUR), key('b', DAY)], undefined],
  ]

for (const [why, of, keys, replacement] of GONE) {
  test(`whether a key may be removed when ${why}`, () => {
    const one = keys.find(({ id }) => id === of)
    assert.ok(one)
    assert.equal(findReplacement(one, keys, KEEPING_MS, NOW)?.id, replacement)
  })
}

type ServerChoice = readonly [why: string, keys: readonly KeyTerm[], signing: string | undefined, before?: string]

const SERVER: readonly ServerChoice[] = [
  ['there is no key', [], undefined],
  ['another algorithm has a newer key', [key('a', -DAY), key('b', -HOUR, 'EdDSA')], 'a'],
  ['its own algorithm has two keys', [key('a', -DAY), key('b', -HOUR), key('c', 0, 'EdDSA')], 'b'],
  ['its own algorithm has no key, because the setting changed', [key('a', -DAY, 'EdDSA')], 'a'],
  ['the first key of its own algorithm is not active yet', [key('a', -DAY, 'EdDSA'), key('b', DAY)], 'a'],
  ['the first key of its own algorithm becomes active now', [key('a', -DAY, 'EdDSA'), key('b', 0)], 'b'],
  ['no key is active yet', [key('a', HOUR, 'EdDSA'), key('b', DAY)], 'a'],
  [
    'it was EdDSA, and an API got a newer key of RS256',
    [key('a', -2 * DAY, 'EdDSA'), key('b', -DAY, 'EdDSA'), key('c', -HOUR, 'RS256'), key('d', DAY)],
    'b',
    'EdDSA',
  ],
  [
    'the first key of its own algorithm becomes active now, and the previous one was EdDSA',
    [key('a', -DAY, 'EdDSA'), key('b', 0)],
    'b',
    'EdDSA',
  ],
  ['the previous algorithm has no active key', [key('a', -DAY, 'EdDSA'), key('b', DAY, 'RS256')], 'a', 'RS256'],
]

for (const [why, keys, signing, before] of SERVER) {
  test(`which key signs for the server, whose algorithm is ES256, when ${why}`, () => {
    assert.equal(chooseServerKey(keys, { own: 'ES256', before }, NOW)?.id, signing)
    assert.equal(chooseServerKey(keys.toReversed(), { own: 'ES256', before }, NOW)?.id, signing)
  })
}

test('an algorithm signs as soon as its first key is active, and not before', () => {
  const keys = [key('a', -DAY), key('b', 1, 'EdDSA')]
  assert.equal(chooseStartedKey(keys, 'EdDSA', NOW), undefined)
  assert.equal(chooseStartedKey(keys, 'RS256', NOW), undefined)
  assert.equal(chooseStartedKey(keys, 'EdDSA', at(1))?.id, 'b')
})

test('each declared algorithm has a signing key, and the keys of a withdrawn algorithm are verifying', () => {
  const keys = [key('a', -DAY), key('b', -DAY, 'EdDSA'), key('c', HOUR, 'EdDSA'), key('d', -HOUR, 'RS256')]
  const states = (...declared: readonly string[]) =>
    keys.map((one) => keyState(one, keys, { own: 'ES256', before: undefined, declared: new Set(declared) }, NOW))
  assert.deepEqual(states('EdDSA'), ['signing', 'signing', 'next', 'verifying'])
  assert.deepEqual(states('RS256'), ['signing', 'verifying', 'next', 'signing'])
})

const HEIRS: readonly (readonly [why: string, of: string, keys: readonly KeyTerm[], heir: string | undefined])[] = [
  ['an API declares its algorithm', 'b', [key('a', -9 * DAY), key('b', -8 * DAY, 'EdDSA')], undefined],
  ['its algorithm is that of the server', 'a', [key('a', -9 * DAY), key('b', -8 * DAY, 'RS256')], undefined],
  ['neither the server nor an API uses its algorithm', 'b', [key('a', -9 * DAY), key('b', -8 * DAY, 'RS256')], 'a'],
  ["the server's key has become active only recently", 'b', [key('a', -HOUR), key('b', -8 * DAY, 'RS256')], undefined],
  ['the server has no key of its own yet', 'b', [key('b', -8 * DAY, 'RS256'), key('c', -8 * DAY, 'EdDSA')], undefined],
  ['it is not active yet, and is the first key of its algorithm', 'b', [key('a', 0), key('b', HOUR, 'EdDSA')], 'a'],
  ['neither it nor another key is active yet', 'b', [key('a', 1), key('b', HOUR, 'EdDSA')], undefined],
]

for (const [why, of, keys, heir] of HEIRS) {
  test(`whether a key may be removed in favour of another algorithm when ${why}`, () => {
    const one = keys.find(({ id }) => id === of)
    assert.ok(one)
    const demand = { own: 'ES256', before: undefined, declared: new Set(['EdDSA']) }
    assert.equal(findSuccessor(one, keys, demand, KEEPING_MS, NOW)?.id, heir)
  })
}

test('a key is published longer than key sets are cached, and kept longer than the longest token that the settings allow', () => {
  assert.ok(PUBLICATION_MS >= DAY)
  assert.ok(KEEPING_MS >= DAY + HOUR)
  assert.ok(INTRODUCTION_MS >= 2 * 300_000)
})

test('whichever keys are removed at the same time, the signing key stays', () => {
  const starts = [-3 * DAY, -2 * DAY, -DAY - HOUR, -DAY, -HOUR, 0, HOUR, DAY]
  for (let chosen = 1; chosen < 1 << starts.length; chosen += 1) {
    const keys = starts.flatMap((start, index) => ((chosen >> index) & 1 ? [key(`k${index}`, start)] : []))
    for (const settledMs of [SPREAD_MS, KEEPING_MS]) {
      // Every removal decides by the same list and does not see the other removals.
      const left = keys.filter((one) => findReplacement(one, keys, settledMs, NOW) === undefined)
      const signing = chooseSigningKey(keys, NOW)
      assert.ok(left.some(({ id }) => id === signing?.id))
    }
  }
})
