import type pg from 'pg'
import type { Row } from '../rows.ts'
import type { Promised } from '../noun.ts'
import { READS, SHARED_OPERATIONS } from '../nouns.ts'
import { mailed } from '../nouns/user/mails.ts'
import { withinReach } from '../nouns/user/roles.ts'
import type { Steps } from '../shared/statement.ts'
import type { Query, RunStatement } from './connection/query.ts'
import { eachAlone, eachInTurns, type Handlers } from './handlers.ts'
import { divided } from './user-rows.ts'

/** Runs statements that are not prepared. */
export function queryOf(client: pg.Client): RunStatement {
  return async ({ text }, values = []) => (await client.query<Row>(text, [...values])).rows
}

/** Runs shared code. */
export async function runSteps<T>(query: RunStatement, steps: Steps<T>): Promise<T> {
  let step = steps.next()
  while (step.done !== true) {
    const { statement, values } = step.value
    step = steps.next(await query({ name: statement.name, text: statement.postgres }, values))
  }
  return step.value
}

/** Runs shared code that decides something, divided where Citus distributes the tables. */
function runOperation<T>(query: Query, steps: Steps<T>): Promise<T> {
  return runSteps(query, query.isDistributed ? divided(steps, 'decide') : steps)
}

/** Runs the steps of each operation of a batch. */
export function runnerOf<In, Out>(
  takesTurns: boolean,
  steps: (input: In) => Steps<Out>,
): (query: Query, inputs: readonly In[]) => Promise<readonly Out[]> {
  const run = (query: Query, input: In): Promise<Out> => runOperation(query, steps(input))
  return takesTurns ? eachInTurns(run) : eachAlone(run)
}

/** The handlers of SHARED_OPERATIONS. */
export const sharedHandlers = Object.fromEntries(
  Object.entries(SHARED_OPERATIONS).map(([name, handler]) => {
    const steps = withinReach(handler, mailed(handler, handler.run as (input: unknown) => Steps<unknown>))
    return [name, { ...handler, run: runnerOf('takesTurns' in handler, steps) }]
  }),
) as unknown as Pick<Handlers, keyof typeof SHARED_OPERATIONS>

/** The reads of READS. */
export function sharedReads(query: Query): Promised<typeof READS> {
  return Object.fromEntries(
    Object.entries(READS).map(([name, read]) => {
      const steps = read as (...asked: readonly unknown[]) => Steps<unknown>
      const ask = (...asked: readonly unknown[]): Steps<unknown> =>
        query.isDistributed ? divided(steps(...asked), 'read') : steps(...asked)
      return [name, (...asked: readonly unknown[]) => runSteps(query, ask(...asked))]
    }),
  ) as unknown as Promised<typeof READS>
}
