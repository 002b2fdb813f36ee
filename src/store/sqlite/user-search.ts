import type { DatabaseSync } from 'node:sqlite'
import type { SearchIndex } from '../nouns/user/user-search.ts'
import { rows, shared } from '../shared/statement.ts'

const NAME = shared(
  `insert into user_search (user_id) values (:id) on conflict (user_id) do update set user_id = excluded.user_id
   returning slot`,
)
const WRITE = shared('insert or replace into user_grams (rowid, grams) values (:slot, :numbers)')
const REMOVE_NAME = shared('delete from user_search where user_id = :id returning slot')
const REMOVE = shared('delete from user_grams where rowid = :slot')
/**
 * FTS5 itself would merge its segments now and then: one turn of a thousand took 34 ms. Each turn merges so many pages instead, more than it
 * writes in all levels, and takes 5 ms at most.
 */
const MERGE = shared(`insert into user_grams (user_grams, rank) values ('merge', 32)`)
const LEAVE_MERGES = shared(
  `insert into user_grams (user_grams, rank)
   select 'automerge', 0 where not exists (select 1 from user_grams_config where k = 'automerge')`,
)
const FIND = shared(
  `select user_id from user_grams join user_search on slot = user_grams.rowid where user_grams match :numbers limit :limit`,
)

/** The index of FTS5, whose rows have numbers as the words of their texts. A search has numbers alone, so no text of a user is part of a query. */
export const FTS_INDEX: SearchIndex = {
  *put(entries) {
    if (entries.length === 0) return
    yield* rows(LEAVE_MERGES)
    for (const { id, grams } of entries) {
      const [named] = yield* rows(NAME, { id })
      yield* rows(WRITE, { slot: named?.['slot'], numbers: grams.join(' ') })
    }
    yield* rows(MERGE)
  },
  *remove(ids) {
    for (const id of ids) for (const named of yield* rows(REMOVE_NAME, { id })) yield* rows(REMOVE, named)
  },
  find: (grams, limit) => rows(FIND, { numbers: grams.join(' '), limit }),
}

/**
 * Returns a function that is to be called after each write of the index, and after its commit. FTS5 then has inserted rows with numbers beyond
 * those of JavaScript, and `run` of Node.js, which returns the number of the row that the connection inserted last, would fail for every
 * statement.
 */
export function openRowNumbers(database: DatabaseSync): () => void {
  return () => {
    // Each time: the table goes with a transaction that is rolled back, and the file of a command that only reads may be read-only.
    database.exec('create temp table if not exists last_row (slot integer primary key)')
    database.prepare('insert or replace into temp.last_row (slot) values (1)').all()
  }
}
