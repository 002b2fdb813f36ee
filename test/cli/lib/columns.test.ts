import assert from 'node:assert/strict'
import { test } from 'node:test'
import { record } from '../../../src/cli/lib/columns.ts'

test('a record has a line for each member of the JSON, and shows numbers, lists and what is empty', () => {
  const answer = {
    name: 'Wiki',
    age: 60,
    none: 0,
    isOpen: false,
    hosts: ['a', 'b'],
    empty: [],
    missing: null,
    absent: undefined,
  }
  assert.deepEqual(
    record(answer, (_style, text) => text),
    ['name     Wiki', 'age      60', 'none     0', 'isOpen   no', 'hosts    a, b', 'empty    –', 'missing  –'],
  )
})
