import type { AuditLinkRecord } from '../../ports/records/audit.ts'
import type { Input, OperationName, Outcome } from '../../ports/operations/index.ts'
import type { Row } from '../rows.ts'
import { allOrFirstFault } from './connection/faults.ts'
import type { Query } from './connection/query.ts'

/** How operations of one kind are applied, many at a time. */
export interface Handler<Name extends OperationName> {
  /** What the operation touches. Operations with a common key are applied one after the other, in the order of the batch. */
  readonly keys: (input: Input<Name>) => readonly string[]
  /** Several operations of this kind may have a common key in one statement, because all of them have the same outcome. */
  readonly isShared?: true
  /** Further keys, which several operations of this kind may have in common in one statement. */
  readonly sharedKeys?: (input: Input<Name>) => readonly string[]
  /**
   * The operation changes rows that it finds by another column, so its keys do not name what it touches. It is a transaction of its own:
   * within one, the statements of different operations take turns.
   */
  readonly isAlone?: true
  /**
   * Sends its first statement immediately. `inputs` are sorted by their first key, so that two nodes take locks in the same
   * order.
   */
  readonly run: (query: Query, inputs: readonly Input<Name>[]) => Promise<readonly Outcome<Name>[]>
  /** Absent: the operation needs several statements. */
  readonly atOnce?: AtOnce<Name>
}

/**
 * Fast path: applies operations of one kind in a single autocommitted statement. Operations it does not apply are untouched
 * and handled by `run`.
 */
export interface AtOnce<Name extends OperationName> {
  /** The outcome of an operation that was applied. */
  readonly outcome: (input: Input<Name>) => Outcome<Name>
  /** Whether the statement writes the audit link as well. If not, the operations must have no audit event. */
  readonly writesAudit?: true
  /** The statement changes rows of several keys, so that `run` is faster where the tables are distributed. */
  readonly onOneMachine?: true
  /** Returns which operations were applied. With `link` these must be all. */
  readonly run: (
    query: Query,
    inputs: readonly Input<Name>[],
    link: AuditLinkRecord | undefined,
  ) => Promise<readonly boolean[]>
}

export type Handlers = { readonly [Name in OperationName]: Handler<Name> }

/** For rare operations: each runs its own statements, one operation after the other. */
export function eachAlone<In, Out>(
  run: (query: Query, input: In) => Promise<Out>,
): (query: Query, inputs: readonly In[]) => Promise<readonly Out[]> {
  return async (query, inputs) => {
    const outcomes: Out[] = []
    for (const input of inputs) outcomes.push(await run(query, input))
    return outcomes
  }
}

/**
 * Each runs its own statements, which are sent without waiting for the answers to those of the others. Operations with the same steps lock
 * the rows of a step in the order of the inputs.
 */
export function eachInTurns<In, Out>(
  run: (query: Query, input: In) => Promise<Out>,
): (query: Query, inputs: readonly In[]) => Promise<readonly Out[]> {
  return (query, inputs) => allOrFirstFault(inputs.map((input) => run(query, input)))
}

/** Returns the values of a column, such as the ids of the rows that a statement changed. */
export function valuesOf(rows: readonly Row[], column: string): ReadonlySet<unknown> {
  return new Set(rows.map((row) => row[column]))
}
