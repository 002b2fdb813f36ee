import type * as z from 'zod'
import { problem, type Problem, type ProblemType } from '../base/validation.ts'
import { AdminError, conflict } from './admin-error.ts'
import { isReading, placeOf, type Task, type TaskContext } from './task.ts'

/** The name of a member of the input in messages: its option or argument; undefined: its name on the wire. */
export type OptionNameOf = (member: string) => string | undefined

/**
 * Reads the input and performs the task. Unknown members are rejected: a mistyped filter would otherwise select all rows.
 *
 * @throws AdminError with every problem of the input at once, or the error of the task
 */
export async function runTask<Input extends z.ZodObject, Output extends z.ZodObject>(
  context: TaskContext,
  task: Task<Input, Output>,
  input: Readonly<Record<string, unknown>>,
  optionNameOf: OptionNameOf,
): Promise<z.output<Output>> {
  const read = readInput(task, input)
  if (read.kind === 'valid') return performTask(context, task, read.input)
  const { problems } = read
  throw new AdminError(problems.map((one) => sentenceOf(one, optionNameOf)).join('\n'), 'refused', problems)
}

/**
 * Performs the task at the time of the database. A task that takes rights away whatever the time is permits any clock.
 *
 * @throws AdminError when the clock differs, an account is out of the reach of the administrator, or the error of the task
 */
export async function performTask<Input extends z.ZodObject, Output extends z.ZodObject>(
  context: TaskContext,
  task: Task<Input, Output>,
  input: z.output<Input>,
): Promise<z.output<Output>> {
  if (isReading(task) || task.method === 'GET') return task.run(context, input)
  return task.run(await atTimeOfDatabase(context, task.anyClock), input)
}

/**
 * Stops the clock at the time of the database, which is the same for all nodes (threats.md STO-13). Without a clock of the database, what
 * changes the store is rejected while the clock of this node differs, unless `anyClock`.
 *
 * @throws AdminError when the clock differs
 */
export async function atTimeOfDatabase(context: TaskContext, anyClock = false): Promise<TaskContext> {
  const { clock, clockCheck } = context
  const there = await clockCheck.databaseNow()
  if (there !== undefined) return { ...context, clock: () => there }
  const aheadMs = clockCheck.differenceMs()
  if (aheadMs !== 0 && !anyClock) throw clockDiffers(aheadMs)
  const now = clock()
  return { ...context, clock: () => now }
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

/** A problem as a line for a terminal. Of an option that is repeated, it names the value. */
export function sentenceOf(
  { loc, msg, input }: Pick<Problem, 'loc' | 'msg'> & { readonly input?: unknown },
  optionNameOf: OptionNameOf,
): string {
  const [member, ...inside] = loc.slice(1)
  if (member === undefined) return msg
  const optionName = optionNameOf(member)
  const isOneOfList = inside.length === 1 && /^\d+$/.test(inside[0] ?? '') && typeof input === 'string'
  const place = isOneOfList ? input : inside.join('.')
  const path = optionName === undefined ? [member, ...inside].join('.') : [optionName, place].join(' ').trim()
  return `${path}: ${msg}`
}

type Issue = z.core.$ZodIssue
/** A problem without its place and input. */
type Description = readonly [type: ProblemType, msg: string, ctx: Readonly<Record<string, unknown>>]

/** The problems of the input of a task, with the stable names of docs/errors.md. */
function problemsOf(task: Task, issues: readonly Issue[]): readonly Problem[] {
  return issues.flatMap((issue) => {
    const path = issue.path.map(String)
    if (issue.code === 'unrecognized_keys') {
      return issue.keys.map((key) => unknownMember([placeOf(task, path[0] ?? key), ...path, key], sentenceFor(issue)))
    }
    if (issue.code === 'invalid_union') {
      const inner = issuesMeant(issue)
      if (inner !== undefined) return problemsOf(task, inner)
    }
    const [member = ''] = path
    const loc = [placeOf(task, member), ...path]
    if (issue.input === undefined) return [problem(loc, 'missing', 'This field is required.', null, {})]
    const [type, msg, ctx] = describeIssue(issue)
    return [problem(loc, type, msg, issue.input, ctx)]
  })
}

/** What the schema says about unknown members; undefined: nothing of its own. */
export function sentenceFor({ message }: z.core.$ZodIssueUnrecognizedKeys): string | undefined {
  return message.startsWith('Unrecognized') ? undefined : message
}

/** The problem of an unknown member. Its value is not returned, because it could be a secret. */
export function unknownMember(loc: readonly string[], message = 'There is no such field here.'): Problem {
  return problem(loc, 'value_error', message, null, {})
}

/** What is wrong with a value that has one of the types of a union; undefined: it has none of them, or the schema has a sentence for all. */
export function issuesMeant({ path, errors, message }: z.core.$ZodIssueInvalidUnion): readonly Issue[] | undefined {
  const isOfType = (issues: readonly Issue[]): boolean =>
    !issues.some((one) => one.path.length === 0 && one.code === 'invalid_type')
  if (message !== 'Invalid input') return undefined
  return errors.find(isOfType)?.map((one) => ({ ...one, path: [...path, ...one.path] }))
}

function describeIssue(issue: Issue): Description {
  switch (issue.code) {
    case 'invalid_type':
      return describeType(issue.expected)
    case 'invalid_value':
      return ['literal_error', 'The value is not one of the allowed values.', { expected: issue.values }]
    case 'too_big':
      return describeSize(issue.origin, 'most', Number(issue.maximum))
    case 'too_small':
      return describeSize(issue.origin, 'least', Number(issue.minimum))
    case 'invalid_union':
      return ['value_error', 'This has the wrong type.', {}]
    default:
      return ['value_error', issue.message, {}]
  }
}

function describeType(expected: string): Description {
  switch (expected) {
    case 'string':
      return ['string_type', 'This must be a string.', { expected }]
    case 'array':
      return ['list_type', 'This must be a list.', { expected: 'list' }]
    case 'object':
      return ['object_type', 'This must be an object.', { expected }]
    default:
      return ['value_error', TYPE_SENTENCES[expected] ?? 'This has the wrong type.', { expected }]
  }
}

const TYPE_SENTENCES: Readonly<Record<string, string>> = {
  boolean: 'This must be true or false.',
  number: 'This must be a number.',
  int: 'This must be a whole number.',
}

function describeSize(origin: string, bound: 'most' | 'least', limit: number): Description {
  const ctx = bound === 'most' ? { max_length: limit } : { min_length: limit }
  const word = bound === 'most' ? 'at most' : 'at least'
  if (origin === 'string') {
    const unit = limit === 1 ? 'character' : 'characters'
    return [bound === 'most' ? 'too_long' : 'value_error', `This must have ${word} ${limit} ${unit}.`, ctx]
  }
  if (origin === 'array') {
    const unit = limit === 1 ? 'entry' : 'entries'
    return [bound === 'most' ? 'too_many' : 'value_error', `This must have ${word} ${limit} ${unit}.`, ctx]
  }
  return ['value_error', `This must be ${word} ${limit}.`, bound === 'most' ? { maximum: limit } : { minimum: limit }]
}
