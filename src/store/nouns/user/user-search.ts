import { gramsOf, wordsOf } from '../../../base/fold.ts'
import type {
  IndexedSearch,
  IndexedUsers,
  IndexTurn,
  SearchMarks,
  UserSlice,
} from '../../../ports/operations/user-search.ts'
import type { UserRecord } from '../../../ports/records/user.ts'
import type { Page } from '../../../ports/store.ts'
import type { UserId } from '../../../protocol/ids.ts'
import { userTexts } from '../../../protocol/sign-in/user-texts.ts'
import type { NounOperations } from '../../noun.ts'
import type { Row } from '../../rows.ts'
import { listOf, rows, shared, type Steps } from '../../shared/statement.ts'
import { USERS } from './users.ts'

/** After each id that the server made, and before those that operators chose, if these are not before all of them. */
const AFTER_MADE_IDS = 'gus_g'

/** More rows than these are not sorted: a text that so many users have is found sooner among the newest ones. */
const SORTED = 10_000

/** What the index of a database has of a user. */
interface Entry {
  readonly id: UserId
  readonly grams: readonly number[]
}

/** The index of a database: arrays in PostgreSQL, and FTS5 in SQLite. */
export interface SearchIndex {
  readonly put: (entries: readonly Entry[]) => Steps<void>
  readonly remove: (ids: readonly UserId[]) => Steps<void>
  /** Ids that have all numbers, in any order. */
  readonly find: (grams: readonly number[], limit: number) => Steps<readonly Row[]>
}

/** Locks the row, so that of two turns the later one reads what users are called after the earlier one has ended. */
const HOLD_MARKS = shared(
  `insert into search_marks (name, newest, oldest) values ('users', :newest, :oldest) on conflict (name) do update
     set newest = greatest(search_marks.newest, excluded.newest), oldest = least(search_marks.oldest, excluded.oldest)
   returning newest, oldest`,
)
const FIND_MARKS = shared(`select newest, oldest from search_marks where name = 'users'`)
const TAKE_DUE = shared(`delete from search_due where user_id = any(string_to_array(:ids, ' ')) returning user_id`)
const FIND_TEXTS = shared(`select user_id, name, email from users where user_id = any(string_to_array(:ids, ' '))`)
const LIST_NEWER = shared(
  `select user_id, name, email from users where user_id > :newest and user_id < :until order by user_id limit :limit`,
)
const LIST_OLDER = shared(
  `select user_id, name, email from users where user_id < :oldest order by user_id desc limit :limit`,
)
const LIST_BETWEEN = shared(
  `select * from users where user_id > :after and user_id < :before order by user_id desc limit :limit`,
)
const LIST_DUE = shared('select user_id from search_due where user_id < :before order by user_id desc limit :limit')
const FIND_USERS = shared(`select * from users where user_id = any(string_to_array(:ids, ' '))`)

const NONE: SearchMarks = { newest: '', oldest: '~' }

/** The engines write the index of a turn in their own ways. */
const operations = {
  indexUsers: { cache: 'kept', event: 'no-event' },
} satisfies NounOperations

const reads = {
  *listUnindexedUsers({ before = '~' as UserId, limit }: Page<UserId>): Steps<UserSlice> {
    const { newest, oldest } = yield* findSearchMarks()
    const due = yield* rows(LIST_DUE, { before, limit })
    const slices = [
      yield* listBetween(newest, least(before, AFTER_MADE_IDS), limit),
      yield* listBetween('', least(before, oldest), limit),
      { ids: due.map(idOf), found: due.length === 0 ? [] : yield* rows(FIND_USERS, { ids: listOf(due.map(idOf)) }) },
    ]
    // A slice that is full has a last row, and nothing is known of what is before it.
    const next = slices
      .flatMap(({ ids }) => (ids.length < limit ? [] : [ids.at(-1) as UserId]))
      .reduce<UserId | undefined>((last, id) => (last === undefined || id > last ? id : last), undefined)
    const found = new Map(slices.flatMap((slice) => slice.found).map((row) => [idOf(row), row]))
    const users = [...found.values()].filter((row) => next === undefined || idOf(row) >= next).map(USERS.read)
    return { users: users.toSorted(newestFirst), next }
  },
} as const

export const userSearch = { operations, reads }

/** Between which ids the index has each user. */
export function* findSearchMarks(): Steps<SearchMarks> {
  const [marks] = yield* rows(FIND_MARKS)
  return marks === undefined ? NONE : marksOf(marks)
}

/** Writes a part of the index. */
export function* indexUsers({ reached = NONE, until, limit }: IndexTurn, index: SearchIndex): Steps<IndexedUsers> {
  const [held] = yield* rows(HOLD_MARKS, reached)
  const marks = marksOf(held as Row)
  const waiting = yield* rows(LIST_DUE, { before: '~', limit })
  // It waits for changes that are being committed, and what they change is read next.
  const due = waiting.length === 0 ? [] : (yield* rows(TAKE_DUE, { ids: listOf(waiting.map(idOf)) })).map(idOf)
  const changed = due.length === 0 ? [] : yield* rows(FIND_TEXTS, { ids: listOf(due) })
  const isFirst = marks.newest === ''
  const newer = isFirst ? [] : yield* rows(LIST_NEWER, { newest: marks.newest, until, limit: limit - due.length })
  const left = limit - due.length - newer.length
  const older = left === 0 || marks.oldest === '' ? [] : yield* rows(LIST_OLDER, { oldest: marks.oldest, limit: left })
  const entries = new Map([...changed, ...newer, ...older].map((row) => [idOf(row), entryOf(row)]))
  yield* index.put([...entries.values()])
  yield* index.remove(due.filter((id) => !entries.has(id)))
  return {
    reached: {
      newest: left > 0 ? greatest(marks.newest, until) : (newer.at(-1) ?? { user_id: marks.newest })['user_id'],
      oldest: older.length < left ? '' : older.length === 0 ? marks.oldest : idOf(older.at(-1) as Row),
    } as SearchMarks,
    count: due.length + newer.length + older.length,
  }
}

/** The users whom the index finds. It may have an id of a user who was deleted since. */
export function* listIndexedUsers(
  { grams, before = '~' as UserId, limit }: IndexedSearch,
  index: SearchIndex,
): Steps<UserSlice | 'many'> {
  const all = yield* index.find(grams, SORTED + 1)
  if (all.length > SORTED) return 'many'
  const later = all.map(idOf).filter((id) => id < before)
  const ids = later.toSorted().toReversed().slice(0, limit)
  const found = ids.length === 0 ? [] : yield* rows(FIND_USERS, { ids: listOf(ids) })
  const next = ids.length < limit ? undefined : ids.at(-1)
  return { users: found.map(USERS.read).toSorted(newestFirst), next }
}

function* listBetween(after: string, before: string, limit: number) {
  const found = after >= before ? [] : yield* rows(LIST_BETWEEN, { after, before, limit })
  return { ids: found.map(idOf), found }
}

function entryOf(row: Row): Entry {
  const { name, email } = row as { readonly name: string | null; readonly email: string | null }
  return { id: idOf(row), grams: gramsOf(userTexts({ name, email }).flatMap(wordsOf)) }
}

function marksOf({ newest, oldest }: Row): SearchMarks {
  return { newest, oldest } as SearchMarks
}

function idOf(row: Row): UserId {
  return row['user_id'] as UserId
}

function newestFirst({ id: one }: UserRecord, { id: other }: UserRecord): number {
  return one < other ? 1 : -1
}

function least(one: string, other: string): string {
  return one < other ? one : other
}

function greatest(one: string, other: string): string {
  return one > other ? one : other
}
