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
}

/** The JSON Schema of the input of a task. */
interface InputSchema {
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
}

interface Schema {
  readonly type?: string
  readonly format?: string
  readonly description?: string
  readonly default?: string | number | boolean
  readonly enum?: readonly string[]
  readonly maxLength?: number
}

/** Returns the fields of some members, from the schema that the API enforces: a new member is one place. */
export function inputFields(task: Pick<Task, 'input'>, names: readonly string[]): readonly InputField[] {
  const whole = inputSchema(task)
  return names.map((name) => {
    const schema = whole.properties?.[name]
    if (schema === undefined) throw new Error(`The task has no member ${name}.`)
    const kind = kindOf(schema)
    return {
      name,
      label: labelOf(name),
      description: schema.description ?? '',
      kind,
      choices: kind === 'choice' ? (schema.enum ?? ['true', 'false']) : [],
      isRequired: whole.required?.includes(name) === true,
      maxLength: schema.maxLength,
      default: schema.default === undefined ? undefined : String(schema.default),
    }
  })
}

const schemas = new WeakMap<Task['input'], InputSchema>()

/** Each schema is translated once: every page of the console asks for some, and a translation takes about as long as reading a row. */
function inputSchema({ input }: Pick<Task, 'input'>): InputSchema {
  const known = schemas.get(input)
  if (known !== undefined) return known
  const schema = z.toJSONSchema(input, { io: 'input' }) as InputSchema
  schemas.set(input, schema)
  return schema
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
  const members = fields.map(({ name, kind, choices, isRequired }): [string, unknown] => {
    const text = textOf(name) ?? ''
    if (kind === 'flag') return [name, text === 'on']
    if (text === '' && !isRequired) return [name, undefined]
    if (kind === 'number') return [name, /^-?\d{1,15}$/.test(text) ? Number(text) : text]
    const isFlag = kind === 'choice' && choices.join() === 'true,false'
    return [name, isFlag && choices.includes(text) ? text === 'true' : text]
  })
  return Object.fromEntries(members.filter(([, value]) => value !== undefined))
}

function labelOf(name: string): string {
  const words = name.replaceAll('_', ' ')
  return words.charAt(0).toUpperCase() + words.slice(1)
}
