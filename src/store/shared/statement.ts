import type { Page } from '../../ports/store.ts'
import type { Row, Value } from '../rows.ts'
import type { Table } from '../table.ts'

/** A statement that both databases run, with named parameters: `where user_id = :id`. */
export interface SharedStatement {
  /** The name of the prepared statement on PostgreSQL. */
  readonly name: string
  readonly postgres: string
  readonly sqlite: string
  /** The names of the parameters, in the order of their numbers in both texts. */
  readonly parameters: readonly string[]
  /** How Citus finds the rows. Absent: the statement names their shards, or looks at all. */
  readonly division?: Division
}

/** A statement around the condition on its rows. It is divided where Citus distributes the tables (postgres/user-rows.ts). */
export interface Division {
  /** `each`: the rows are of the user `:userId`, and are found by their keys. `look`: nothing is changed before there is such a row. */
  readonly kind: 'each' | 'look'
  readonly table: string
  /** The parameter with the least key; absent: any. */
  readonly from?: string | undefined
  readonly head: string
  readonly condition: string
  readonly tail: string
}

/** A statement with its parameters, which a store runs for shared code. */
export interface Step {
  readonly statement: SharedStatement
  readonly values: readonly Value[]
}

/**
 * Shared code of both stores. It yields each statement and receives its rows. SQLite runs the steps synchronously in the
 * transaction of the batch, PostgreSQL asynchronously.
 */
export type Steps<T> = Generator<Step, T, readonly Row[]>

