import fc from 'fast-check'

/** JSON Schema, as far as the OpenAPI document uses it. */
export interface Schema {
  readonly type?: string
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly pattern?: string
  readonly format?: string
  readonly minLength?: number
  readonly maxLength?: number
  readonly minimum?: number
  readonly maximum?: number
  readonly maxItems?: number
  readonly items?: Schema
  readonly anyOf?: readonly Schema[]
  /** Of objects: combinations of members. */
  readonly not?: Schema
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  /** An empty schema: members of other names are allowed. */
  readonly additionalProperties?: object | false
  /** Of texts only; other types need none. */
  readonly examples?: readonly string[]
}

/** Values at the edges of what a schema allows, and some from between. */
export function allowedBy(schema: Schema): readonly unknown[] {
  if (schema.const !== undefined) return [schema.const]
  if (schema.enum !== undefined) return schema.enum
  if (schema.anyOf !== undefined) return schema.anyOf.flatMap(allowedBy)
  switch (schema.type) {
    case 'string':
      return stringsOf(schema)
    case 'integer':
      return [schema.minimum, schema.maximum].filter((edge) => edge !== undefined)
    case 'boolean':
      return [true, false]
    case 'null':
      return [null]
    case 'array':
      return listsOf(schema)
    default:
      return objectsOf(schema)
  }
}

/** Values that a schema forbids, of its type as well as of others. */
export function forbiddenBy(schema: Schema): readonly unknown[] {
  const { anyOf } = schema
  // What one form forbids because of its type may be another form.
  if (anyOf !== undefined) return anyOf.flatMap(forbiddenBy).filter((value) => !anyOf.some((form) => isOf(form, value)))
  if (schema.const !== undefined || schema.enum !== undefined) return ['no such word', 7]
  switch (schema.type) {
    case 'string':
      return [...longer(schema), ...misshapen(schema), ...['', 'x'].filter((text) => !fits(schema, text)), 7, null, []]
    case 'integer':
      return [(schema.minimum ?? 0) - 1, (schema.maximum ?? 0) + 1, 1.5, 'one', null]
    case 'boolean':
      return ['yes', 7, null]
    case 'null':
      return []
    case 'array':
      return ['no list', ...longLists(schema), ...forbiddenBy(schema.items ?? {}).map((one) => [one])]
    default:
      return ['no object', ...(schema.additionalProperties ? [] : [{ 'no such member': 1 }]), ...faultyObjects(schema)]
  }
}

/** Whether a value, which may be wrong in another way, is a text that a form allows, or null. */
function isOf(form: Schema, value: unknown): boolean {
  if (form.type === 'null') return value === null
  return form.type === 'string' && typeof value === 'string' && fits(form, value)
}

function stringsOf(schema: Schema): readonly string[] {
  const { minLength = 0, maxLength, pattern } = schema
  const edges = ['', 'a'.repeat(minLength), ' a', ...padded(schema, maxLength)]
  const random = pattern === undefined || schema.format === 'date-time' ? [] : matching(pattern)
  return [...(schema.examples ?? []), ...edges, ...random].filter((text) => fits(schema, text))
}

/** A class of all characters but a few, none of which is a letter. */
const NEARLY_ALL = /\[\^[^\]]*\\p\{C\}[^\]]*\]|\\P\{Cs\}/g
const SOME_LETTERS = '[a-z\u00c4\u4e00\u{1F600}]'

const MATCHING = new Map<string, readonly string[]>()

/** Three texts of a pattern, made once. fast-check lists each character of a class, so a class of a million is replaced by a few of them. */
function matching(pattern: string): readonly string[] {
  const made = (): readonly string[] =>
    fc.sample(fc.stringMatching(new RegExp(pattern.replaceAll(NEARLY_ALL, SOME_LETTERS), 'u')), { numRuns: 3, seed: 1 })
  const texts = MATCHING.get(pattern) ?? made()
  MATCHING.set(pattern, texts)
  return texts
}

