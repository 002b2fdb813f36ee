import * as z from 'zod'
import { placeOf, type Task } from './task.ts'

/** What the texts of a query stand for. */
export type QueryType = 'string' | 'boolean' | 'number' | 'list'

/** How to read each member of a task's query. */
export function queryTypes(task: Task): ReadonlyMap<string, QueryType> {
  const members = Object.entries(task.input.shape).filter(([member]) => placeOf(task, member) === 'query')
  return new Map(members.map(([member, schema]) => [member, typeOf(schema)]))
}

function typeOf(schema: z.core.$ZodType): QueryType {
  const { type } = z.toJSONSchema(schema, { io: 'input' })
  if (type === 'boolean') return 'boolean'
  if (type === 'integer' || type === 'number') return 'number'
  return type === 'array' ? 'list' : 'string'
}

/** A query's texts as the member's value. What is none stays the text, which the member's schema then refuses. */
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
