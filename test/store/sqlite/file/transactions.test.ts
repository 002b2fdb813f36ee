import assert from 'node:assert/strict'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test, type TestContext } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { openDatabase } from '../../../../src/store/sqlite/database.ts'
import { openTransactions } from '../../../../src/store/sqlite/file/transactions.ts'
import { temporaryFolder } from '../../../support/server.ts'

/** Which state of the file is read while another connection writes. */

test('reads that follow each other see one state, and the next turn sees the newest', async (t) => {
  const { transactions, count, other, begun } = openTestTransactions(t)
  const seen = await Promise.all([0, 1, 2].map(async () => transactions.read(count)))
  other.exec('insert into things values (1)')
  assert.deepEqual(seen, [0, 0, 0])
  assert.equal(transactions.read(count), 0, 'pending promises run before anything from outside')
  assert.equal(begun(), 1)
  await nextTurn()
  assert.equal(transactions.read(count), 1)
  assert.equal(begun(), 2)
})

test('no state is held between two turns, so the log can be truncated', async (t) => {
  const { transactions, count, other } = openTestTransactions(t)
  transactions.read(count)
  await nextTurn()
  other.exec('insert into things values (1)')
  assert.deepEqual({ ...other.prepare('pragma wal_checkpoint(truncate)').get() }, { busy: 0, log: 0, checkpointed: 0 })
})

test('a write starts with the newest state, even though an older one was being read', async (t) => {
  const { database, transactions, count, other } = openTestTransactions(t)
  transactions.read(count)
  other.exec('insert into things values (1)')
  transactions.beginWriting()
  assert.equal(transactions.read(count), 1)
  await nextTurn()
  assert.ok(database.isTransaction, 'ending a read does not end a write')
  database.exec('rollback')
})

test('a connection that cannot write can continue to read', (t) => {
  const { database, transactions, count, other } = openTestTransactions(t)
  transactions.read(count)
  other.exec('begin immediate')
  assert.throws(() => transactions.beginWriting(), /locked/)
  assert.equal(database.isTransaction, false)
  assert.equal(transactions.read(count), 0)
  other.exec('rollback')
})

function openTestTransactions(t: TestContext) {
  const path = join(temporaryFolder(t), 'grantor.db')
  const database = openDatabase(path)
  database.exec('create table things (number integer)')
  const other = new DatabaseSync(path)
  const counting = database.prepare('select count(*) as count from things')
  let states = 0
  const transactions = openTransactions(database, () => (states += 1))
  t.after(() => {
    transactions.endReading()
    other.close()
    database.close()
  })
  return { database, transactions, other, count: () => Number(counting.get()?.['count']), begun: () => states }
}
