import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { EpochMs } from '../../src/base/brand.ts'
import { clockNotesOf, clockNoteValue } from '../../src/store/settings.ts'

test('the note of the clock is stored under the names that older releases read', () => {
  const node = { agreedAt: 5 as EpochMs, deletionTime: 3 as EpochMs, confirmation: 2 as EpochMs }
  const value = '{"agreedAt":5,"deletionMoment":3,"confirmation":2}'
  assert.deepEqual(JSON.parse(clockNoteValue(node)), JSON.parse(value))
  assert.deepEqual(clockNotesOf(value, undefined), { node, confirmation: undefined })
})
