import { asAdministrator, COMMAND_LINE } from '../../src/admin/administrators.ts'
import { runTask } from '../../src/admin/run-task.ts'
import type { Task } from '../../src/admin/task.ts'
import { TASKS } from '../../src/admin/tasks.ts'
import type { Context } from '../../src/ports/context.ts'

export type Members = Readonly<Record<string, unknown>>

/** A row of the table, by its name. */
export function taskOf(name: string): Task {
  const task = TASKS.find((one) => one.name === name)
  if (task === undefined) throw new Error(`There is no task ${name}.`)
  return task
}

/** Performs a task as the operator at the command line. */
export async function perform<Answer = Members>(context: Context, name: string, input: Members): Promise<Answer> {
  return (await runTask(asAdministrator(context, COMMAND_LINE), taskOf(name), input, () => undefined)) as Answer
}

/** Performs a task on the user with an e-mail address: `user.disable`. */
export async function performOnUser(
  context: Context,
  name: string,
  email: string,
  input: Members = {},
): Promise<Members> {
  const user = await context.store.findUserByEmail(email)
  return perform(context, name, { user_id: user?.id, ...input })
}
