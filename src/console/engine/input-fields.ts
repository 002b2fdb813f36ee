import type { Texts } from './form.ts'
import * as z from 'zod'
import { parseJson } from '../../base/json.ts'
import { CLIENT_REFERENCE_FORM } from '../../protocol/client/identifier.ts'
import { ORGANIZATION_ID_FORM, USER_ID_FORM } from '../../protocol/ids.ts'
import type { Referred } from '../../admin/find-by-name.ts'
import type { Task } from '../../admin/task.ts'

/** A member of the input of a task, as a form shows it. */
export interface InputField {
  readonly name: string
  /** The name as words. */
  readonly label: string
  /** What the schema says about it. */
  readonly description: string
  /**
   * `lines`: texts, one a line. `boxes`: some of the choices. `json`: an object that the schema leaves open. `group`: an object with `parts`.
   * `rows`: a list of such objects. `texts`: a text by language, in `parts`, which are sent together.
   */
  readonly kind:
    | 'text'
    | 'flag'
    | 'choice'
    | 'number'
    | 'time'
    | 'password'
    | 'lines'
    | 'boxes'
    | 'json'
    | 'group'
    | 'texts'
    | 'rows'
  /** Of a choice. */
  readonly choices: readonly string[]
  /** No page repeats what was typed: a password, or what is only written (JSON Schema). */
  readonly isSecret: boolean
  readonly isRequired: boolean
  /** An empty text is a value too: a scope may be none. */
  readonly mayBeEmpty: boolean
  /** null is the value of an empty field. */
  readonly isNullable: boolean
  /** In characters. */
  readonly maxLength: number | undefined
  readonly default: string | undefined
  /** What an id is of that exists already: a form takes what people call it, too. */
  readonly refersTo: Referred | undefined
  /** The members of a group, or of a row. */
  readonly parts: readonly InputField[]
}

/** By the form of the id, which the schema enforces. An id that the operator chooses for a new object has another one. */
const REFERRED: Readonly<Record<string, { readonly noun: Referred; readonly hint: string }>> = {
  [CLIENT_REFERENCE_FORM.source]: { noun: 'client', hint: 'The whole name works too.' },
  [ORGANIZATION_ID_FORM.source]: { noun: 'organization', hint: 'The whole name or a domain works too.' },
  [USER_ID_FORM.source]: { noun: 'user', hint: 'The e-mail address works too.' },
}

interface Schema {
  readonly $ref?: string
  readonly $defs?: Readonly<Record<string, Schema>>
  readonly type?: string
  readonly const?: unknown
  readonly format?: string
  readonly writeOnly?: boolean
  readonly description?: string
  /** What a form calls the member, where its name says less. */
  readonly title?: string
  /** What a form says of the member, where its description is for readers who send JSON. */
  readonly help?: string
  readonly default?: unknown
  readonly enum?: readonly string[]
  readonly maxLength?: number
  readonly minLength?: number
  readonly pattern?: string
  /** What null means. */
  readonly nullMeans?: string
  readonly anyOf?: readonly Schema[]
  readonly items?: Schema
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
}

/** `default` is no language. */
const LANGUAGE_NAMES = new Intl.DisplayNames('en', { type: 'language', fallback: 'none' })

/** The schemas of the tasks never change, and to convert one takes some milliseconds. */
const converted = new WeakMap<Task['input'], Schema>()

/** Returns the fields of some members, from the schema that the API enforces: a new member is one place. */
export function inputFields(task: Pick<Task, 'input'>, names: readonly string[]): readonly InputField[] {
  if (names.length === 0) return []
  const whole = converted.get(task.input) ?? (z.toJSONSchema(task.input, { io: 'input', reused: 'inline' }) as Schema)
  converted.set(task.input, whole)
  return names.map((name) => {
    const schema = whole.properties?.[name]
    if (schema === undefined) throw new Error(`The task has no member ${name}.`)
    return inputFieldOf(name, resolved(schema, whole), whole.required?.includes(name) === true)
  })
}

