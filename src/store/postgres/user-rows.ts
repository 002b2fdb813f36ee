import type { Row, Value } from '../rows.ts'
import {
  listOf,
  rows,
  shared,
  type Division,
  type Forget,
  type SharedStatement,
  type Step,
  type Steps,
} from '../shared/statement.ts'
import { SHARD_KEYS } from './distribution.ts'
import { awaitRow } from './settle.ts'

/**
 * Where Citus distributes the tables, `user_rows` names the rows of each user that are distributed by their own keys. A name is on the
 * shard of the user. The transaction that writes the row writes it too, while it holds the user. The name of an authorization is that of its
 * grant as well, and a grant without one has a name of its own. The name of a row that was removed changes nothing.
 */

/** The name of a row of a user. */
export interface UserRow {
  readonly userId: string
  readonly table: 'sessions' | 'authorizations' | 'identities' | 'grants'
  readonly key: string
}

/** With more rows one statement on their shards is less work. */
const ROWS_ALONE = 20
/** The rows of a user who has more are searched on all shards. */
const MOST_KEYS = 1000

const NAME = shared(
  `insert into user_rows (user_id, row_table, row_key) values (:userId, :table, :key)
   on conflict (user_id, row_table, row_key) do nothing`,
)
const LIST = shared(
  `select row_table, row_key from user_rows
   where user_id = :userId and row_table = any(string_to_array(:tables, ' ')) and row_key >= :from
   order by row_key desc limit :limit`,
)
const FORGET = shared(
  `delete from user_rows where user_id = any(string_to_array(:users, ' '))
     and row_table = any(string_to_array(:tables, ' ')) and row_key = any(string_to_array(:keys, ' '))`,
)

/** The tables by whose names the rows of a table are found. */
export const NAMED_BY = {
  sessions: ['sessions'],
  authorizations: ['authorizations'],
  identities: ['identities'],
  grants: ['authorizations', 'grants'],
} as const satisfies Readonly<Record<UserRow['table'], readonly string[]>>

/** Whether a row that may not be visible yet is awaited. A read decides nothing, and does not wait. */
type Purpose = 'decide' | 'read'

type Named = Readonly<Record<string, Value>>

/** Names a row, if it has no name. */
export function* nameRow(row: UserRow): Steps<void> {
  yield* rows(NAME, row)
}

/** Removes names. */
export function* forgetRows(removed: readonly UserRow[]): Steps<void> {
  if (removed.length === 0) return
  const all = (member: keyof UserRow): string => listOf([...new Set(removed.map((row) => row[member]))])
  yield* rows(FORGET, { users: all('userId'), tables: all('table'), keys: all('key') })
}

/** Removes the names of rows that a statement removed. A request that was not approved has no user. */
export const forget: Forget = (table, removed) => {
  const owned = removed.filter((row) => row['user_id'] !== null)
  const keyOf = (row: Row): string => row[SHARD_KEYS[table] ?? ''] as string
  return forgetRows(
    NAMED_BY[table].flatMap((name) =>
      owned.map((row) => ({ userId: row['user_id'] as string, table: name, key: keyOf(row) })),
    ),
  )
}

/**
 * The steps, in which statements that are divided do not look at all shards. The rows of a user are found by their names, and a change
 * changes each of them alone: Citus locks all shards for a change of several, so that those of different users wait for each other.
 */
export function* divided<T>(steps: Steps<T>, purpose: Purpose): Steps<T> {
  let step = steps.next()
  while (step.done !== true) step = steps.next(yield* divide(step.value, purpose))
  return step.value
}

function* divide(step: Step, purpose: Purpose): Steps<readonly Row[]> {
  const { statement, values } = step
  const { division } = statement
  if (division === undefined) return yield step
  const named = Object.fromEntries(statement.parameters.map((name, place) => [name, values[place] ?? null]))
  const forms = knownForms(statement, division)
  // Citus commits a change that finds its rows by a select on all machines, also if the select finds nothing.
  if (division.kind === 'look') return (yield* rows(forms.find, named)).length === 0 ? [] : yield step
  const names = yield* listNames(division, named)
  const met = isRead(division) && purpose === 'read' ? names : yield* meet(forms.find, division, named, names)
  const isSearched = names.length === MOST_KEYS
  if (isRead(division)) return isSearched ? yield step : yield* readRows(forms, named, met)
  const changed = isSearched ? yield step : yield* changeRows(forms, named, met)
  if (/^delete\b/.test(division.head)) yield* forgetRows(met)
  return changed
}

