import type * as z from 'zod'
import { problem, type Problem, type ProblemType } from '../base/validation.ts'
import { placeOf, type Task } from './task.ts'

type Issue = z.core.$ZodIssue
/** A problem without its place and input. */
type Description = readonly [type: ProblemType, msg: string, ctx: Readonly<Record<string, unknown>>]

/** The problems of the input of a task, with the stable names of docs/errors.md. */
export function problemsOf(task: Task, issues: readonly Issue[]): readonly Problem[] {
  return issues.flatMap((issue) => {
    const path = issue.path.map(String)
    if (issue.code === 'unrecognized_keys')
      return issue.keys.map((key) => unknownMember([placeOf(task, path[0] ?? key), ...path, key]))
    const [member = ''] = path
    const loc = [placeOf(task, member), ...path]
    if (issue.input === undefined) return [problem(loc, 'missing', 'This field is required.', null, {})]
    const [type, msg, ctx] = describeIssue(issue)
    return [problem(loc, type, msg, issue.input, ctx)]
  })
}

/** The problem of an unknown member. Its value is not returned, because it could be a secret. */
export function unknownMember(loc: readonly string[]): Problem {
  return problem(loc, 'value_error', 'There is no such field here.', null, {})
}

function describeIssue(issue: Issue): Description {
  switch (issue.code) {
    case 'invalid_type':
      return describeType(issue.expected)
    case 'invalid_value':
      return ['literal_error', 'The value is not one of those that are possible.', { expected: issue.values }]
    case 'too_big':
      return describeSize(issue.origin, 'most', Number(issue.maximum))
    case 'too_small':
      return describeSize(issue.origin, 'least', Number(issue.minimum))
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
      return ['value_error', TYPE_SENTENCES[expected] ?? 'This has another type.', { expected }]
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
  if (origin === 'string')
    return [bound === 'most' ? 'too_long' : 'value_error', `This must have ${word} ${limit} characters.`, ctx]
  if (origin === 'array')
    return [bound === 'most' ? 'too_many' : 'value_error', `This must have ${word} ${limit} entries.`, ctx]
  return ['value_error', `This must be ${word} ${limit}.`, bound === 'most' ? { maximum: limit } : { minimum: limit }]
}
