import { StoreUnavailable, type Settled, type StoreDriver } from '../../ports/store.ts'
import { type Operation } from '../../ports/operations.ts'
import type { EpochMs } from '../../protocol/brand.ts'
import { installationKey, membershipKey } from '../changes.ts'
import { auditLinkValues } from '../operator-rows.ts'
import { failAll, settleAlone } from '../settle-alone.ts'
import { accountStatements } from './accounts.ts'
import { administratorStatements } from './administrators.ts'
import { ADD_AUDIT_LINK, auditStatements } from './audit.ts'
import { authorizationStatements } from './authorizations.ts'
import { clientStatements } from './clients.ts'
import {
  answerDeadline,
  openDatabase,
  type Database,
  type Finish,
  type PostgresOptions,
  type Query,
} from './database.ts'
import { allOrFirstFault } from './faults.ts'
import type { Handlers } from './handlers.ts'
import { installationStatements } from './installations.ts'
import { membershipStatements } from './memberships.ts'
import { migrateAt } from './migrate-at.ts'
import { opaqueTokenStatements } from './opaque-tokens.ts'
import { operatorStatements } from './operator.ts'
import { organizationStatements } from './organizations.ts'
import { openRecordCache } from './record-cache.ts'
import { revocationStatements } from './revocations.ts'
import { sweepHandlers } from './sweep.ts'
import { tokenStatements } from './tokens.ts'
import { walkStatements } from './walks.ts'
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
  const organizations = organizationStatements(database)
  const memberships = membershipStatements(database)
  const installations = installationStatements(database)
  const operator = operatorStatements(database)
  const opaqueTokens = opaqueTokenStatements(database)
  const administrators = administratorStatements(database)
  const revocations = revocationStatements(database)
  const audit = auditStatements(database)
  const handlers: Handlers = {
    ...clients.handlers,
    ...authorizations.handlers,
    ...tokens.handlers,
    ...accounts.handlers,
    ...organizations.handlers,
    ...memberships.handlers,
    ...installations.handlers,
    ...operator.handlers,
    ...opaqueTokens.handlers,
    ...administrators.handlers,
    ...revocations.handlers,
    ...audit.handlers,
    ...sweepHandlers,
  }

  async function commit(operations: readonly Operation[]): Promise<readonly Settled[]> {
    for (const operation of operations) cache.forget(operation)
    try {
      return await commitBatch({ database, handlers, audit: options.audit }, operations)
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
    ...organizations.reads,
    ...memberships.reads,
    ...installations.reads,
    ...operator.reads,
    ...opaqueTokens.reads,
    ...administrators.reads,
    ...revocations.reads,
    ...audit.reads,
    ...walkStatements(database),
    findClient: (id) => cache.read(id, (key) => clients.reads.findClient(key)),
    findUser: (id) => cache.read(id, (key) => accounts.reads.findUser(key)),
    findOrganization: (id) => cache.read(id, (key) => organizations.reads.findOrganization(key)),
    findMembership: (key) => cache.read(membershipKey(key), () => memberships.reads.findMembership(key)),
    findInstallation: (key) => cache.read(installationKey(key), () => installations.reads.findInstallation(key)),
  }
}

/** A handler and its own inputs, whatever their kind. */
type AnyHandler = {
  readonly keys: (input: unknown) => readonly string[]
  readonly isShared?: true
  readonly run: (query: Query, inputs: readonly unknown[]) => Promise<readonly unknown[]>
}

interface Committing {
  readonly audit: PostgresOptions['audit'] | undefined
  readonly handlers: Handlers
  readonly transact: <T>(work: (query: Query, finish: Finish) => Promise<T>) => Promise<T>
}

/**
 * Operations are independent of each other, so each wave of a batch is a transaction of its own. All of them together must
 * be done in the time that one statement has.
 */
async function commitBatch(
  { database, handlers, audit }: Pick<Committing, 'handlers' | 'audit'> & { readonly database: Database },
  operations: readonly Operation[],
): Promise<readonly Settled[]> {
  const answerBy = answerDeadline()
  const waves = cutIntoWaves(
    operations,
    ({ name, input }) => (handlers[name] as AnyHandler).keys(input),
    (name) => (handlers[name] as AnyHandler).isShared === true,
  )
  const means: Committing = { handlers, audit, transact: (work) => database.transact(work, answerBy) }
  const results: Settled[] = []
  for (const [number, wave] of waves.entries()) {
    try {
      await commitWave(means, wave, results)
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
async function commitWave(means: Committing, wave: Wave, results: Settled[]): Promise<void> {
  const operations = wave.map(({ operation }) => operation)
  const settled = await settle(means, operations)
  for (const [place, { index }] of wave.entries()) results[index] = settled[place] as Settled
}

/** All of them, or each alone when the database refuses one. */
async function settle(means: Committing, operations: readonly Operation[]): Promise<readonly Settled[]> {
  const writing = means.audit?.begin()
  try {
    const outcomes = await means.transact(async (query, finish) => {
      const made = await runWave(query, means.handlers, operations)
      const link = writing?.link(operations, made)
      if (link !== undefined) finish(ADD_AUDIT_LINK, auditLinkValues(link))
      return made
    })
    writing?.committed()
    return outcomes.map((outcome) => ({ kind: 'done', outcome }))
  } catch (cause) {
    writing?.failed(cause)
    if (cause instanceof StoreUnavailable) throw cause
    if (operations.length === 1) return failAll(operations, cause)
    return settleAlone(operations, (some) => settle(means, some))
  }
}

/** `operations` stand by kind (waves.ts), and so do the answers. */
async function runWave(
  query: Query,
  handlers: Handlers,
  operations: readonly Operation[],
): Promise<readonly unknown[]> {
  const kinds = [...Map.groupBy(operations, ({ name }) => name)]
  const outcomes = await allOrFirstFault(
    kinds.map(([name, some]) =>
      (handlers[name] as AnyHandler).run(
        query,
        some.map(({ input }) => input),
      ),
    ),
  )
  return outcomes.flat()
}
