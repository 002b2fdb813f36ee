import * as z from 'zod'
import type { Task } from './task.ts'

/** A member of the input of a task, as a form shows it. */
export interface InputField {
  readonly name: string
  /** The name as words. */
  readonly label: string
  /** What the schema says about it. */
  readonly description: string
  readonly kind: 'text' | 'flag' | 'choice' | 'number' | 'time' | 'password'
  /** Of a choice. */
  readonly choices: readonly string[]
  readonly isRequired: boolean
  /** In characters. */
  readonly maxLength: number | undefined
  readonly default: string | undefined
  /** The text has several values, between spaces or commas. */
  readonly isList: boolean
}

interface Schema {
  readonly $ref?: string
  readonly properties?: Readonly<Record<string, Schema>>
  readonly $defs?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly const?: boolean
  readonly type?: string
  readonly format?: string
  readonly description?: string
  readonly default?: string | number | boolean
  readonly enum?: readonly string[]
  readonly maxLength?: number
}

/**
 * Returns the fields of some members, from the schema that the API enforces: a new member is one place. `template.scope` is the member of
 * a member.
 */
export function inputFields(task: Pick<Task, 'input'>, names: readonly string[]): readonly InputField[] {
  const whole = inputSchema(task)
  return names.map((name) => {
    const { schema, isRequired } = memberOf(whole, name)
    if (schema === undefined) throw new Error(`The task has no member ${name}.`)
    const kind = kindOf(schema)
    return {
      name,
      label: labelOf(name),
      description: schema.description ?? '',
      kind,
      choices: kind === 'choice' ? (schema.enum ?? (schema.const === true ? ['true'] : ['true', 'false'])) : [],
      isRequired,
      maxLength: schema.maxLength,
      default: schema.default === undefined ? undefined : String(schema.default),
      isList: schema.type === 'array',
    }
  })
}

const schemas = new WeakMap<Task['input'], Schema>()

/** Each schema is translated once: every page of the console asks for some, and a translation takes about as long as reading a row. */
function inputSchema({ input }: Pick<Task, 'input'>): Schema {
  const known = schemas.get(input)
  if (known !== undefined) return known
  const schema = z.toJSONSchema(input, { io: 'input' }) as Schema
  schemas.set(input, schema)
  return schema
}

/** Follows the path of a member. A member of a member may always be absent with it, unless the schema requires both. */
function memberOf(whole: Schema, path: string): { readonly schema: Schema | undefined; readonly isRequired: boolean } {
  let schema: Schema | undefined = whole
  let isRequired = true
  for (const name of path.split('.')) {
    isRequired &&= schema?.required?.includes(name) === true
    const inner: Schema | undefined = schema?.properties?.[name]
    schema = inner?.$ref === undefined ? inner : whole.$defs?.[inner.$ref.replace('#/$defs/', '')]
  }
  return { schema, isRequired }
}

function kindOf({ type, format, enum: choices, default: usual }: Schema): InputField['kind'] {
  if (choices !== undefined) return 'choice'
  // Without a default, true and false are not all that there is.
  if (type === 'boolean') return usual === undefined ? 'choice' : 'flag'
  if (type === 'integer' || type === 'number') return 'number'
  if (format === 'date-time') return 'time'
  return format === 'password' ? 'password' : 'text'
}

/** Reads the texts of a form. A member that may be absent is left out if its text is empty. */
export function readFields(
  fields: readonly InputField[],
  textOf: (name: string) => string | undefined,
): Readonly<Record<string, unknown>> {
  const members = fields.map(({ name, kind, choices, isRequired, isList }): [string, unknown] => {
    const text = textOf(name) ?? ''
    if (kind === 'flag') return [name, text === 'on']
    if (text === '' && !isRequired) return [name, undefined]
    if (kind === 'number') return [name, /^-?\d{1,15}$/.test(text) ? Number(text) : text]
    if (isList) return [name, text.split(/[\s,]+/).filter((one) => one !== '')]
    const isFlag = kind === 'choice' && /^true(,false)?$/.test(choices.join())
    return [name, isFlag && choices.includes(text) ? text === 'true' : text]
  })
  return nested(members.filter(([, value]) => value !== undefined))
}

function nested(members: readonly (readonly [path: string, value: unknown])[]): Readonly<Record<string, unknown>> {
  const whole: Record<string, unknown> = {}
  for (const [path, value] of members) {
    const [first = '', ...inside] = path.split('.')
    const inner = inside.length === 0 ? value : nested([[inside.join('.'), value]])
    whole[first] = inside.length === 0 ? inner : { ...(whole[first] as object | undefined), ...(inner as object) }
  }
  return whole
}

function labelOf(name: string): string {
  const words = name.slice(name.lastIndexOf('.') + 1).replaceAll('_', ' ')
  return words.charAt(0).toUpperCase() + words.slice(1)
}
