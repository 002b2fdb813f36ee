import assert from 'node:assert/strict'
import { test } from 'node:test'
import { inSqlite, rows, shared } from '../../../src/store/shared/statement.ts'

test('named parameters get the same numbers on both databases, also where one is repeated', () => {
  const { postgres, sqlite, parameters } = shared('select :b::text, :a where x = :b')
  assert.equal(postgres, 'select $1::text, $2 where x = $1')
  assert.equal(sqlite, 'select ?1::text, ?2 where x = ?1')
  assert.deepEqual(parameters, ['b', 'a'])
})

test('each statement has a name of its own', () => {
  assert.notEqual(shared('select 1').name, shared('select 2').name)
})

test('SQLite gets the parts of a statement that are marked for it', () => {
  assert.equal(inSqlite('greatest(a, 1)'), 'max(a, 1)')
  assert.equal(
    inSqlite('where id = any(array(select id from t limit 1)) and x'),
    'where id in (select id from t limit 1) and x',
  )
})

test('values are in the order of the parameters; a boolean is 0 or 1, and undefined is null', () => {
  const statement = shared('select :yes, :none, :text')
  const steps = rows(statement, { text: 'x', none: undefined, yes: true, unused: 1 })
  assert.deepEqual(steps.next().value, { statement, values: [1, null, 'x'] })
})

test('a statement without one of its parameters is not run', () => {
  assert.throws(() => rows(shared('select :id'), { ID: 1 }).next(), /The parameter id is missing/)
})
