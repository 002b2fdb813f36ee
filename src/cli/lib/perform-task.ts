import { AdminError } from '../../admin/admin-error.ts'
import { asAdministrator, COMMAND_LINE } from '../../admin/administrators.ts'
import { runTask, sentenceOf, type OptionNameOf } from '../../admin/run-task.ts'
import type { Administrator, Task } from '../../admin/task.ts'
import { findTask } from '../../admin/tasks.ts'
import type { Context } from '../../ports/context.ts'
import { definedMembers } from '../../base/json.ts'
import { askServer, readServer } from './ask-server.ts'
import type { Terminal } from './terminal.ts'
import type { ServerOptions } from './options.ts'
import { openIssuerNotice, withRuntime, type WhenMissing } from './runtime.ts'

export type Members = Readonly<Record<string, unknown>>

/** Performs one task of the table and returns its output. @throws AdminError with the message of the task */
export type PerformTask = <Answer>(name: string, input: Members) => Promise<Answer>

/**
 * Performs tasks on the store, or at a server when one is given. Answers and error messages are the same. The messages name
 * each member of the input by the option or argument that set it.
 */
export function withTasks<T>(
  terminal: Pick<Terminal, 'adminToken' | 'complain'>,
  { server, insecureHttp }: ServerOptions,
  whenMissing: WhenMissing,
  work: (performAs: (optionNameOf: OptionNameOf) => PerformTask) => Promise<T>,
): Promise<T> {
  if (server !== undefined) {
    const access = readServer(server, terminal.adminToken(), insecureHttp === true)
    return work((optionNameOf) => performBy((task, input) => askServer(access, task, input, optionNameOf)))
  }
  return withRuntime(terminal, whenMissing, (context) => {
    const reportIssuer = openIssuerNotice(context, terminal)
    return work((optionNameOf) => {
      const perform = performOn(context, optionNameOf)
      return async <Answer>(name: string, input: Members) => {
        const answer = await perform<Answer>(name, input)
        await reportIssuer(answer)
        return answer
      }
    })
  })
}

/** Performs tasks on an open store. The administrator is the actor in the audit. */
export function performOn(
  context: Context,
  optionNameOf: OptionNameOf = () => undefined,
  administrator: Administrator = COMMAND_LINE,
): PerformTask {
  const administration = asAdministrator(context, administrator)
  return performBy(async (task, input) => {
    try {
      return await runTask(administration, task, input, optionNameOf)
    } catch (cause) {
      // A task that refuses a member of its input knows no options.
      if (!(cause instanceof AdminError) || cause.problems.length === 0) throw cause
      throw new AdminError(cause.problems.map((one) => sentenceOf(one, optionNameOf)).join('\n'), cause.kind)
    }
  })
}

function performBy(perform: (task: Task, input: Members) => Promise<unknown>): PerformTask {
  return async <Answer>(name: string, input: Members) =>
    (await perform(requireTask(name), definedMembers(input))) as Answer
}

/** @throws AdminError when the table has no such task, which is a bug of the command line */
export function requireTask(name: string): Task {
  const task = findTask(name)
  if (task === undefined) throw new AdminError(`There is no task ${name}.`)
  return task
}
