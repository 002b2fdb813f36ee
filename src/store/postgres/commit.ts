import { StoreUnavailable, type Settled } from '../../ports/store.ts'
import type { Operation } from '../../ports/operations.ts'
import { auditLinkValues } from '../operator-rows.ts'
import { failAll, settleAlone } from '../settle-alone.ts'
import { ADD_AUDIT_LINK } from './audit.ts'
import { answerDeadline, type Database, type Finish, type PostgresOptions, type Query } from './database.ts'
import { allOrFirstFault } from './faults.ts'
import type { Handlers } from './handlers.ts'
import { cutIntoWaves, type Wave } from './waves.ts'

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
export async function commitBatch(
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
