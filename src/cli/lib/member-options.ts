import { InvalidArgumentError, Option, type Command } from 'commander'
import * as z from 'zod'
import type { Task } from '../../admin/task.ts'
import { excludeEachOther, parseTime, parseWhole } from './options.ts'

/** Where the option of a member differs from what the schema of the member says. */
export interface OptionRow {
  /** By default the name of the member: `--redirect-uri` for `redirect_uris`, `--overlap` for `overlap_seconds`. */
  readonly name?: string
  readonly placeholder?: string
  /** The flag for false, where it is not `--no-<name>`: `--unused`. */
  readonly opposite?: string
  /** The text for null. By default the empty text. */
  readonly none?: string
  /** The command requires the option, although the task has a default. */
  readonly isRequired?: true
}

/** By member, or `rules.pkce` for a part of a member. A text is the name of the option. false: the member has no option of this kind. */
export type OptionRows = Readonly<Record<string, OptionRow | string | false>>

interface Schema {
  /** A list when null is allowed too and nothing else is said. */
  readonly type?: string | readonly string[]
  readonly format?: string
  readonly description?: string
  /** What null means. */
  readonly nullMeans?: string
  readonly default?: unknown
  readonly const?: unknown
  readonly enum?: readonly string[]
  readonly items?: Schema
  readonly anyOf?: readonly Schema[]
  readonly maximum?: number
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
}

/** An option that sets a member of the input of a task, or a part of one. */
interface MemberOption {
  readonly path: readonly string[]
  readonly options: readonly Option[]
}

/** The options that set members of the input of a task. */
export interface MemberOptions {
  /** The members that were given. */
  readonly read: (command: Command) => Readonly<Record<string, unknown>>
  /** The option of a member: `--client`. */
  readonly longNameOf: (member: string) => string | undefined
}

/** A larger maximum is no help to a reader. */
const MOST_SHOWN = 100_000_000
/** More choices than this are not listed. */
const LISTED_CHOICES = 12

/**
 * Adds an option for each member of the input of a task that is a text, a number, a time, a flag, one of several words or a list of texts.
 * Its name, placeholder, text, choices and parser follow from the schema of the member. `others` are members with an option or argument of
 * another kind.
 */
export function addMemberOptions(
  command: Command,
  task: Task,
  { rows, others }: { readonly rows: OptionRows; readonly others: ReadonlySet<string> },
): MemberOptions {
  const schema = z.toJSONSchema(task.input, { io: 'input' }) as Schema
  const made = membersOf(schema, task, rows, others)
  for (const { options } of made) {
    for (const option of options) command.addOption(option)
    const [option, opposite] = options
    if (option !== undefined && opposite !== undefined) excludeEachOther(command, [option.name(), opposite.name()])
  }
  return {
    read: (typed) => readMembers(made, typed.opts()),
    longNameOf: (member) => made.find(({ path }) => path.join('.') === member)?.options[0]?.long ?? undefined,
  }
}

function membersOf(
  { properties = {}, required = [] }: Schema,
  task: Task,
  rows: OptionRows,
  others: ReadonlySet<string>,
  above: readonly string[] = [],
): readonly MemberOption[] {
  return Object.entries(properties).flatMap(([member, schema]) => {
    const path = [...above, member]
    const row = rows[path.join('.')] ?? {}
    if (row === false || others.has(path.join('.'))) return []
    if (schema.properties !== undefined) return membersOf(schema, task, rows, others, path)
    const choice = typeof row === 'string' ? { name: row } : row
    const options = optionsOf(member, schema, choice, task)
    if (required.includes(member) || choice.isRequired) options[0]?.makeOptionMandatory()
    return [{ path, options }]
  })
}

