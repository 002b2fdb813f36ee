import type { AuditLinkRecord } from '../../ports/records/audit.ts'
import type { Input, OperationName, Outcome } from '../../ports/operations.ts'
import type { Row } from '../rows.ts'
import type { Parameter, Query, Statement } from './database.ts'

/** How operations of one kind are made true, many at once. */
export interface Handler<Name extends OperationName> {
  /** What it touches. Operations that touch the same are made true one after the other, in the order of the batch. */
  readonly keys: (input: Input<Name>) => readonly string[]
  /** Several of this kind may touch the same in one statement, because all of them are answered the same. */
  readonly isShared?: true
  /** Sends its first statement at once. `inputs` come sorted by their first key, so that two nodes lock in one order. */
  readonly run: (query: Query, inputs: readonly Input<Name>[]) => Promise<readonly Outcome<Name>[]>
  /** Absent: it takes several statements. */
  readonly atOnce?: AtOnce<Name>
}

/**
 * How one statement, which is a whole transaction, makes operations of one kind true. Those that it does not make true it
 * leaves as they are, and `run` says what became of them.
 */
export interface AtOnce<Name extends OperationName> {
  /** What becomes of one that comes true. */
  readonly outcome: (input: Input<Name>) => Outcome<Name>
  /** Whether the statement takes what the audit says of them. Otherwise that must be nothing. */
  readonly isTold?: true
  /** Answers which came true: with `link`, all of them. */
  readonly run: (
    query: Query,
    inputs: readonly Input<Name>[],
    link: AuditLinkRecord | undefined,
  ) => Promise<readonly boolean[]>
}

export type Handlers = { readonly [Name in OperationName]: Handler<Name> }

/** For what is rare: each with statements of its own, one after the other. */
export function eachAlone<In, Out>(
  run: (query: Query, input: In) => Promise<Out>,
): (query: Query, inputs: readonly In[]) => Promise<readonly Out[]> {
  return async (query, inputs) => {
    const outcomes: Out[] = []
    for (const input of inputs) outcomes.push(await run(query, input))
    return outcomes
  }
}

/** For a change of one row: whether there was one. */
export async function changeRow(
  query: Query,
  statement: Statement,
  parameters: readonly Parameter[],
): Promise<'changed' | 'unknown'> {
  return (await query(statement, parameters)).length === 1 ? 'changed' : 'unknown'
}

/** What rows have in a column: the ids of those that a statement changed. */
export function valuesOf(rows: readonly Row[], column: string): ReadonlySet<unknown> {
  return new Set(rows.map((row) => row[column]))
}
