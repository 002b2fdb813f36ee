import assert from 'node:assert/strict'
import { test } from 'node:test'
import { endEverything } from '../../../src/store/backup/tables.ts'

const OF_NODES = [
  'first-key:access:EdDSA',
  'first-key:id:RS256',
  'declaring',
  'declaring-provider',
  'closed',
  'restoring',
  'row-counts',
]
const KEPT = ['issuer', 'signing-algorithm', 'declaring-providers']

test('a restored store has the settings of the operator, and none that belongs to the work of a node', () => {
  const rows = [...OF_NODES, 'not-before', 'last-backup', ...KEPT].map((name) => [name, 'before'])
  const slice = endEverything({ table: 'settings', columns: ['name', 'value'], rows }, { madeAt: 1, now: 2 })
  assert.deepEqual(slice.rows, [...KEPT.map((name) => [name, 'before']), ['not-before', '2'], ['last-backup', '1']])
})
