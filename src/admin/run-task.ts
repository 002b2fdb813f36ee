import type * as z from 'zod'
import type { Problem } from '../protocol/validation.ts'
import { AdminError } from './admin-error.ts'
import { problemsOf } from './input-problems.ts'
import type { Task, TaskContext } from './task.ts'

/** What a member of the input is called by whoever typed it; undefined: as on the wire. */
export type Spell = (member: string) => string | undefined

/**
 * Reads the input and does the task. Members that the task does not know are refused: a mistyped filter would otherwise
 * choose everything.
 *
 * @throws AdminError with every problem of the input at once, or what the task says
 */
export async function runTask<Input extends z.ZodObject, Output extends z.ZodObject>(
  context: TaskContext,
  task: Task<Input, Output>,
  input: Readonly<Record<string, unknown>>,
  spell: Spell,
): Promise<z.output<Output>> {
  const read = readInput(task, input)
  if (read.kind === 'sound') return task.run(context, read.input)
  const { problems } = read
  throw new AdminError(problems.map((one) => sentenceOf(one, spell)).join('\n'), 'refused', problems)
}

type ReadInput<Input extends z.ZodObject> =
  | { readonly kind: 'sound'; readonly input: z.output<Input> }
  | { readonly kind: 'faulty'; readonly problems: readonly Problem[] }

/** The input as the task takes it, or everything that is wrong with it. */
export function readInput<Input extends z.ZodObject>(
  task: Task<Input>,
  input: Readonly<Record<string, unknown>>,
): ReadInput<Input> {
  const parsed = task.input.strict().safeParse(input, { reportInput: true })
  return parsed.success
    ? { kind: 'sound', input: parsed.data as z.output<Input> }
    : { kind: 'faulty', problems: problemsOf(task, parsed.error.issues) }
}

/** A problem as a line for a terminal. */
export function sentenceOf({ loc, msg }: Pick<Problem, 'loc' | 'msg'>, spell: Spell): string {
  const path = loc.slice(1)
  const [member] = path
  return member === undefined ? msg : `${spell(member) ?? path.join('.')}: ${msg}`
}
