import * as z from 'zod'
import type { Task } from '../../src/admin/task.ts'

/** An answer of a task with a value in each member, from its schema; or with as little as it may have. */
export function answerOf({ output }: Pick<Task, 'output'>, isFull: boolean): object {
  const schema = z.toJSONSchema(output, { io: 'output', unrepresentable: 'any', reused: 'inline' }) as Schema
  return sampleOf(schema, '', { isFull, parts: schema.$defs ?? {} }) as object
}

/** JSON Schema, as far as answers use it. */
interface Schema {
  readonly type?: string | readonly string[]
  readonly const?: unknown
  readonly enum?: readonly unknown[]
  readonly format?: string
  readonly items?: Schema
  readonly anyOf?: readonly Schema[]
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly $ref?: string
  readonly $defs?: Readonly<Record<string, Schema>>
}

const TIME = '2026-11-30T12:00:00.000Z'
const NAMED: Readonly<Record<string, unknown>> = {
  email: 'ada@acme.test',
  address: 'ada@acme.test',
  resource: 'https://api.acme.test',
  pattern: 'app.example',
  redirect_uri: 'https://login.acme.test/v2/oauth/callback/acme',
  link: 'https://login.acme.test/account/link?token=gln_1',
  scope: 'read write',
  approved_scope: 'read write',
  methods: ['password', 'passkey'],
  client_id_issued_at: 1_796_040_000,
}

interface Whole {
  readonly isFull: boolean
  readonly parts: Readonly<Record<string, Schema>>
}

function sampleOf(schema: Schema, name: string, whole: Whole): unknown {
  const { isFull, parts } = whole
  const part = schema.$ref === undefined ? undefined : parts[schema.$ref.replace('#/$defs/', '')]
  if (part !== undefined) return sampleOf(part, name, whole)
  const { const: only, enum: words, anyOf, properties, items, required = [] } = schema
  if (only !== undefined) return only
  if (words !== undefined) return isFull ? words[0] : words.at(-1)
  if (anyOf !== undefined) {
    const isNull = (one: Schema) => one.type === 'null'
    const chosen = (isFull ? undefined : anyOf.find(isNull)) ?? anyOf.find((one) => !isNull(one)) ?? {}
    return sampleOf(chosen, name, whole)
  }
  const types = [schema.type ?? []].flat()
  const type = types.includes('null') && !isFull ? 'null' : types.find((one) => one !== 'null')
  if (type === 'null') return null
  if (schema.format === 'date-time') return TIME
  if (Object.hasOwn(NAMED, name)) return NAMED[name]
  switch (type) {
    case 'string':
      return name.endsWith('_at') || name.endsWith('_until') ? TIME : name.replace(/_id$/, '-1')
    case 'integer':
    case 'number':
      return isFull ? 3 : 1
    case 'boolean':
      return isFull
    case 'array':
      return isFull ? [sampleOf(items ?? {}, name, whole)] : []
    default:
      return Object.fromEntries(
        Object.entries(properties ?? {})
          .filter(([member]) => isFull || required.includes(member))
          .map(([member, one]) => [member, sampleOf(one, member, whole)]),
      )
  }
}
