import { StoreUnavailable, type Operation, type Settled, type StoreDriver } from '../../ports/store.ts'
import type { EpochMs } from '../../protocol/brand.ts'
import { failAll, settleAlone } from '../settle-alone.ts'
import { accountStatements } from './accounts.ts'
import { authorizationStatements } from './authorizations.ts'
import { clientStatements } from './clients.ts'
import { answerDeadline, openDatabase, type Database, type PostgresOptions, type Query } from './database.ts'
import { allOrFirstFault } from './faults.ts'
import type { Handlers } from './handlers.ts'
import { migrateAt } from './migrate-at.ts'
import { operatorStatements } from './operator.ts'
import { openRecordCache } from './record-cache.ts'
import { revocationStatements } from './revocations.ts'
import { sweepHandlers } from './sweep.ts'
import { tokenStatements } from './tokens.ts'
import { cutIntoWaves, type Wave } from './waves.ts'

/** Two batches: one is on its way to the disk while the next is made. */
const BATCHES_IN_FLIGHT = 2

const TIME = { name: 'time', text: 'select (extract(epoch from clock_timestamp()) * 1000)::bigint as now' }

/** The store of many nodes: one PostgreSQL, every commit synced. Migrates first. */
export async function openPostgresStore(options: PostgresOptions): Promise<StoreDriver> {
  await migrateAt(options.url, Date.now())
  const database = openDatabase(options)
  const cache = openRecordCache()
  const clients = clientStatements(database)
  const authorizations = authorizationStatements(database)
  const tokens = tokenStatements(database)
  const accounts = accountStatements(database)
  const operator = operatorStatements(database)
  const revocations = revocationStatements(database)
  const handlers: Handlers = {
    ...clients.handlers,
    ...authorizations.handlers,
    ...tokens.handlers,
    ...accounts.handlers,
    ...operator.handlers,
    ...revocations.handlers,
    ...sweepHandlers,
  }

  async function commit(operations: readonly Operation[]): Promise<readonly Settled[]> {
    for (const operation of operations) cache.forget(operation)
    try {
      return await commitBatch(database, handlers, operations)
    } finally {
      for (const operation of operations) cache.forget(operation)
    }
  }

  return {
    batchesInFlight: BATCHES_IN_FLIGHT,
    commit,
    close: () => database.close(),
    async ping() {
      const [row] = await database.query(TIME)
      return row?.['now'] as EpochMs
    },
    ...clients.reads,
    ...authorizations.reads,
    ...tokens.reads,
    ...accounts.reads,
    ...operator.reads,
    ...revocations.reads,
    findClient: (id) => cache.read(id, (key) => clients.reads.findClient(key)),
    findUser: (id) => cache.read(id, (key) => accounts.reads.findUser(key)),
  }
}

type Transact = <T>(work: (query: Query) => Promise<T>) => Promise<T>

/** A handler and its own inputs, whatever their kind. */
type AnyHandler = {
  readonly keys: (input: unknown) => readonly string[]
  readonly isShared?: true
  readonly run: (query: Query, inputs: readonly unknown[]) => Promise<readonly unknown[]>
}

/**
 * Operations are independent of each other, so each wave of a batch is a transaction of its own. All of them together must
 * be done in the time that one statement has.
 */
async function commitBatch(
  database: Database,
  handlers: Handlers,
  operations: readonly Operation[],
): Promise<readonly Settled[]> {
  const answerBy = answerDeadline()
  const waves = cutIntoWaves(
    operations,
    ({ name, input }) => (handlers[name] as AnyHandler).keys(input),
    (name) => (handlers[name] as AnyHandler).isShared === true,
  )
  const transact: Transact = (work) => database.transact(work, answerBy)
  const results: Settled[] = []
  for (const [number, wave] of waves.entries()) {
    try {
      await commitWave(transact, handlers, wave, results)
    } catch (cause) {
      if (number === 0 && cause instanceof StoreUnavailable) throw cause
      // Of waves before, everybody knows what became of them.
      for (const { index } of waves.slice(number).flat()) results[index] = { kind: 'failed', cause }
      return results
    }
  }
  return results
}

/** Puts what became of each operation into its place of `results`. Throws StoreUnavailable when nobody can tell. */
async function commitWave(transact: Transact, handlers: Handlers, wave: Wave, results: Settled[]): Promise<void> {
  const operations = wave.map(({ operation }) => operation)
  const settled = await settle(transact, handlers, operations)
  for (const [place, { index }] of wave.entries()) results[index] = settled[place] as Settled
}

/** All of them, or each alone when the database refuses one. */
async function settle(
  transact: Transact,
  handlers: Handlers,
  operations: readonly Operation[],
): Promise<readonly Settled[]> {
  try {
    return await transact((query) => runWave(query, handlers, operations))
  } catch (cause) {
    if (cause instanceof StoreUnavailable) throw cause
    if (operations.length === 1) return failAll(operations, cause)
    return settleAlone(operations, (some) => settle(transact, handlers, some))
  }
}

/** `operations` stand by kind (waves.ts), and so do the answers. */
async function runWave(
  query: Query,
  handlers: Handlers,
  operations: readonly Operation[],
): Promise<readonly Settled[]> {
  const kinds = [...Map.groupBy(operations, ({ name }) => name)]
  const outcomes = await allOrFirstFault(
    kinds.map(([name, some]) =>
      (handlers[name] as AnyHandler).run(
        query,
        some.map(({ input }) => input),
      ),
    ),
  )
  return outcomes.flat().map((outcome) => ({ kind: 'done', outcome }))
}
