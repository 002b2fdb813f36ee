import { asAdministrator, COMMAND_LINE } from '../../src/admin/administrators.ts'
import { runTask } from '../../src/admin/run-task.ts'
import { requireTask } from '../../src/admin/tasks.ts'
import type { Context } from '../../src/ports/context.ts'
import { cut } from '../../src/texts/texts.ts'

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

/** What a page or a command says that a task did, as the source of a regular expression. `slots`: what some have; the others have any text. */
export function said(task: string, slots: Readonly<Record<string, string>> = {}): string {
  const { strings, slots: names } = cut(requireTask(task).words.done)
  return strings
    .map((text, index) => {
      const name = names[index]
      return name === undefined
        ? RegExp.escape(text)
        : `${RegExp.escape(text)}(?:<bdi>)?${slots[name] ?? '[^<\\n]*?'}(?:</bdi>)?`
    })
    .join('')
}

/** What the console says of several rows: `3 of 5` were changed, and how many were so before. */
export function saidOf(task: string, done: string, already?: number): string {
  const { label, already: words = '' } = requireTask(task).words
  return `${label}: done for ${done}\\.${already === undefined ? '' : ` ${words}: ${already}\\.`}`
}
