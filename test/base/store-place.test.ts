import assert from 'node:assert/strict'
import { test } from 'node:test'
import { compareWithMemory, type Comparison, type StorePlace } from '../../src/base/store-place.ts'

const MEMORY = { eras: ['a', 'b'], link: { id: '9', hash: 'h' }, isUnconfirmed: false, begunAs: undefined }
const SAME: StorePlace = { eras: ['a', 'b'], isMarked: false, hash: 'h', hasOlder: false }

const CASES: readonly (readonly [string, Partial<StorePlace>, Comparison])[] = [
  ['the link is there', {}, 'known'],
  ['the link is missing, and older ones are there', { hash: undefined, hasOlder: true }, 'back'],
  ['another link has its id', { hash: 'other' }, 'back'],
  ['the link and all older ones were swept', { hash: undefined }, 'unknown'],
  ['the newest known era is missing', { eras: ['a'] }, 'back'],
  ['no era has begun yet', { eras: [] }, 'back'],
  ['an answer began an era', { eras: ['a', 'b', 'c'], hash: undefined, hasOlder: true }, 'unknown'],
  ['an answer to a copy from before the newest known era', { eras: ['a', 'c'], hash: undefined }, 'unknown'],
  ['another node has marked the store', { isMarked: true }, 'back'],
  ['another store that is marked', { eras: ['x'], isMarked: true, hash: undefined }, 'back'],
  ['another store', { eras: ['x'], hash: undefined, hasOlder: true }, 'unknown'],
]

for (const [what, differing, expected] of CASES) {
  test(`BAK-07: ${what}: ${expected}`, () => {
    assert.equal(compareWithMemory(MEMORY, { ...SAME, ...differing }), expected)
  })
}

test('BAK-07: a memory without a link has only the eras', () => {
  const memory = { ...MEMORY, link: undefined }
  assert.equal(compareWithMemory(memory, { ...SAME, hash: undefined, hasOlder: true }), 'known')
  assert.equal(compareWithMemory(memory, { ...SAME, eras: ['a'] }), 'back')
})
