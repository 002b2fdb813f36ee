import * as z from 'zod'
import { absenceOf } from '../src/admin/openapi.ts'
import { TASKS } from '../src/admin/tasks.ts'
import { sayNull } from '../src/protocol/null-meaning.ts'
import { SETTINGS } from '../src/config/schema.ts'
import { NAMES, optionOf } from '../src/library/options.ts'

type Schema = Readonly<Record<string, unknown>>

/** Settings of a process that listens by itself, which are no options of the library. */
const NOT_SETTINGS: readonly string[] = ['PORT', 'GRANTOR_HOST', 'GRANTOR_DRAIN_SECONDS', 'GRANTOR_CONFIG']

/** The source of the types of settings and tasks, which `npm run docs` writes from their two tables. */
export function apiTypes(): string {
  const named = new Map<string, string>()
  const tasks = TASKS.map((task) => {
    const input = typeOf(z.toJSONSchema(task.input, { io: 'input', override: sayNull }), named, 2)
    const output = typeOf(z.toJSONSchema(task.output, { io: 'output' }), named, 2)
    const parameter = isOptional(task.input) ? `input?: ${input}` : `input: ${input}`
    return `${comment(`${task.summary}${absenceOf(task)}`, 1)}  readonly '${task.name}': (${parameter}) => Promise<${output}>\n`
  })
  const interfaces = [...named.keys()].toSorted().map((name) => interfaceOf(name, named))
  return [
    '// Written by "npm run docs" from the table of settings and the table of tasks.',
    `/** The settings of docs/configuration.md in camelCase. Each has its default. */\nexport interface GrantorSettings {\n${settings()}}\n`,
    `/** The tasks of operators (docs/administration.md), in this process. Each throws AdminError. */\nexport interface GrantorTasks {\n${tasks.join('')}}\n`,
    ...interfaces,
  ].join('\n')
}

/** An interface that begins with all members of another one, whose name its own name ends with, extends it. */
function interfaceOf(name: string, named: ReadonlyMap<string, string>): string {
  const body = named.get(name) ?? ''
  const [base] = [...named]
    .filter(([other, text]) => name !== other && name.endsWith(other) && body.startsWith(text.slice(0, -1)))
    .toSorted(([, one], [, other]) => other.length - one.length)
  if (base === undefined) return `export interface ${name} ${body}\n`
  const [baseName, { length }] = base
  return `export interface ${name} extends ${baseName} {\n${body.slice(length - 1)}\n`
}

function settings(): string {
  return Object.entries(SETTINGS.shape)
    .filter(([name]) => !Object.hasOwn(NAMES, name) && !NOT_SETTINGS.includes(name))
    .map(
      ([name, schema]) =>
        `${comment(schema.description ?? '', 1)}  readonly ${optionOf(name)}?: ${settingType(schema)}\n`,
    )
    .join('')
}

/** Settings are read from text, so the type of a value is that of the default or of the words that are allowed. */
function settingType(schema: z.ZodType): string {
  const { success, data } = schema.safeParse(undefined)
  if (success && Array.isArray(data)) return 'readonly string[]'
  if (success && typeof data !== 'string' && data !== undefined) return typeof data
  const { enum: words } = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) as {
    enum?: readonly string[]
  }
  if (words !== undefined) return words.map(quoted).join(' | ')
  return schema.safeParse('1').data === 1 ? 'number' : 'string'
}

function isOptional(input: z.ZodObject): boolean {
  return input.safeParse({}).success
}

/** A JSON schema as a type. Schemas with a name become interfaces. */
function typeOf(schema: Schema, named: Map<string, string>, depth: number): string {
  for (const [name, one] of Object.entries((schema['$defs'] ?? {}) as Readonly<Record<string, Schema>>)) {
    if (named.has(name) || name.startsWith('__')) continue
    named.set(name, '')
    named.set(name, typeOf({ ...one, id: undefined }, named, 1))
  }
  if (typeof schema['$ref'] === 'string') return schema['$ref'].replace('#/$defs/', '')
  if (typeof schema['id'] === 'string') {
    const { id: name } = schema as { readonly id: string }
    if (!named.has(name)) named.set(name, typeOf({ ...schema, id: undefined }, named, 1))
    return name
  }
  if (schema['const'] !== undefined) return quoted(schema['const'])
  if (Array.isArray(schema['enum'])) return schema['enum'].map(quoted).join(' | ')
  if (Array.isArray(schema['anyOf'])) return schema['anyOf'].map((one: Schema) => typeOf(one, named, depth)).join(' | ')
  if (Array.isArray(schema['type']))
    return schema['type'].map((type) => typeOf({ ...schema, type }, named, depth)).join(' | ')
  if (schema['type'] === 'array')
    return `readonly ${inParentheses(typeOf((schema['items'] ?? {}) as Schema, named, depth))}[]`
  if (schema['type'] === 'object') return objectType(schema, named, depth)
  return PRIMITIVES[String(schema['type'])] ?? 'unknown'
}

const PRIMITIVES: Readonly<Record<string, string>> = {
  string: 'string',
  integer: 'number',
  number: 'number',
  boolean: 'boolean',
  null: 'null',
}

function objectType(schema: Schema, named: Map<string, string>, depth: number): string {
  const {
    properties,
    required,
    additionalProperties: others,
  } = schema as {
    readonly properties?: Readonly<Record<string, Schema>>
    readonly required?: readonly string[]
    readonly additionalProperties?: Schema | boolean
  }
  const members = Object.entries(properties ?? {}).map(([name, member]) => {
    const mark = required?.includes(name) === true ? '' : '?'
    const about = typeof member['description'] === 'string' ? comment(member['description'], depth) : ''
    return `${about}${'  '.repeat(depth)}readonly ${keyOf(name)}${mark}: ${typeOf(member, named, depth + 1)}\n`
  })
  if (members.length > 0) return `{\n${members.join('')}${'  '.repeat(depth - 1)}}`
  return typeof others === 'object' ? `Readonly<Record<string, ${typeOf(others, named, depth)}>>` : '{}'
}

function inParentheses(type: string): string {
  return / \| /.test(type) && !type.startsWith('{') ? `(${type})` : type
}

/** `'client_name#de'` in quotes. */
function keyOf(name: string): string {
  return /^\w+$/.test(name) ? name : `'${name}'`
}

function comment(text: string, depth: number): string {
  return `${'  '.repeat(depth)}/** ${text.replaceAll('*/', '*\\/')} */\n`
}

function quoted(value: unknown): string {
  return typeof value === 'string' ? `'${value.replaceAll("'", "\\'")}'` : String(value)
}
