import type pg from 'pg'
import type { Row } from '../rows.ts'
import { SHARED_HANDLERS, SHARED_READS, type Promised } from '../shared/all.ts'
import { mailed } from '../nouns/user/mails.ts'
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

/** The handlers of SHARED_HANDLERS. */
export const sharedHandlers = Object.fromEntries(
  Object.entries(SHARED_HANDLERS).map(([name, handler]) => {
    const steps = mailed(handler, handler.run as (input: unknown) => Steps<unknown>)
    return [name, { ...handler, run: runnerOf('takesTurns' in handler, steps) }]
  }),
) as unknown as Pick<Handlers, keyof typeof SHARED_HANDLERS>

/** The reads of SHARED_READS. */
export function sharedReads(query: Query): Promised<typeof SHARED_READS> {
  return Object.fromEntries(
    Object.entries(SHARED_READS).map(([name, read]) => {
      const steps = read as (...asked: readonly unknown[]) => Steps<unknown>
      const ask = (...asked: readonly unknown[]): Steps<unknown> =>
        query.isDistributed ? divided(steps(...asked), 'read') : steps(...asked)
      return [name, (...asked: readonly unknown[]) => runSteps(query, ask(...asked))]
    }),
  ) as unknown as Promised<typeof SHARED_READS>
}
