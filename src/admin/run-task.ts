import type * as z from 'zod'
import type { Problem } from '../protocol/validation.ts'
import { AdminError } from './admin-error.ts'
import { problemsOf } from './input-problems.ts'
import type { Task, TaskContext } from './task.ts'

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
): Promise<z.output<Output>> {
  const read = readInput(task, input)
  if (read.kind === 'faulty') throw new AdminError(sentenceOf(read.problems), 'refused', read.problems)
  return task.run(context, read.input)
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

/** For a terminal: one line a problem. */
function sentenceOf(problems: readonly Problem[]): string {
  return problems.map(({ loc, msg }) => `${loc.slice(1).join('.')}: ${msg}`).join('\n')
}
