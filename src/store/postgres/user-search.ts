import type { UserSearchReads } from '../../ports/operations/user-search.ts'
import { indexUsers, listIndexedUsers, type SearchIndex } from '../nouns/user/user-search.ts'
import { userSearch } from '../nouns/user/user-search.ts'
import { listOf, rows, shared } from '../shared/statement.ts'
import type { Query } from './connection/query.ts'
import type { Handlers } from './handlers.ts'
import { runnerOf, runSteps } from './steps.ts'

const PUT = shared(
  `insert into user_search (user_id, grams)
   select id, string_to_array(numbers, ',')::integer[]
   from unnest(string_to_array(:ids, ' '), string_to_array(:numbers, ' ')) as given (id, numbers)
   on conflict (user_id) do update set grams = excluded.grams`,
)
const REMOVE = shared(`delete from user_search where user_id = any(string_to_array(:ids, ' '))`)
/** Without an order: PostgreSQL would walk through all users in their order, because it expects a text to be frequent. */
const FIND = shared(
  `select user_id from user_search where grams @> string_to_array(:numbers, ',')::integer[] limit :limit`,
)
/** An array without a number, which `string_to_array` makes of no text but this one. */
const NO_NUMBERS = '-1'

/** The index of arrays, which each PostgreSQL has, whatever the locale and the extensions of the database are. */
const ARRAY_INDEX: SearchIndex = {
  *put(entries) {
    if (entries.length === 0) return
    const ids = entries.map(({ id }) => id).join(' ')
    yield* rows(PUT, { ids, numbers: entries.map(({ grams }) => grams.join(',') || NO_NUMBERS).join(' ') })
  },
  *remove(ids) {
    if (ids.length > 0) yield* rows(REMOVE, { ids: listOf(ids) })
  },
  find: (grams, limit) => rows(FIND, { numbers: grams.join(','), limit }),
}

export const userSearchHandlers: Pick<Handlers, 'indexUsers'> = {
  indexUsers: {
    ...userSearch.operations.indexUsers,
    keys: () => ['user-search'],
    run: runnerOf(false, (turn) => indexUsers(turn, ARRAY_INDEX)),
  },
}

export function userSearchReads(query: Query): Pick<UserSearchReads, 'listIndexedUsers'> {
  return { listIndexedUsers: (search) => runSteps(query, listIndexedUsers(search, ARRAY_INDEX)) }
}
