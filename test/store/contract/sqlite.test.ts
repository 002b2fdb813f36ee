import assert from 'node:assert/strict'
import { join } from 'node:path'
import { DatabaseSync, type StatementSync } from 'node:sqlite'
import { after, test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { StoreDriver } from '../../../src/ports/store.ts'
import { SHARD_KEYS } from '../../../src/store/postgres/distribution.ts'
import { openDatabase } from '../../../src/store/sqlite/database.ts'
import { inspectDatabase } from '../../../src/store/sqlite/inspect.ts'
import { readSqliteSchema } from '../../../src/store/sqlite/migrate.ts'
import { openSqliteStore } from '../../../src/store/sqlite/store.ts'
import { placeBlankDatabase } from '../../support/store/blank-database.ts'
import { temporaryFolder } from '../../support/server.ts'
import { keyFaults, type Access, WHOLE_TABLES } from '../portable-sql.ts'
import { listSource, startRecordingSqlite } from '../recorded-statements.ts'
import {
  assertAllAreExecuted,
  assertAllScaleOut,
  dataStatements,
  isExcepted,
  KEYLESS,
  REMEDY,
} from '../statement-rules.ts'
import { planOnSqlite } from '../statement-plans.ts'
import { openTestChains } from './chains.ts'
import { oneBatchAtATime, type ContractStores } from './harness.ts'
import { checkStoreContract } from './store-contract.ts'

/** Differ from the statements of the store. */
const TABLES = [...Object.keys(SHARD_KEYS), ...WHOLE_TABLES].filter((table) => !table.startsWith('migration'))
const EMPTYING = TABLES.map((table) => `delete from ${table} where true`)
const READING = TABLES.map((table) => `select * from ${table} where true`)

const path = join(temporaryFolder({ after: (end: unknown): void => after(end as () => unknown) }), 'grantor.db')
const recording = startRecordingSqlite()
readSqliteSchema(path)
const open = (): StoreDriver =>
  oneBatchAtATime(openSqliteStore({ path, patienceMs: 10_000, checkpoints: 'inline', audit: openTestChains() }))
/** All tests share them, because opening them takes longer than a test. */
const stores: ContractStores = { first: open(), second: open(), rows: async () => readAll() }
after(async () => void (await Promise.all([stores.first.close(), stores.second.close()])))
const cleaner = new DatabaseSync(path)
let reading: readonly StatementSync[] | undefined

checkStoreContract('sqlite', async () => {
  for (const statement of EMPTYING) cleaner.exec(statement)
  // In a turn of its own, like requests: within a turn a store may continue to read the same snapshot.
  await nextTurn()
  return stores
})

const source = listSource('sqlite')
const recorded = { executed: new Set<string>(), source }

test('sqlite: every statement in the source is executed by the contract, and every executed one is in the source', async () => {
  await stores.first.ping()
  cleaner.close()
  inspectDatabase(path, undefined)
  recording.end()
  const own = [...EMPTYING, ...READING]
  for (const statement of recording.statements) if (!own.includes(statement)) recorded.executed.add(statement)
  assertAllAreExecuted(recorded)
})

test('sqlite: no statement uses features that do not scale out', () => assertAllScaleOut(recorded))

test('sqlite: hot statements use the shard key, and none reads a whole table', async (t) => {
  const statements = dataStatements(recorded)
  const blank = join(temporaryFolder(t), 'grantor.db')
  placeBlankDatabase(blank)
  const database = openDatabase(blank)
  t.after(() => database.close())
  const faults = statements.flatMap((statement) => {
    if (statement.file.startsWith('src/store/migrations/')) return []
    const { text } = statement
    // Each connection has tables of its own.
    if (text.includes(' temp.')) return []
    const accesses = planOnSqlite(database, text)
    // Those read the last rows of an index, or the few rows of registrations.
    const byOrder = /^select (max\(at\) as at|window_start, count) from /
    const isRead = ({ table, isWhole }: Access) => isWhole && table in SHARD_KEYS && !byOrder.test(text)
    const keyless = isExcepted(KEYLESS, statement) ? [] : keyFaults(accesses)
    return [...keyless, ...accesses.filter(isRead).map(({ table }) => `reads all of ${table}`)].map(
      (fault) => `${fault}: ${text}`,
    )
  })
  assert.deepEqual(faults, [], REMEDY)
})

function readAll(): Awaited<ReturnType<ContractStores['rows']>> {
  reading ??= READING.map((statement) => cleaner.prepare(statement))
  return Object.fromEntries(reading.map((statement, index) => [TABLES[index], statement.all()]))
}
