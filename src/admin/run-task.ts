import type * as z from 'zod'
import { problem, type Problem } from '../base/validation.ts'
import { AdminError, conflict } from './admin-error.ts'
import { problemsOf } from './input-problems.ts'
import { placeOf, type Task, type TaskContext } from './task.ts'

/** The name of a member of the input in messages: its option or argument; undefined: its name on the wire. */
export type Spell = (member: string) => string | undefined

/**
 * Reads the input and performs the task. Unknown members are rejected: a mistyped filter would otherwise select all rows.
 *
 * @throws AdminError with every problem of the input at once, or the error of the task
 */
export async function runTask<Input extends z.ZodObject, Output extends z.ZodObject>(
  context: TaskContext,
  task: Task<Input, Output>,
  input: Readonly<Record<string, unknown>>,
  spell: Spell,
): Promise<z.output<Output>> {
  const read = readInput(task, input)
  if (read.kind === 'valid') return performTask(context, task, read.input)
  const { problems } = read
  throw new AdminError(problems.map((one) => sentenceOf(one, spell)).join('\n'), 'refused', problems)
}

/**
 * Performs the task at the time of the database, which is the same for all nodes (threats.md STO-13). Without a clock of the
 * database, a task is rejected while the clock of this node differs, unless the task takes rights away whatever the time is.
 *
 * @throws AdminError when the clock differs, or the error of the task
 */
export async function performTask<Input extends z.ZodObject, Output extends z.ZodObject>(
  context: TaskContext,
  task: Task<Input, Output>,
  input: z.output<Input>,
): Promise<z.output<Output>> {
  if (task.access === 'read' || task.method === 'GET') return task.run(context, input)
  const { clock, clockCheck } = context
  const there = await clockCheck.databaseNow()
  if (there !== undefined) return task.run({ ...context, clock: () => there }, input)
  const aheadMs = clockCheck.differenceMs()
  if (aheadMs !== 0 && !task.anyClock) throw clockDiffers(aheadMs)
  const now = clock()
  return task.run({ ...context, clock: () => now }, input)
}

function clockDiffers(aheadMs: number): AdminError {
  const seconds = Math.round(Math.abs(aheadMs) / 1000)
  return conflict(
    `The clock of this machine is ${seconds} s ${aheadMs > 0 ? 'ahead of' : 'behind'} the last time that a server knew to be right. Set the clock by NTP. If it is right now, run: grantor clock confirm`,
  )
}

type ReadInput<Input extends z.ZodObject> =
  | { readonly kind: 'valid'; readonly input: z.output<Input> }
  | { readonly kind: 'invalid'; readonly problems: readonly Problem[] }

/** Returns the parsed input, or all problems of the input. */
export function readInput<Input extends z.ZodObject>(
  task: Task<Input>,
  input: Readonly<Record<string, unknown>>,
): ReadInput<Input> {
  const parsed = task.input.strict().safeParse(input, { reportInput: true })
  const problems = [...choiceProblems(task, input), ...(parsed.success ? [] : problemsOf(task, parsed.error.issues))]
  return parsed.success && problems.length === 0
    ? { kind: 'valid', input: parsed.data as z.output<Input> }
    : { kind: 'invalid', problems }
}

function choiceProblems(task: Task, input: Readonly<Record<string, unknown>>): readonly Problem[] {
  const { exactlyOneOf: names } = task
  const [first = ''] = names
  if (names.length === 0 || names.filter((name) => input[name] !== undefined).length === 1) return []
  const msg = `Give exactly one of ${names.join(' and ')}.`
  return [problem([placeOf(task, first)], 'value_error', msg, null, { expected: names })]
}

/** A problem as a line for a terminal. */
export function sentenceOf({ loc, msg }: Pick<Problem, 'loc' | 'msg'>, spell: Spell): string {
  const [member, ...inside] = loc.slice(1)
  if (member === undefined) return msg
  const spelled = spell(member)
  const path = spelled === undefined ? [member, ...inside].join('.') : [spelled, inside.join('.')].join(' ').trim()
  return `${path}: ${msg}`
}
