import assert from 'node:assert/strict'
import { test } from 'node:test'
import { changedMigrations, readReleased } from '../../release/migrations.ts'
import { digestOf, listMigrations } from '../../src/store/migrations.ts'
import { PLANTED } from '../store/planted-migrations.ts'

test('no released migration is changed or missing', () => {
  assert.deepEqual(changedMigrations(readReleased(), listMigrations()), [])
})

test('a released migration that is changed, renamed or missing is found; a comment and a further migration are not', () => {
  const [start, expand, ...later] = PLANTED
  if (start === undefined || expand === undefined) throw new Error('There are no planted migrations.')
  const released = { '0001-start.sql': digestOf(start), '0002-expand.sql': digestOf(expand) }
  const changed = `was released and is changed: write a further migration.`
  const missing = `was released and is missing: write a further migration.`
  const cases = [
    [[start, expand, ...later], []],
    [[{ ...start, sql: `-- A comment.\n${start.sql}` }, expand], []],
    [[{ ...start, sql: start.sql.replace('note text', 'note text not null') }, expand], [`0001-start.sql ${changed}`]],
    [[start, { ...expand, name: 'other' }], [`0002-expand.sql ${missing}`]],
    [[start], [`0002-expand.sql ${missing}`]],
  ] as const
  for (const [migrations, faults] of cases) assert.deepEqual(changedMigrations(released, migrations), faults)
})
