import * as z from 'zod'
import { placeOf, type Task } from './task.ts'

/** The type that the texts of a query parameter are converted to. */
export type QueryType = 'string' | 'boolean' | 'number' | 'list'

const known = new WeakMap<Task, ReadonlyMap<string, QueryType>>()

/** The types of the query parameters of a task, which are read from its schema once. */
export function queryTypes(task: Task): ReadonlyMap<string, QueryType> {
  const types = known.get(task) ?? readTypes(task)
  known.set(task, types)
  return types
}

function readTypes(task: Task): ReadonlyMap<string, QueryType> {
  const members = Object.entries(task.input.shape).filter(([member]) => placeOf(task, member) === 'query')
  return new Map(members.map(([member, schema]) => [member, typeOf(schema)]))
}

function typeOf(schema: z.core.$ZodType): QueryType {
  const { type } = z.toJSONSchema(schema, { io: 'input' })
  if (type === 'boolean') return 'boolean'
  if (type === 'integer' || type === 'number') return 'number'
  return type === 'array' ? 'list' : 'string'
}

/** Converts the texts of a query parameter. A text that cannot be converted is returned unchanged, and the schema rejects it. */
export function readQueryValue(type: QueryType, texts: readonly string[]): unknown {
  const [text = ''] = texts
  switch (type) {
    case 'list':
      return texts
    case 'boolean':
      return text === 'true' ? true : text === 'false' ? false : text
    case 'number':
      return /^-?\d{1,15}$/.test(text) ? Number(text) : text
    case 'string':
      return text
  }
}
