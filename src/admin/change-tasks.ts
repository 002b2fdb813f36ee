import * as z from 'zod'
import type { EpochMs } from '../base/brand.ts'
import type { Touched } from '../ports/operations/reach.ts'
import type { AdminError } from './admin-error.ts'
import { JWT_ACCEPTANCE, withDeletion, withJwtAcceptance } from './jwt-acceptance.ts'
import { defineTask, type Access, type Manner, type Task, type TaskContext } from './task.ts'

/** The records of a noun, as the tasks that change one record need them. */
interface Records<Input extends z.ZodObject, Output extends z.ZodObject, Found> {
  /** The first part of the names of the tasks: `client`. */
  readonly noun: string
  /** The path of one record, to which the verb is appended. */
  readonly path: string
  readonly extent: Task['extent']
  readonly access: Access
  readonly touches?: Touched
  /** The parameters in the path. */
  readonly input: Input
  readonly output: Output
  /** Finds the record. @throws AdminError when it does not exist */
  readonly find: (context: TaskContext, input: z.output<Input>) => Promise<Found>
  /** The error for a record that does not exist. */
  readonly missing: (input: z.output<Input>) => AdminError
  readonly describe: (found: Found, context: TaskContext) => z.output<Output> | Promise<z.output<Output>>
  /** Returns the times from which it follows which tokens of the record are revoked. */
  readonly endOf: (found: Found) => {
    readonly disabledAt: EpochMs | undefined
    readonly notBefore: EpochMs | undefined
  }
}

/** Where a task differs from the others of its noun. */
type OwnManner = Manner & { readonly access?: Access }

/** Calls an operation of the store. */
type Change<Input extends z.ZodObject> = (context: TaskContext, input: z.output<Input>) => Promise<unknown>

/** Makes the rows of tasks that change one record. */
interface ChangeTasks<Input extends z.ZodObject> {
  /** A task that changes one record and returns the changed record. */
  readonly change: (verb: string, summary: string, run: Change<Input>, manner?: OwnManner) => Task
  /** A change that revokes the tokens of the record. Its answer adds how long JWTs may be accepted. */
  readonly end: (verb: string, summary: string, run: Change<Input>, manner?: OwnManner) => Task
  /** A task that deletes or removes the record with its tokens. Its answer repeats the parameters of the path. */
  readonly remove: (verb: 'delete' | 'remove', summary: string, run: Change<Input>) => Task
}

/**
 * Verbs that take rights away whatever the time is. `revoke-tokens` is not among them: it ends what was issued before now, so with a
 * clock that is behind it would leave tokens valid.
 */
const ANY_CLOCK: ReadonlySet<string> = new Set(['disable', 'unverify'])

/** What verbs of the same name have in common. */
const MANNERS: Readonly<Record<string, Manner>> = {
  disable: { already: ({ disabled_at: at }) => at !== null },
  enable: { already: ({ disabled_at: at }) => at === null },
  'revoke-tokens': { needsRecentSignIn: true, isFinal: true },
}

/** Returns functions, each of which makes the row of a task: `POST <path>/<verb>`, or `DELETE <path>`. */
export function changeTasks<Input extends z.ZodObject, Output extends z.ZodObject, Found>(
  records: Records<Input, Output, Found>,
): ChangeTasks<Input> {
  const { noun, path, extent, access, touches, input, output, find, missing, describe, endOf } = records
  const ended = z.object({ ...output.shape, ...JWT_ACCEPTANCE }).meta({ id: `Ended${output.meta()?.id}` })
  const row = (verb: string, summary: string, manner?: OwnManner) =>
    ({
      access,
      ...(touches && { touches }),
      ...MANNERS[verb],
      ...manner,
      name: `${noun}.${verb}`,
      method: 'POST',
      path: `${path}/${verb}`,
      extent,
      anyClock: ANY_CLOCK.has(verb),
      summary,
      input,
    }) as const
  return {
    change: (verb, summary, run, manner) =>
      defineTask({
        ...row(verb, summary, manner),
        output,
        async run(context, given) {
          await run(context, given)
          return describe(await find(context, given), context)
        },
      }),
    end: (verb, summary, run, manner) =>
      defineTask({
        ...(verb === 'disable' ? { undo: `${noun}.enable` } : {}),
        ...row(verb, summary, manner),
        output: ended,
        async run(context, given) {
          await run(context, given)
          const found = await find(context, given)
          return withJwtAcceptance(context, (await describe(found, context)) as object, endOf(found))
        },
      }),
    remove: (verb, summary, run) => {
      const parameters = Object.keys(input.shape).map((name) => [name, z.string()] as const)
      const done = `${verb}d`
      return defineTask({
        ...row(verb, summary),
        method: 'DELETE',
        path,
        anyClock: true,
        output: z.object({ ...Object.fromEntries(parameters), [done]: z.literal(true), ...JWT_ACCEPTANCE }),
        async run(context, given) {
          if ((await run(context, given)) === 'unknown') throw missing(given)
          return withDeletion(context, { ...(given as object), [done]: true })
        },
      })
    },
  }
}
