import { parseArgs } from 'node:util'
import { programDescription, programName } from './programs.ts'

/** An option of a tool. A tool has a table of them, from which its usage, the values and their types follow. */
export interface Option<Value> {
  /** The placeholder of the value in the usage. undefined: the option is a flag. */
  readonly placeholder: string | undefined
  readonly help: string
  /** The text that is parsed if the option is absent. undefined: the value is undefined, for a flag false. */
  readonly fallback: string | undefined
  /** Which texts are valid. */
  readonly takes: string
  /** Returns undefined if the text is invalid. */
  readonly parse: (text: string) => Value | undefined
}

type Options = Readonly<Record<string, Option<unknown>>>
/** The values of a table of options. */
export type ValuesOf<Table extends Options> = {
  readonly [Name in keyof Table]: Table[Name] extends Option<infer Value> ? Value : never
}

export function number(help: string, fallback: number, [min, max]: readonly [number, number]): Option<number> {
  const parse = (text: string): number | undefined => {
    const value = Number(text)
    return text.trim() !== '' && value >= min && value <= max ? value : undefined
  }
  return { placeholder: 'n', help, fallback: String(fallback), takes: `a number from ${min} to ${max}`, parse }
}

export function whole(help: string, fallback: number, range: readonly [number, number]): Option<number> {
  const option = number(help, fallback, range)
  const parse = (text: string): number | undefined => {
    const value = option.parse(text)
    return Number.isInteger(value) ? value : undefined
  }
  return { ...option, takes: `a whole number from ${range[0]} to ${range[1]}`, parse }
}

/** Values that are separated by commas. `none` is an empty list. */
export function list<Value>(option: Option<Value>, fallback: string): Option<readonly Value[]> {
  const parse = (text: string): readonly Value[] | undefined => {
    const values = text === 'none' ? [] : text.split(',').map(option.parse)
    return values.includes(undefined) ? undefined : (values as readonly Value[])
  }
  return { ...option, placeholder: 'list', fallback, takes: `none, or for each entry ${option.takes}`, parse }
}

export function choice<const Name extends string>(help: string, known: readonly Name[]): Option<Name> {
  const parse = (text: string): Name | undefined => known.find((name) => name === text)
  return { placeholder: 'name', help, fallback: known[0], takes: `one of: ${known.join(', ')}`, parse }
}

/** Names of a list, in the order of the list. `all` is the whole list. */
export function names<const Name extends string>(
  help: string,
  known: readonly Name[],
  fallback: '' | 'all',
): Option<readonly Name[]> {
  const parse = (text: string): readonly Name[] | undefined => {
    if (text === 'all') return known
    const wanted = text === '' ? [] : text.split(',')
    const found = known.filter((name) => wanted.includes(name))
    return found.length === wanted.length ? found : undefined
  }
  const described = `${help}: ${known.join(',')}`
  return { placeholder: 'names', help: described, fallback, takes: `all, or names of: ${known.join(', ')}`, parse }
}

export function string(placeholder: string, help: string, pattern = /^/): Option<string | undefined> {
  const parse = (value: string): string | undefined => (pattern.test(value) ? value : undefined)
  return { placeholder, help, fallback: undefined, takes: `text that matches ${pattern}`, parse }
}

export function flag(help: string): Option<boolean> {
  return { placeholder: undefined, help, fallback: undefined, takes: 'no value', parse: () => true }
}

export function optional<Value>(option: Option<Value>): Option<Value | undefined> {
  return { ...option, fallback: undefined }
}

export const STORE = choice('the database: sqlite or postgres', ['sqlite', 'postgres'])
export const SAVE = string('name', 'write the result to bench/results/<date>-<name>.json', /^[a-z0-9-]+$/)

/**
 * Parses the command line of this process. With `--help` prints the description of the program and the usage, and exits with 0. If the
 * command line is invalid, prints the reason and the usage, and exits with 2. `check` returns what is wrong with the values together.
 */
export function readOptions<const Table extends Options>(
  table: Table,
  check: (values: ValuesOf<Table>) => string | undefined = () => undefined,
): ValuesOf<Table> {
  const [, program = '', ...args] = process.argv
  if (args.includes('--help')) {
    console.log(`${programDescription(program)}\n\n${usageOf(program, table)}`)
    process.exit(0)
  }
  try {
    const values = parseOptions(args, table)
    const fault = check(values)
    if (fault !== undefined) throw new Error(fault)
    return values
  } catch (cause) {
    console.error(`${(cause as Error).message}\n\n${usageOf(program, table)}`)
    process.exit(2)
  }
}

/** @throws Error if an option is unknown or its value is invalid */
export function parseOptions<const Table extends Options>(args: readonly string[], table: Table): ValuesOf<Table> {
  const entries = Object.entries(table)
  const { values } = parseArgs({
    args: [...args],
    options: Object.fromEntries(
      entries.map(([name, { placeholder }]) => [name, { type: placeholder === undefined ? 'boolean' : 'string' }]),
    ),
  })
  return Object.fromEntries(
    entries.map(([name, { placeholder, fallback, takes, parse }]) => {
      if (placeholder === undefined) return [name, values[name] === true]
      const given = values[name] ?? fallback
      const value = typeof given === 'string' ? parse(given) : undefined
      if (given !== undefined && value === undefined) throw new Error(`--${name} takes ${takes}.`)
      return [name, value]
    }),
  ) as ValuesOf<Table>
}

function usageOf(program: string, table: Options): string {
  const rows = Object.entries(table).map(([name, { placeholder, help, fallback }]) => [
    `  --${name}${placeholder === undefined ? '' : ` <${placeholder}>`}`,
    `${help}${fallback === undefined || fallback === '' ? '' : ` (${fallback})`}`,
  ])
  const width = Math.max(...rows.map(([left = '']) => left.length))
  const lines = rows.map(([left = '', right = '']) => `${left.padEnd(width)}  ${right}`)
  return [`npm run ${programName(program)} -- [options]`, ...lines].join('\n')
}