/** A schema with an id is beside the others. */
function resolved(schema: Schema, { $defs }: Schema): Schema {
  return $defs?.[schema.$ref?.replace('#/$defs/', '') ?? ''] ?? schema
}

function inputFieldOf(name: string, schema: Schema, isRequired: boolean): InputField {
  const forms = schema.anyOf?.filter(({ type }) => type !== 'null') ?? [schema]
  const value = forms.at(-1) ?? schema
  const kind = forms.length > 1 ? 'texts' : kindOf({ ...value, default: schema.default })
  const shape = kind === 'rows' ? (value.items ?? {}) : value
  const parts = kind === 'rows' || hasParts(kind) ? Object.entries(shape.properties ?? {}) : []
  const choices =
    kind === 'boxes'
      ? value.items?.enum
      : kind === 'choice'
        ? (value.enum ?? (value.const === true ? ['true'] : ['true', 'false']))
        : []
  const referred = REFERRED[value.pattern ?? '']
  const hint = [
    schema.help ?? schema.description ?? value.description ?? '',
    schema.nullMeans === undefined ? '' : `${kind === 'choice' ? 'Not set' : 'Empty'}: ${schema.nullMeans}.`,
    kind === 'lines' ? 'One on each line.' : '',
    referred?.hint ?? '',
  ].filter((part) => part !== '')
  return {
    name,
    label: schema.title ?? labelOf(referred === undefined ? name : name.replace(/_id$/, '')),
    description: hint.join(' '),
    kind,
    choices: choices ?? [],
    isSecret: kind === 'password' || value.writeOnly === true,
    isRequired,
    mayBeEmpty: (value.minLength ?? 0) === 0 && value.pattern !== undefined && new RegExp(value.pattern, 'u').test(''),
    isNullable: schema.anyOf?.some(({ type }) => type === 'null') === true,
    maxLength: value.maxLength,
    default: isPlain(schema.default) ? String(schema.default) : undefined,
    refersTo: referred?.noun,
    parts: parts.map(([part, inner]) => {
      const field = inputFieldOf(part, inner, shape.required?.includes(part) === true)
      return kind === 'texts' ? { ...field, label: LANGUAGE_NAMES.of(part) ?? field.label } : field
    }),
  }
}

/** Whether the parts of a field are fields of their own. */
export function hasParts(kind: InputField['kind']): boolean {
  return kind === 'group' || kind === 'texts'
}

function kindOf({ type, format, enum: choices, items, properties, ...schema }: Schema): InputField['kind'] {
  if (choices !== undefined) return 'choice'
  // Without a default, true and false are not all that there is.
  if (type === 'boolean') return schema.default === undefined ? 'choice' : 'flag'
  if (type === 'integer' || type === 'number') return 'number'
  if (items?.enum !== undefined) return 'boxes'
  if (type === 'array') return items?.properties === undefined ? 'lines' : 'rows'
  if (type === 'object') return hasOpenParts(properties) ? 'json' : 'group'
  if (format === 'date-time') return 'time'
  return format === 'password' ? 'password' : 'text'
}

/** A JWK Set has keys with any members. */
function hasOpenParts(properties: Schema['properties'] = {}): boolean {
  return Object.values(properties).some(
    ({ items }) => items?.type === 'object' && Object.keys(items.properties ?? {}).length === 0,
  )
}

/**
 * Reads the texts of a form. A member that may be absent is left out if its text is empty. `earlier`: what the form had at first, of a task
 * that changes only what it is given; then a member that has its earlier text is left out too, and one that was emptied has its empty value.
 */
export function readFields(
  fields: readonly InputField[],
  texts: Texts,
  earlier?: Texts,
): Readonly<Record<string, unknown>> {
  return readParts(fields, '', texts, earlier)
}

function readParts(
  fields: readonly InputField[],
  above: string,
  texts: Texts,
  earlier: Texts | undefined,
): Readonly<Record<string, unknown>> {
  const members = fields.map((field) => [field.name, readOne(field, above + field.name, texts, earlier)] as const)
  return Object.fromEntries(members.filter(([, value]) => value !== undefined))
}