function* listNames(division: Division, named: Named): Steps<readonly UserRow[]> {
  const userId = named['userId'] as string
  const tables = listOf(NAMED_BY[division.table as UserRow['table']])
  const from = division.from === undefined ? '' : named[division.from]
  const listed = yield* rows(LIST, { userId, tables, from, limit: MOST_KEYS })
  return listed.map((row) => ({ userId, table: row['row_table'] as UserRow['table'], key: row['row_key'] as string }))
}

/** Returns the names of the rows that meet the condition. All rows are visible then. */
function* meet(
  find: SharedStatement,
  { table }: Division,
  named: Named,
  names: readonly UserRow[],
): Steps<readonly UserRow[]> {
  const given = { ...named, rows: keysOf(names) }
  let found = names.length === 0 ? [] : yield* rows(find, given)
  const visible = new Set(found.filter((row) => row['user_id'] !== null).map((row) => row['key']))
  // A grant is visible as soon as the authorization that names it, which is on the same shard.
  const late = names.filter((name) => name.table === table && !visible.has(name.key))
  if (late.length > 0) {
    const removed: UserRow[] = []
    for (const name of late.toSorted(byKey)) if (!(yield* awaitRow(name.table, name.key))) removed.push(name)
    yield* forgetRows(removed)
    if (removed.length < late.length) found = yield* rows(find, given)
  }
  const met = new Set(found.filter((row) => row['is_met'] !== null).map((row) => row['key']))
  return names.filter(({ key }) => met.has(key))
}

function* readRows({ some }: Forms, named: Named, names: readonly UserRow[]): Steps<readonly Row[]> {
  return names.length === 0 ? [] : yield* rows(some, { ...named, rows: keysOf(names) })
}

function* changeRows({ one, some }: Forms, named: Named, names: readonly UserRow[]): Steps<readonly Row[]> {
  if (names.length > ROWS_ALONE) return yield* rows(some, { ...named, rows: keysOf(names) })
  const changed: Row[] = []
  for (const { key } of names.toSorted(byKey)) changed.push(...(yield* rows(one, { ...named, row: key })))
  return changed
}

function keysOf(names: readonly UserRow[]): string {
  return listOf(names.map(({ key }) => key))
}

/** The order in which all transactions change and await rows, so that no two wait for each other's. */
function byKey(one: UserRow, other: UserRow): number {
  return one.key < other.key ? -1 : 1
}

/** How a statement is divided. */
interface Forms {
  /** Finds rows, with their keys, and whether they meet the condition. */
  readonly find: SharedStatement
  /** The statement for the row of one key, and for those of several, if they still meet the condition. */
  readonly one: SharedStatement
  readonly some: SharedStatement
}

const known = new WeakMap<SharedStatement, Forms>()

/** The same, worked out once for each statement. */
function knownForms(statement: SharedStatement, division: Division): Forms {
  const forms = known.get(statement) ?? formsOf(division)
  known.set(statement, forms)
  return forms
}

function formsOf(division: Division): Forms {
  const { kind, table, head, condition, tail } = division
  const key = SHARD_KEYS[table] ?? ''
  const isOneOf = `${key} = any(string_to_array(:rows, ' '))`
  // A select may join another table, whose columns its condition names.
  const isMet = isRead(division) ? 'true' : condition
  return {
    find:
      kind === 'look'
        ? shared(`select 1 from ${table} where ${condition} limit 1`)
        : shared(
            `select ${key} as key, user_id, case when ${isMet} then 1 end as is_met from ${table} where ${isOneOf}`,
          ),
    one: shared(`${head}${condition} and ${key} = :row${tail}`),
    some: shared(`${head}${condition} and ${isOneOf}${tail}`),
  }
}

function isRead({ head }: Division): boolean {
  return /^select\b/.test(head)
}