/** The marks of `eachOf` and `lookFor`. */
const DIVIDED = /^([^]*)\/\*(each|look) (\w+)(?: from :(\w+))?\*\/([^]+)\/\*end\*\/([^]*)$/
const PARAMETER = /(?<![:\w]):(\w+)/g
/** A part that only SQLite has, such as the row number: `insert into clients (\/*sqlite slot, *\/client_id)`. */
const SQLITE_ONLY = /\/\*sqlite (.+?)\*\//g
/** Where the databases differ in a word. */
const SQLITE_WORDS: readonly (readonly [postgres: RegExp, sqlite: string])[] = [
  [/\bgreatest\(/g, 'max('],
  [/\bleast\(/g, 'min('],
  [/\bstrpos\(/g, 'instr('],
  // PostgreSQL plans `in (select …)` as a join, which may read a whole table.
  [/= any\(array\((.+?)\)\)/gs, 'in ($1)'],
  [
    /= any\(string_to_array\((.+?), ' '\)\)/g,
    `in (select value from json_each('["' || replace($1, ' ', '","') || '"]'))`,
  ],
  [SQLITE_ONLY, '$1'],
]
let count = 0

/** The condition on rows of the user `:userId` that a statement reads or changes. `from`: the parameter with their least key. */
export function eachOf(table: string, condition: string, from?: string): string {
  return `/*each ${table}${from === undefined ? '' : ` from :${from}`}*/${condition}/*end*/`
}

/** The condition on rows that a change finds on all shards, which are mostly none. */
export function lookFor(table: string, condition: string): string {
  return `/*look ${table}*/${condition}/*end*/`
}

/**
 * The condition on the rows of an owner before `:before`, newest first. It is that of one range of the index of both columns: where nearly
 * all rows have one owner, PostgreSQL would expect the newest rows to be of any owner, and read the whole table for another one.
 */
export function newestOf(owner: string, value: string, key: string): string {
  return `(${owner}, ${key}) < (${value}, :before) and ${owner} >= ${value} order by ${owner} desc, ${key} desc`
}

/** Numbers the parameters of a statement for each database. */
export function shared(marked: string): SharedStatement {
  count += 1
  const [, head = '', kind, table = '', from, condition = marked, tail = ''] = DIVIDED.exec(marked) ?? []
  const text = head + condition + tail
  const parameters = [...new Set([...text.matchAll(PARAMETER)].map(([, name]) => name as string))]
  const numbered = (mark: string) =>
    text.replaceAll(PARAMETER, (_, name: string) => `${mark}${parameters.indexOf(name) + 1}`)
  return {
    name: `shared-${count}`,
    postgres: inPostgres(numbered('$')),
    sqlite: inSqlite(numbered('?')),
    parameters,
    ...(kind !== undefined && { division: { kind: kind as Division['kind'], table, from, head, condition, tail } }),
  }
}

/** Returns the text without what only SQLite has. */
export function inPostgres(text: string): string {
  return text.replaceAll(SQLITE_ONLY, '')
}

/** Returns the text with the words of SQLite. */
export function inSqlite(text: string): string {
  return SQLITE_WORDS.reduce((sql, [postgres, sqlite]) => sql.replaceAll(postgres, sqlite), text)
}

/** Ids or digests as one parameter: `client_id = any(string_to_array(:ids, ' '))`. They have no spaces. */
export function listOf(ids: readonly string[]): string {
  return ids.toSorted().join(' ')
}

/** Runs a statement with the members of `values` as its parameters, and returns its rows. */
export function* rows(statement: SharedStatement, values: object = {}): Steps<readonly Row[]> {
  const given = values as Readonly<Record<string, Value | boolean | undefined>>
  return yield {
    statement,
    values: statement.parameters.map((name) => {
      const value = given[name]
      if (value === undefined && !(name in given))
        throw new Error(`The parameter ${name} is missing for: ${statement.postgres}`)
      return typeof value === 'boolean' ? Number(value) : (value ?? null)
    }),
  }
}

/**
 * For operations that change one row: returns `changed` if the statement, which ends with `returning`, returned the row. Its
 * parameters are the members of the input; an input that is a text is the parameter `:id`.
 */
export function outcomeOf<Changed extends string, Otherwise extends string>(
  text: string,
  changed: Changed,
  otherwise: Otherwise,
): (input: string | object) => Steps<Changed | Otherwise> {
  const statement = shared(text)
  return function* (input) {
    const found = yield* rows(statement, typeof input === 'string' ? { id: input } : input)
    return found.length === 1 ? changed : otherwise
  }
}

/** The same for operations whose outcomes are `changed` and `unknown`. */
export function change(text: string): (input: string | object) => Steps<'changed' | 'unknown'> {
  return outcomeOf(text, 'changed', 'unknown')
}

/** A read of one page. The members of the page are the statement's parameters; ids sort below '~'. */
export function listPage<Stored>(
  { read }: Table<Stored>,
  text: string,
): (page: Page<string>) => Steps<readonly Stored[]> {
  const statement = shared(text)
  return function* (page) {
    return (yield* rows(statement, { ...page, before: page.before ?? '~' })).map(read)
  }
}

/** A read of the one record that has the only parameter of the statement. */
export function findBy<Stored>(
  { read }: Table<Stored>,
  statement: SharedStatement,
): (key: string) => Steps<Stored | undefined> {
  const [name = ''] = statement.parameters
  return function* (key) {
    const [row] = yield* rows(statement, { [name]: key })
    return row === undefined ? undefined : read(row)
  }
}

/** The keys of an operation on one record. */
export function idKey(input: string | { readonly id: string }): readonly string[] {
  return [typeof input === 'string' ? input : input.id]
}

/** What else ends with rows of a table, which were removed. */
export type Forget = (
  table: 'sessions' | 'authorizations' | 'grants' | 'identities',
  removed: readonly Row[],
) => Steps<void>

/** Nothing else does, except where Citus distributes the tables (postgres/user-rows.ts). */
export function* forgetNothing(): Steps<void> {}

/** Disables a record that has a not-before time, and revokes what was issued for it. */
export const DISABLE = 'disabled_at = coalesce(disabled_at, :now), not_before = greatest(not_before, :now)'
/** Enables it. What was issued while it was disabled stays revoked. */
export const ENABLE =
  'disabled_at = null, not_before = case when disabled_at is null then not_before else greatest(not_before, :now) end'