function readOne(field: InputField, path: string, texts: Texts, earlier: Texts | undefined): unknown {
  const { kind, choices, isRequired, isNullable, parts } = field
  if (kind === 'texts') {
    if (earlier !== undefined && textsBelow(path, texts) === textsBelow(path, earlier)) return undefined
    const members = readParts(parts, `${path}.`, texts, undefined)
    if (Object.keys(members).length > 0) return members
    return earlier === undefined && !isRequired ? undefined : ''
  }
  if (kind === 'group') {
    const members = readParts(parts, `${path}.`, texts, earlier)
    // Of a change, one that was emptied is removed, and one that was left alone stays.
    const isChange = Object.keys(members).length > 0
    if (isNullable && (earlier === undefined ? !isChange : isChange && textsBelow(path, texts) === NO_TEXTS))
      return null
    if (isChange) return members
    return isRequired && earlier === undefined ? members : undefined
  }
  const isGiven = earlier !== undefined && isChanged(field, path, texts, earlier)
  // A task refuses an input without what it requires.
  if (earlier !== undefined && !isGiven && !(isRequired && !path.includes('.'))) return undefined
  if (kind === 'rows') {
    const rows = rowsIn(path, texts).map((index) => readParts(parts, `${path}.${index}.`, texts, undefined))
    return rows.length > 0 || isRequired || isGiven ? rows : undefined
  }
  // No text begins or ends with spaces that were copied with it; a secret is taken as it is.
  const given = texts[path] ?? ''
  const text = kind === 'text' ? given.trim() : given
  if (kind === 'flag') return isOn(text)
  if (kind === 'lines' || kind === 'boxes') {
    const values = text.split(kind === 'lines' ? /\r?\n/ : ' ').flatMap((line) => line.trim() || [])
    return values.length > 0 || isRequired || isGiven ? values : undefined
  }
  if (text === '' && isNullable && isGiven) return null
  // What has no empty value is refused by the schema, and is not left as it was.
  if (text === '' && isGiven) return ''
  // A text may be empty, as a scope may.
  if (text === '' && (kind !== 'text' || !isRequired)) return undefined
  if (kind === 'number') return /^-?\d{1,15}$/.test(text) ? Number(text) : text
  if (kind === 'json') return readJson(text)
  const isFlag = kind === 'choice' && /^true(,false)?$/.test(choices.join())
  return isFlag && choices.includes(text) ? text === 'true' : text
}

function isOn(text: string | undefined): boolean {
  return text === 'on' || text === 'true'
}

/** Whether a field, which is no group, has another value than before, however the browser sends it. */
export function isChanged({ kind }: InputField, path: string, texts: Texts, earlier: Texts): boolean {
  if (kind === 'flag') return isOn(texts[path]) !== isOn(earlier[path])
  if (kind === 'rows') return textsBelow(path, texts) !== textsBelow(path, earlier)
  if (kind === 'boxes') return sortedWords(texts[path]) !== sortedWords(earlier[path])
  return plain(texts[path]) !== plain(earlier[path])
}

const NO_TEXTS = '[]'

function textsBelow(path: string, texts: Texts): string {
  const own = Object.entries(texts).filter(([name, text]) => name.startsWith(`${path}.`) && text !== '')
  return JSON.stringify(own.toSorted(([one], [other]) => (one < other ? -1 : 1)))
}

function sortedWords(text = ''): string {
  return text.split(' ').toSorted().join(' ')
}

/** Browsers send the lines of a text with CRLF. */
function plain(text = ''): string {
  return text.replaceAll('\r\n', '\n').trim()
}

/** What is no JSON is left to the schema, which refuses a text. */
function readJson(text: string): unknown {
  return parseJson(text) ?? text
}

/** The rows of a list that have a text, by their places in the form. */
export function rowsIn(path: string, texts: Texts): readonly number[] {
  const places = Object.entries(texts).flatMap(([name, text]) => {
    const place = name.startsWith(`${path}.`) ? name.slice(path.length + 1).split('.', 1)[0] : undefined
    return text === '' || place === undefined ? [] : [Number(place)]
  })
  return [...new Set(places)].toSorted((one, other) => one - other)
}

