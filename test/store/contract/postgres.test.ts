import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { StoreDriver } from '../../../src/ports/store.ts'
import { OPERATIONS } from '../../../src/store/nouns.ts'
import { SESSION_SETTINGS } from '../../../src/store/postgres/connection/database.ts'
import { SHARD_KEYS } from '../../../src/store/postgres/distribution.ts'
import { inspectPostgres } from '../../../src/store/postgres/inspect.ts'
import { readPostgresSchema } from '../../../src/store/postgres/schema/migrate-at.ts'
import { openPostgresStore } from '../../../src/store/postgres/store.ts'
import { openMigratedDatabase } from '../../support/store/migrated-database.ts'
import { listTables, openSession, openTestDatabase, readRows } from '../../support/store/postgres.ts'
import { decisionFaults, notingDecisions, type Decision } from '../decisions.ts'
import { keyFaults } from '../portable-sql.ts'
import { listSource, startRecordingPostgres } from '../recorded-statements.ts'
import {
  assertAllAreExecuted,
  assertAllScaleOut,
  dataStatements,
  isExcepted,
  KEYLESS,
  REMEDY,
} from '../statement-rules.ts'
import { fillUnanalyzed, planOnPostgres } from '../statement-plans.ts'
import { openTestChains } from './chains.ts'
import type { ContractStores } from './harness.ts'
import { checkStoreContract, CONTRACT, OUTCOME_TABLES } from './store-contract.ts'

const ROWS = 20_000

/** Two databases of a cluster (prove/citus). */
const given = process.env['CONTRACT_DATABASES']
const recording = startRecordingPostgres()
const file = { after: (end: unknown): void => after(end as () => unknown) }
const [url, otherUrl = url] = (given ?? (await openTestDatabase(file))).split(' ') as [string]
if (given === undefined) await readPostgresSchema(url)
const open = (address: string): Promise<StoreDriver> =>
  openPostgresStore({ url: address, connections: 4, audit: openTestChains() })
/** Two pools on one database, or on two machines of a cluster. Each may have several batches in progress. Opening them takes longer than any test. */
const stores: ContractStores = {
  first: await open(url),
  second: await open(otherUrl),
  rows: () => readRows(cleaner, tables),
}
after(async () => void (await Promise.all([stores.first.close(), stores.second.close()])))
const cleaner = await openSession(file, url)
const tables = await listTables(cleaner)
/** Restores the tables to the state after the migrations. Truncating them would take a hundred times as long, and planning each again half. */
const deletions = tables.map((table) => `delete from ${table};`).join(' ')
await cleaner.query(`create function pg_temp.empty() returns void language plpgsql as $$ begin ${deletions} end $$`)
const emptying = 'select pg_temp.empty()'

checkStoreContract('postgres', async () => {
  await cleaner.query(emptying)
  return stores
})
if (given === undefined) checkStatements()
else recording.end()

/** What all statements of the contract must be like, those of the tests above and those of a store that Citus distributes. */
function checkStatements(): void {
  const decisions: Decision[] = []
  const recorded = { executed: recording.statements, source: listSource('postgres') }

  test('postgres: every statement in the source is executed by the contract, and every executed one is in the source', async () => {
    await runDistributed(decisions)
    await stores.first.ping()
    await inspectPostgres(url, undefined)
    recording.end()
    assertAllAreExecuted(recorded)
  })

  test('postgres: no statement uses features that do not scale out', () => assertAllScaleOut(recorded))

  test('postgres: hot statements use the shard key, and none reads a whole table, empty or grown without statistics', async (t) => {
    const statements = dataStatements(recorded)
    const client = await openSession(t, await openMigratedDatabase(t))
    for (const [name, value] of Object.entries(SESSION_SETTINGS)) await client.query(`set ${name} = '${value}'`)
    for (const size of [0, ROWS]) {
      if (size > 0) await fillUnanalyzed(client, size)
      const faults: string[] = []
      for (const statement of statements) {
        const accesses = await planOnPostgres(client, statement.text)
        const whole = accesses.filter(({ table, isWhole }) => isWhole && table in SHARD_KEYS)
        faults.push(...whole.map(({ table }) => `reads all of ${table}: ${statement.text}`))
        if (!isExcepted(KEYLESS, statement))
          faults.push(...keyFaults(accesses).map((fault) => `${fault}: ${statement.text}`))
      }
      assert.deepEqual(faults, [], `With ${size} rows. ${REMEDY}`)
    }
  })

  test('STO-19: no operation reads a row of another shard that may not be visible yet, or it has a reason', () => {
    assert.deepEqual(decisionFaults(decisions, Object.keys(OPERATIONS)), [], 'See test/store/decisions.ts.')
  })
}

/** Runs the contract again without its tables of outcomes, as where Citus distributes the tables of the store. */
async function runDistributed(decisions: Decision[]): Promise<void> {
  const distributed = async (): Promise<StoreDriver> =>
    notingDecisions(
      await openPostgresStore({ url, connections: 4, audit: openTestChains(), isDistributed: true }),
      decisions,
    )
  const both: ContractStores = {
    first: await distributed(),
    second: await distributed(),
    rows: () => readRows(cleaner, tables),
  }
  const bodies: ((stores: ContractStores) => Promise<void>)[] = []
  for (const suite of CONTRACT) if (!OUTCOME_TABLES.includes(suite)) suite((_, body) => void bodies.push(body))
  for (const body of bodies) {
    await cleaner.query(emptying)
    // In its own turn, like requests: within a turn a store may continue to read the same snapshot.
    await nextTurn()
    await body(both)
  }
  await both.first.ping()
  await Promise.all([both.first.close(), both.second.close()])
}