function optionsOf(member: string, schema: Schema, row: OptionRow, task: Task): readonly Option[] {
  const forms = Array.isArray(schema.type) ? schema.type.map((type: string) => ({ ...schema, type })) : schema.anyOf
  const isNullable = forms?.some(({ type }) => type === 'null') === true
  const value = forms?.find(({ type }) => type !== 'null') ?? schema
  const { name = nameOf(member, value), none = '' } = row
  const text = textOf(schema, value, row)
  if (value.type === 'boolean') {
    const flag = new Option(`--${name}`, text.replace(/^whether /, ''))
    if (schema.default !== undefined || value.const === true) return [flag]
    return [flag, new Option(`--${row.opposite ?? `no-${name}`}`, `the opposite of --${name}`)]
  }
  const isCleared = isNullable || (value.type === 'array' && task.method === 'PATCH')
  const flags = `--${name} <${row.placeholder ?? placeholderOf(member, value)}>`
  const option = new Option(flags, isCleared && schema.nullMeans === undefined ? `${text}; '' for none` : text)
  if (value.enum !== undefined && value.enum.length <= LISTED_CHOICES) {
    option.choices(isNullable ? [...value.enum, none] : value.enum)
  }
  return [option.argParser(parserOf(value, option, isNullable ? none : undefined))]
}

/** `redirect-uri` for `redirect_uris`, because each use adds one. The unit is in the text. */
function nameOf(member: string, { type }: Schema): string {
  const name = member.replaceAll('_', '-').replace(/-seconds$/, '')
  return type === 'array' ? name.replace(/s$/, '') : name
}

function placeholderOf(member: string, { type, format }: Schema): string {
  if (format === 'date-time') return 'time'
  const word = member.split('_').at(-1) ?? member
  return type === 'array' ? word.replace(/s$/, '') : word
}

/** The description of a member, as the text of an option. */
function textOf(schema: Schema, value: Schema, { none = '', isRequired }: OptionRow): string {
  const { description = '', nullMeans } = schema
  const text = description.replace(/^[A-Z](?=[a-z ])/, (letter) => letter.toLowerCase()).replace(/\.$/, '')
  const { maximum = Infinity } = value
  const isBounded = maximum < MOST_SHOWN && !text.includes('up to')
  const hasDefault = ['string', 'number'].includes(typeof schema.default) && schema.default !== '' && !isRequired
  return [
    text,
    nullMeans === undefined ? '' : `; ${none === '' ? "''" : none}: ${nullMeans}`,
    isBounded ? `, up to ${maximum}` : '',
    value.type === 'array' ? '; repeatable' : '',
    hasDefault && !/by default/i.test(text) ? `; by default ${String(schema.default)}` : '',
  ].join('')
}

type Parser = (text: string, previous: unknown) => unknown

/** Means null, which commander would replace by an empty text. */
const NONE = Symbol('null')

function parserOf(schema: Schema, option: Option, none: string | undefined): Parser {
  const parse = parseOneOf(schema, option)
  return (text, previous) => (text === none ? NONE : parse(text, previous))
}

function parseOneOf(schema: Schema, { argChoices }: Option): Parser {
  // The task checks the range.
  if (schema.type === 'integer') return parseWhole
  if (schema.format === 'date-time') return parseTime
  if (schema.type === 'array') {
    return (text, previous: unknown) => [
      ...((previous as readonly string[] | undefined) ?? []),
      ...(text === '' ? [] : [text]),
    ]
  }
  return (text) => {
    if (argChoices === undefined || argChoices.includes(text)) return text
    throw new InvalidArgumentError(`Allowed choices are ${argChoices.join(', ')}.`)
  }
}

function readMembers(
  made: readonly MemberOption[],
  typed: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  const members: Record<string, unknown> = {}
  for (const { path, options } of made) {
    const value = readValue(options, typed)
    if (value === undefined) continue
    const [member = '', part] = path
    members[member] = part === undefined ? value : { ...(members[member] as object | undefined), [part]: value }
  }
  return members
}

function readValue([option, opposite]: readonly Option[], typed: Readonly<Record<string, unknown>>): unknown {
  const value = option === undefined ? undefined : typed[option.attributeName()]
  // `--no-x` has the attribute of `--x`.
  const isOpposite = opposite?.negate === false && typed[opposite.attributeName()] === true
  if (isOpposite) return false
  return value === NONE ? null : value
}
