import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  compareStore,
  compareWithMemory,
  needsNewest,
  type Comparison,
  type StorePlace,
  type StoreStep,
} from '../../src/base/store-place.ts'

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

const HEAD = { id: '10', hash: 'i' }
const NEWEST = { id: '11', hash: 'j' }

/** What was remembered, whether the store was back, what the store has, the last commit; what follows. */
const STEPS: readonly (readonly [
  string,
  boolean,
  Partial<StorePlace>,
  typeof HEAD | undefined,
  object,
  readonly StoreStep[],
])[] = [
  ['a commit is remembered', false, {}, HEAD, { link: HEAD }, ['save-later']],
  ['nothing was committed', false, {}, undefined, { link: MEMORY.link }, ['save-later']],
  ['a store that went back is not remembered', false, { eras: ['a'] }, HEAD, MEMORY, ['went-back', 'save', 'mark']],
  ['a store that is still back', true, { isMarked: true }, HEAD, MEMORY, ['mark']],
  [
    'an answer',
    true,
    { eras: ['a', 'b', 'c'] },
    HEAD,
    { eras: ['a', 'b', 'c'], link: NEWEST, isUnconfirmed: false },
    ['answered', 'save-later'],
  ],
  [
    'an answer that another node noticed',
    false,
    { eras: ['a', 'b', 'c'] },
    HEAD,
    { isUnconfirmed: false },
    ['save-later'],
  ],
  ['another store', false, { eras: ['x'] }, HEAD, { link: NEWEST, isUnconfirmed: true }, ['save-later']],
]

for (const [what, isBack, differing, head, expected, steps] of STEPS) {
  test(`BAK-07: ${what}: ${steps.join(', ')}`, () => {
    const before = { memory: { ...MEMORY, begunAs: 'https://auth.example' }, isBack }
    const seen = { place: { ...SAME, ...differing }, head }
    const compared = compareStore(before, { ...seen, newest: needsNewest(before, seen) ? NEWEST : undefined })
    assert.deepEqual(compared.steps, steps)
    assert.equal(compared.known.isBack, steps.includes('mark'))
    const begunAs = compareWithMemory(MEMORY, seen.place) === 'unknown' ? undefined : 'https://auth.example'
    assert.deepEqual(compared.known.memory, { ...compared.known.memory, ...expected, begunAs })
  })
}