/** Closes the gaps between the rows of lists, so that the places in an error are those in the form. */
export function withoutGaps(fields: readonly InputField[], texts: Texts): Texts {
  const lists = fields.filter(({ kind }) => kind === 'rows').map(({ name }) => [name, rowsIn(name, texts)] as const)
  return Object.fromEntries(
    Object.entries(texts).map(([path, text]) => {
      const [name = '', place = '', ...rest] = path.split('.')
      const rows = lists.find(([list]) => list === name)?.[1]
      const index = rows?.indexOf(Number(place)) ?? -1
      return [index === -1 ? path : [name, index, ...rest].join('.'), text]
    }),
  )
}

/** The texts with which a form shows members, as `readFields` reads them. */
export function textsOf(fields: readonly InputField[], members: Readonly<Record<string, unknown>>, above = ''): Texts {
  return Object.assign(
    {},
    ...fields.map((field) => textsOfOne(field, above + field.name, members[field.name])),
  ) as Texts
}

function textsOfOne({ kind, parts }: InputField, path: string, value: unknown): Texts {
  if (value === undefined || value === null) return {}
  if (kind === 'texts' && typeof value === 'string') return textsOf(parts, { default: value }, `${path}.`)
  if (hasParts(kind)) return textsOf(parts, value as Readonly<Record<string, unknown>>, `${path}.`)
  if (kind === 'rows') {
    const rows = value as readonly Readonly<Record<string, unknown>>[]
    return Object.assign({}, ...rows.map((row, index) => textsOf(parts, row, `${path}.${index}.`))) as Texts
  }
  if (kind === 'lines') return { [path]: (value as readonly string[]).join('\n') }
  if (kind === 'boxes') return { [path]: (value as readonly string[]).join(' ') }
  return { [path]: kind !== 'json' && isPlain(value) ? String(value) : JSON.stringify(value, undefined, 2) }
}

function isPlain(value: unknown): value is string | number | boolean {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
}

/** The field in which a problem of the input is: the path of the text in the form; undefined: in none. */
export function fieldAt(fields: readonly InputField[], loc: readonly string[]): string | undefined {
  const [name = '', ...rest] = loc
  const field = fields.find((one) => one.name === name)
  if (field === undefined) return undefined
  const { kind, parts } = field
  if (!hasParts(kind) && kind !== 'rows') return name
  const [place, inner] = kind === 'rows' ? [rest.slice(0, 1), rest.slice(1)] : [[], rest]
  const below = fieldAt(parts, inner)
  return below === undefined ? name : [name, ...place, below].join('.')
}

/** The field whose text a form has at this path; undefined: a form of these fields has none there. */
export function findField(fields: readonly InputField[], path: string): InputField | undefined {
  const [name = '', ...rest] = path.split('.')
  const field = fields.find((one) => one.name === name)
  if (field !== undefined && hasParts(field.kind)) return findField(field.parts, rest.join('.'))
  if (field?.kind !== 'rows') return rest.length === 0 ? field : undefined
  const [place = '', ...inner] = rest
  return /^(0|[1-9]\d{0,2})$/.test(place) ? findField(field.parts, inner.join('.')) : undefined
}

/** Words that are not written as the names on the wire are. */
const WORDS: Readonly<Record<string, string>> = {
  acr: 'ACR',
  alg: 'algorithm',
  api: 'API',
  apis: 'APIs',
  dpop: 'DPoP',
  jwks: 'JWKS',
  jwt: 'JWT',
  pkce: 'PKCE',
  uri: 'URI',
  uris: 'URIs',
}

/** The name of a member as words: `Client name (de)` for `client_name#de`. */
export function labelOf(name: string): string {
  const label = name
    .replace(/#(.+)$/, '_($1)')
    .split('_')
    .map((word) => WORDS[word] ?? word)
    .join(' ')
  return label.charAt(0).toUpperCase() + label.slice(1)
}
