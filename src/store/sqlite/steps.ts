import type { DatabaseSync, StatementSync } from 'node:sqlite'
import type { Row } from '../rows.ts'
import type { Promised } from '../noun.ts'
import { READS, SHARED_OPERATIONS } from '../nouns.ts'
import { mailed } from '../nouns/user/mails.ts'
import { withinReach } from '../nouns/user/roles.ts'
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

/** The handlers of SHARED_OPERATIONS. */
export function sharedHandlers(run: RunSteps): Pick<Handlers, keyof typeof SHARED_OPERATIONS> {
  return Object.fromEntries(
    Object.entries(SHARED_OPERATIONS).map(([name, handler]) => {
      const steps = withinReach(handler, mailed(handler, handler.run as (input: unknown) => Steps<unknown>))
      return [name, (input: unknown) => run(steps(input))]
    }),
  ) as unknown as Pick<Handlers, keyof typeof SHARED_OPERATIONS>
}

/** The reads of READS. */
export function sharedReads(run: RunSteps): Promised<typeof READS> {
  return Object.fromEntries(
    Object.entries(READS).map(([name, read]) => {
      const steps = read as (...asked: readonly unknown[]) => Steps<unknown>
      return [name, async (...asked: readonly unknown[]) => run(steps(...asked))]
    }),
  ) as unknown as Promised<typeof READS>
}
