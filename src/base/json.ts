import { problem, type Problem } from './validation.ts'

/** The JSON of a request body, or why it is refused. */
export type JsonReading =
  | { readonly kind: 'read'; readonly value: unknown }
  | { readonly kind: 'malformed'; readonly status: 400 | 422; readonly problem: Problem }

/** A list in a key of `jwks` is on the fifth level. */
const DEPTH_LIMIT = 5
/** A provider says up to 200 groups. */
const MEMBER_LIMIT = 200
/** Names that change an object's prototype in code that copies members carelessly. */
const POISON: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype'])

/** An object of JSON. */
export type JsonObject = Readonly<Record<string, unknown>>

/** Parses a text of limited length. Returns undefined if it is not JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Whether a value of JSON is an object. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Whether two values have the same JSON, with their members in the same order. */
export function isSameJson(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other)
}

/** Returns the members that are not undefined: those that JSON has. */
export function definedMembers<T extends object>(members: T): { [Name in keyof T]?: Exclude<T[Name], undefined> } {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as never
}

/** Parses a body, and refuses what no client sends: deep nesting, many members, names that change prototypes. RFC 8259 §9. */
export function readJson(text: string): JsonReading {
  let value: unknown
  try {
    // RFC 8259 §8.1 allows a parser to ignore a byte order mark. Files that Windows PowerShell writes begin with one.
    value = JSON.parse(text.startsWith('\uFEFF') ? text.slice(1) : text)
  } catch {
    const msg = 'The body is not valid JSON.'
    return {
      kind: 'malformed',
      status: 422,
      problem: problem(['body'], 'json_invalid', msg, text === '' ? null : text, {}),
    }
  }
  const fault = findFault(value, 1)
  if (fault === undefined) return { kind: 'read', value }
  return { kind: 'malformed', status: 400, problem: problem(['body'], 'value_error', fault, null, {}) }
}

function findFault(value: unknown, depth: number): string | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  if (depth > DEPTH_LIMIT) return `The body is nested more than ${DEPTH_LIMIT} levels deep.`
  const members: readonly unknown[] = Array.isArray(value) ? value : Object.values(value)
  if (members.length > MEMBER_LIMIT) return `The body has an object or list with more than ${MEMBER_LIMIT} members.`
  if (!Array.isArray(value) && Object.keys(value).some((name) => POISON.has(name)))
    return 'The body has a member that is not allowed.'
  for (const inner of members) {
    const fault = findFault(inner, depth + 1)
    if (fault !== undefined) return fault
  }
  return undefined
}