/** The example, made as long as the schema allows: by a letter, and by what is two UTF-16 units and four bytes. */
function padded({ examples }: Schema, length: number | undefined): readonly string[] {
  if (length === undefined) return []
  const example = examples?.[0] ?? ''
  return ['a', '\u{1F600}'].map((filler) => example + filler.repeat(Math.max(0, length - [...example].length)))
}

function longer(schema: Schema): readonly string[] {
  return schema.maxLength === undefined ? [] : padded(schema, schema.maxLength + 1)
}

/** Each example with something before, within and behind it that its form does not have. */
function misshapen(schema: Schema): readonly string[] {
  const [example = ''] = schema.examples ?? []
  const broken = ['\u0000', '\n', '\u202e', "'"].flatMap((bad) => [`${bad}${example}`, `${example}${bad}`])
  return [...broken, example.slice(1), example.slice(0, -1)].filter((text) => !fits(schema, text))
}

function fits({ pattern, minLength = 0, maxLength = Number.POSITIVE_INFINITY }: Schema, text: string): boolean {
  const { length } = [...text]
  return length >= minLength && length <= maxLength && (pattern === undefined || new RegExp(pattern, 'u').test(text))
}

function listsOf({ items = {}, maxItems }: Schema): readonly unknown[] {
  const one = allowedBy(items)
    .slice(0, 6)
    .map((item) => [item])
  const isPlain = items.type === 'string'
  const full =
    isPlain && maxItems !== undefined
      ? [Array.from({ length: maxItems }, () => items.examples?.[0] ?? items.enum?.[0])]
      : []
  return [[], ...one, ...full]
}

function longLists({ items = {}, maxItems }: Schema): readonly unknown[] {
  if (maxItems === undefined) return []
  return [Array.from({ length: maxItems + 1 }, () => allowedBy(items)[0])]
}

/** Each member with each of its values, beside one value of each that must be there. */
function objectsOf(schema: Schema): readonly unknown[] {
  const { properties = {}, required = [] } = schema
  const needed = Object.fromEntries(required.map((name) => [name, allowedBy(properties[name] ?? {})[0]]))
  const varied = Object.entries(properties).flatMap(([name, member]) =>
    allowedBy(member).map((value) => ({ ...needed, [name]: value })),
  )
  return [...varied, ...pairsOf(schema).filter((pair) => !isBanned(schema, pair))]
}

/** Where members depend on each other, each value of one beside each of another. */
function pairsOf({ not, properties = {} }: Schema): readonly Readonly<Record<string, unknown>>[] {
  if (not === undefined) return []
  const single = Object.entries(properties).flatMap(([name, member]) =>
    allowedBy(member).map((value) => ({ [name]: value })),
  )
  return single.flatMap((one, index) => single.slice(index + 1).map((other) => ({ ...one, ...other })))
}

/** Whether the members are a combination that `not` names. */
function isBanned({ not }: Schema, members: Readonly<Record<string, unknown>>): boolean {
  return [not, ...(not?.anyOf ?? [])].some((banned) => {
    const { properties, required = [] } = banned ?? {}
    if (properties === undefined || !required.every((name) => name in members)) return false
    return Object.entries(properties).every(([name, { const: only, type }]) =>
      only === undefined ? typeof members[name] === type : members[name] === only,
    )
  })
}

function faultyObjects(schema: Schema): readonly unknown[] {
  const { properties = {}, required = [] } = schema
  const needed = Object.fromEntries(required.map((name) => [name, allowedBy(properties[name] ?? {})[0]]))
  const faulty = Object.entries(properties).flatMap(([name, member]) =>
    forbiddenBy(member).map((value) => ({ ...needed, [name]: value })),
  )
  const banned = pairsOf(schema).filter((pair) => isBanned(schema, pair))
  return [...required.map((name) => ({ ...needed, [name]: undefined })), ...faulty, ...banned]
}
