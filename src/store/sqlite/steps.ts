import type { DatabaseSync, StatementSync } from 'node:sqlite'
import type { Row } from '../rows.ts'
import { SHARED_HANDLERS, SHARED_READS, type Promised } from '../shared/all.ts'
import { mailed } from '../nouns/user/mails.ts'
import type { SharedStatement, Steps } from '../shared/statement.ts'
import type { Handlers } from './handlers.ts'

/** Runs shared code on this connection. */
export type RunSteps = <T>(steps: Steps<T>) => T

/** Each shared statement is prepared when it is first run. */
export function openSteps(database: DatabaseSync): RunSteps {
  const prepared = new Map<SharedStatement, StatementSync>()

  function prepare(statement: SharedStatement): StatementSync {
    let known = prepared.get(statement)
    if (known === undefined) prepared.set(statement, (known = database.prepare(statement.sqlite)))
    return known
  }

  return (steps) => {
    let step = steps.next()
    while (step.done !== true) {
      const { statement, values } = step.value
      step = steps.next(prepare(statement).all(...values) as Row[])
    }
    return step.value
  }
}

/** The handlers of SHARED_HANDLERS. */
export function sharedHandlers(run: RunSteps): Pick<Handlers, keyof typeof SHARED_HANDLERS> {
  return Object.fromEntries(
    Object.entries(SHARED_HANDLERS).map(([name, handler]) => {
      const steps = mailed(handler, handler.run as (input: unknown) => Steps<unknown>)
      return [name, (input: unknown) => run(steps(input))]
    }),
  ) as unknown as Pick<Handlers, keyof typeof SHARED_HANDLERS>
}

/** The reads of SHARED_READS. */
export function sharedReads(run: RunSteps): Promised<typeof SHARED_READS> {
  return Object.fromEntries(
    Object.entries(SHARED_READS).map(([name, read]) => {
      const steps = read as (...asked: readonly unknown[]) => Steps<unknown>
      return [name, async (...asked: readonly unknown[]) => run(steps(...asked))]
    }),
  ) as unknown as Promised<typeof SHARED_READS>
}
