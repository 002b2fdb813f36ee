import * as z from 'zod'
import type { EpochMs } from '../base/brand.ts'
import { JWT_ACCEPTANCE, withJwtAcceptance } from './jwt-acceptance.ts'
import { defineTask, type Task, type TaskContext } from './task.ts'

/** The records of a noun, as the tasks that change one record need them. */
interface Records<Input extends z.ZodObject, Output extends z.ZodObject, Found> {
  /** The first part of the names of the tasks: `client`. */
  readonly noun: string
  /** The path of one record, to which the verb is appended. */
  readonly path: string
  readonly extent: Task['extent']
  /** The parameters in the path. */
  readonly input: Input
  readonly output: Output
  readonly describe: (found: Found, context: TaskContext) => z.output<Output> | Promise<z.output<Output>>
  /** Returns the times from which it follows which tokens of the record are revoked. */
  readonly endOf: (found: Found) => {
    readonly disabledAt: EpochMs | undefined
    readonly notBefore: EpochMs | undefined
  }
}

type Change<Input extends z.ZodObject, Found> = (context: TaskContext, input: z.output<Input>) => Promise<Found>

/** Makes the rows of tasks that change one record. */
interface ChangeTasks<Input extends z.ZodObject, Found> {
  /** A task that changes one record and returns the changed record. */
  readonly change: (verb: string, summary: string, run: Change<Input, Found>) => Task
  /** A change that revokes the tokens of the record. Its answer adds how long JWTs may be accepted. */
  readonly end: (verb: string, summary: string, run: Change<Input, Found>) => Task
}

/**
 * Verbs that take rights away whatever the time is. `revoke-tokens` is not among them: it ends what was issued before now, so with a
 * clock that is behind it would leave tokens valid.
 */
const ANY_CLOCK: ReadonlySet<string> = new Set(['disable', 'unverify'])

/** Returns two functions, each of which makes the row of a task `POST <path>/<verb>`. */
export function changeTasks<Input extends z.ZodObject, Output extends z.ZodObject, Found>(
  records: Records<Input, Output, Found>,
): ChangeTasks<Input, Found> {
  const { noun, path, extent, input, output, describe, endOf } = records
  const ended = z.object({ ...output.shape, ...JWT_ACCEPTANCE }).meta({ id: `Ended${output.meta()?.id}` })
  const row = (verb: string, summary: string) =>
    ({
      name: `${noun}.${verb}`,
      method: 'POST',
      path: `${path}/${verb}`,
      access: 'write',
      extent,
      anyClock: ANY_CLOCK.has(verb),
      summary,
      input,
    }) as const
  return {
    change: (verb, summary, run) =>
      defineTask({
        ...row(verb, summary),
        output,
        run: async (context, given) => describe(await run(context, given), context),
      }),
    end: (verb, summary, run) =>
      defineTask({
        ...row(verb, summary),
        output: ended,
        async run(context, given) {
          const found = await run(context, given)
          return withJwtAcceptance(context, (await describe(found, context)) as object, endOf(found))
        },
      }),
  }
}
