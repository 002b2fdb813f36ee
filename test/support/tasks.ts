import { asAdministrator, COMMAND_LINE } from '../../src/admin/administrators.ts'
import { runTask } from '../../src/admin/run-task.ts'
import { requireTask } from '../../src/admin/tasks.ts'
import type { Context } from '../../src/ports/context.ts'

export type Members = Readonly<Record<string, unknown>>

/** Performs a task as the operator at the command line. */
export async function perform<Answer = Members>(context: Context, name: string, input: Members): Promise<Answer> {
  return (await runTask(asAdministrator(context, COMMAND_LINE), requireTask(name), input, () => undefined)) as Answer
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
