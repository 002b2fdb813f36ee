import assert from 'node:assert/strict'
import type { AuditLinkRecord } from '../../ports/records/audit.ts'
import { StoreUnavailable, type OperationResult } from '../../ports/store.ts'
import type { Operation } from '../../ports/operations/index.ts'
import { failAll, commitEachAlone } from '../commit-each-alone.ts'
import { auditEvents } from '../effects.ts'
import { AUDIT_LINKS, ADD_AUDIT_LINK } from '../nouns/server/audit.ts'
import { answerDeadline, type Database, type Finish, type PostgresOptions } from './connection/database.ts'
import type { Query } from './connection/query.ts'
import { allOrFirstFault } from './connection/faults.ts'
import type { Handlers } from './handlers.ts'
import { cutIntoWaves, type Wave } from './waves.ts'

/** A handler with its own input type erased. */
type AnyHandler = {
  readonly keys: (input: unknown) => readonly string[]
  readonly isShared?: true
  readonly sharedKeys?: (input: unknown) => readonly string[]
  readonly isAlone?: true
  readonly run: (query: Query, inputs: readonly unknown[]) => Promise<readonly unknown[]>
  readonly atOnce?: {
    readonly outcome: (input: unknown) => unknown
    readonly writesAudit?: true
    readonly onOneMachine?: true
    readonly run: (query: Query, inputs: readonly unknown[], link?: AuditLinkRecord) => Promise<readonly boolean[]>
  }
}

interface Committing {
  readonly isDistributed: boolean
  readonly audit: PostgresOptions['audit'] | undefined
  readonly handlers: Handlers
  readonly transact: <T>(work: (query: Query, finish: Finish) => Promise<T>) => Promise<T>
  readonly once: <T>(work: (query: Query) => Promise<T>) => Promise<T>
}

const NO_KEYS: readonly string[] = []

/**
 * Commits a batch. Operations are independent of each other, so each wave of the batch is a transaction of its own. All
 * waves together must finish within the time limit of one statement.
 */
export async function commitBatch(
  { database, handlers, audit }: Pick<Committing, 'handlers' | 'audit'> & { readonly database: Database },
  operations: readonly Operation[],
): Promise<readonly OperationResult[]> {
  const answerBy = answerDeadline()
  const waves = cutIntoWaves(
    operations,
    ({ name, input }) => (handlers[name] as AnyHandler).keys(input),
    (name) => (handlers[name] as AnyHandler).isShared === true,
    (name) => (handlers[name] as AnyHandler).isAlone === true,
    ({ name, input }) => (handlers[name] as AnyHandler).sharedKeys?.(input) ?? NO_KEYS,
  )
  const means: Committing = {
    isDistributed: database.isDistributed,
    handlers,
    audit,
    transact: (work) => database.transact(work, answerBy),
    once: (work) => database.once(work, answerBy),
  }
  const results: OperationResult[] = []
  for (const [number, wave] of waves.entries()) {
    try {
      await commitWave(means, wave, results)
    } catch (cause) {
      if (results.length === 0 && cause instanceof StoreUnavailable) throw cause
      // The outcomes of the earlier waves are already known.
      for (const { index } of waves.slice(number).flat()) results[index] ??= { kind: 'failed', cause }
      return results
    }
  }
  return results
}

/**
 * Commits a wave and stores the result of each operation at its place in `results`. Throws StoreUnavailable if the outcome
 * is unknown.
 */
async function commitWave(means: Committing, wave: Wave, results: OperationResult[]): Promise<void> {
  const rest = await commitAtOnce(means, wave, results)
  if (rest.length === 0) return
  const outcomes = await commitTogether(
    means,
    rest.map(({ operation }) => operation),
  )
  for (const [place, { index }] of rest.entries()) results[index] = outcomes[place] as OperationResult
}

/**
 * Fast path: applies what a single autocommitted statement can. Returns the operations that remain: those it did not apply,
 * or all if the database rejected the statement.
 */
async function commitAtOnce(means: Committing, wave: Wave, results: OperationResult[]): Promise<Wave> {
  const atOnce = findAtOnce(means, wave)
  if (atOnce === undefined) return wave
  const operations = wave.map(({ operation }) => operation)
  const inputs = operations.map(({ input }) => input)
  const outcomes = inputs.map((input) => atOnce.outcome(input))
  const writing = means.audit?.begin()
  const link = writing?.link(auditEvents(operations, outcomes))
  assert(link === undefined || atOnce.writesAudit, 'the statement would not write the audit link of its operations')
  try {
    const isApplied = await means.once((query) => atOnce.run(query, inputs, link))
    writing?.committed()
    for (const [place, { index }] of wave.entries())
      if (isApplied[place] === true) results[index] = { kind: 'done', outcome: outcomes[place] }
    return wave.filter((_, place) => isApplied[place] !== true)
  } catch (cause) {
    writing?.failed(cause)
    if (cause instanceof StoreUnavailable) throw cause
    return wave
  }
}

/** The fast path needs operations of one kind, because a wave is one transaction. */
function findAtOnce({ handlers, isDistributed }: Committing, wave: Wave): AnyHandler['atOnce'] {
  const [first, last] = [wave[0]?.operation, wave.at(-1)?.operation]
  if (first === undefined || first.name !== last?.name) return undefined
  const { atOnce } = handlers[first.name] as AnyHandler
  // Several rows are several statements on Citus, which one transaction commits with less work.
  return isDistributed && (atOnce?.onOneMachine === true || wave.length > 1) ? undefined : atOnce
}

/** Commits all operations in one transaction or, if the database rejects one of them, each in its own. */
async function commitTogether(
  means: Committing,
  operations: readonly Operation[],
): Promise<readonly OperationResult[]> {
  const writing = means.audit?.begin()
  try {
    const outcomes = await means.transact(async (query, finish) => {
      const made = await runWave(query, means.handlers, operations)
      const link = writing?.link(auditEvents(operations, made))
      if (link !== undefined)
        finish({ name: ADD_AUDIT_LINK.name, text: ADD_AUDIT_LINK.postgres }, AUDIT_LINKS.write(link))
      return made
    })
    writing?.committed()
    return outcomes.map((outcome) => ({ kind: 'done', outcome }))
  } catch (cause) {
    writing?.failed(cause)
    if (cause instanceof StoreUnavailable) throw cause
    if (operations.length === 1) return failAll(operations, cause)
    return commitEachAlone(operations, (some) => commitTogether(means, some))
  }
}

/** `operations` are grouped by kind (waves.ts), and so are the outcomes. */
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
