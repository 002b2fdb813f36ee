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
import { awaitRow, isAwaited } from './settle.ts'

/**
 * Where Citus distributes the tables, `user_rows` names the rows of each user that are distributed by their own keys. A name is on the
 * shard of the user. The transaction that writes the row writes it too, while it holds the user. The name of an authorization is that of its
 * grant as well. The name of a row that was removed changes nothing.
 */

/** A row of a user. `table`: a grant is named as the authorization of its code. */
export interface UserRow {
  readonly userId: string
  readonly table: 'sessions' | 'authorizations' | 'identities'
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
  `select row_key from user_rows where user_id = :userId and row_table = :table and row_key >= :from
   order by row_key desc limit :limit`,
)
const FORGET = shared(
  `delete from user_rows where user_id = any(string_to_array(:users, ' ')) and row_table = :table
     and row_key = any(string_to_array(:keys, ' '))`,
)

/** Whether a row that may not be visible yet is awaited. A read decides nothing, and does not wait. */
type Purpose = 'decide' | 'read'

type Named = Readonly<Record<string, Value>>

export function* nameRow(row: UserRow): Steps<void> {
  yield* rows(NAME, row)
}

/** Removes the names of rows of one table. */
export function* forgetRows(removed: readonly UserRow[]): Steps<void> {
  const [first] = removed
  if (first === undefined) return
  const users = listOf(removed.map(({ userId }) => userId))
  yield* rows(FORGET, { users, table: first.table, keys: listOf(removed.map(({ key }) => key)) })
}

/** Removes the names of rows that a statement removed. A request that was not approved has no user. */
export const forget: Forget = (table, removed) => {
  const owned = removed.filter((row) => row['user_id'] !== null)
  return forgetRows(owned.map((row) => userRow(table, row['user_id'], row[SHARD_KEYS[table] ?? ''])))
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
  const keys = yield* listKeys(division, named)
  const met = isRead(division) && purpose === 'read' ? keys : yield* meet(forms.find, division, named, keys)
  const isSearched = keys.length === MOST_KEYS
  if (isRead(division)) return isSearched ? yield step : yield* readRows(forms, named, met)
  const changed = isSearched ? yield step : yield* changeRows(forms, named, met)
  if (/^delete\b/.test(division.head))
    yield* forgetRows(met.map((key) => userRow(division.table, named['userId'], key)))
  return changed
}

function* listKeys(division: Division, named: Named): Steps<readonly string[]> {
  const { userId, table } = userRow(division.table, named['userId'], '')
  const from = division.from === undefined ? '' : named[division.from]
  return (yield* rows(LIST, { userId, table, from, limit: MOST_KEYS })).map((row) => row['row_key'] as string)
}

/** Returns the keys of the rows that meet the condition. All rows are visible then. */
function* meet(
  find: SharedStatement,
  division: Division,
  named: Named,
  keys: readonly string[],
): Steps<readonly string[]> {
  const given = { ...named, rows: listOf(keys) }
  let found = keys.length === 0 ? [] : yield* rows(find, given)
  const visible = new Set(found.filter((row) => row['user_id'] !== null).map((row) => row['key']))
  const late = keys.filter((key) => !visible.has(key)).toSorted()
  if (late.length > 0 && isAwaited(division.table)) {
    const removed: UserRow[] = []
    for (const key of late)
      if (!(yield* awaitRow(division.table, key))) removed.push(userRow(division.table, named['userId'], key))
    yield* forgetRows(removed)
    if (removed.length < late.length) found = yield* rows(find, given)
  }
  return found.filter((row) => row['is_met'] !== null).map((row) => row['key'] as string)
}

function* readRows({ some }: Forms, named: Named, keys: readonly string[]): Steps<readonly Row[]> {
  return keys.length === 0 ? [] : yield* rows(some, { ...named, rows: listOf(keys) })
}

function* changeRows({ one, some }: Forms, named: Named, keys: readonly string[]): Steps<readonly Row[]> {
  if (keys.length > ROWS_ALONE) return yield* rows(some, { ...named, rows: listOf(keys) })
  const changed: Row[] = []
  // In the same order in all transactions, so that no two wait for each other's rows.
  for (const row of keys.toSorted()) changed.push(...(yield* rows(one, { ...named, row })))
  return changed
}

function userRow(table: string, userId: unknown, key: unknown): UserRow {
  const named = table === 'grants' ? 'authorizations' : table
  return { userId: userId as string, table: named as UserRow['table'], key: key as string }
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
