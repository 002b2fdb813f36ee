import type { UserId } from '../../protocol/ids.ts'
import type { UserRecord } from '../records/user.ts'

/** The operation that writes the index of the names and addresses of users, as `[input, outcome]`. The rules of index.ts apply. */
export interface UserSearchOperations {
  /**
   * Writes a part of the index: of users whose name or address was changed, of new users, and of those from before the index. The users of
   * `search_due` are removed from it in the same commit. Of two nodes that do this at the same time one waits for the other.
   */
  indexUsers: [turn: IndexTurn, outcome: IndexedUsers]
}

/**
 * Between which ids the index has each user, unless the user is due. New users are after `newest`, and those that the store had before the
 * index are before `oldest`. An id that an operator chose may be anywhere in the order, so its
 * user is due when it is stored.
 */
export interface SearchMarks {
  readonly newest: UserId | ''
  readonly oldest: UserId | '' | '~'
}

export interface IndexTurn {
  /**
   * What the turn before reached. It is noted now, after the commit of that turn, because on Citus a row of one shard may be visible before
   * those of the others. undefined: this process had no turn yet.
   */
  readonly reached: SearchMarks | undefined
  /** Users with later ids are left: an earlier id may still be on its way to the store. */
  readonly until: UserId
  readonly limit: number
}

export interface IndexedUsers {
  readonly reached: SearchMarks
  /** How many rows were indexed or removed. 0: the index has all that it may have. */
  readonly count: number
}

/** The reads of a search. */
export interface UserSearchReads {
  /** The next slice of the users whom the index lacks, or has with an earlier name or address. It is read before the index. */
  readonly listUnindexedUsers: (page: {
    readonly before: UserId | undefined
    readonly limit: number
  }) => Promise<UserSlice>
  /**
   * Users whom the index finds, newest first. The caller compares each, because the index may have an earlier name or address. `many`: so many
   * that it is faster to look at all users.
   */
  readonly listIndexedUsers: (search: IndexedSearch) => Promise<UserSlice | 'many'>
}

/** Users of a search, newest first. */
export interface UserSlice {
  readonly users: readonly UserRecord[]
  /** Where the next slice begins; undefined: this was the last one. */
  readonly next: UserId | undefined
}

/** Which users the index finds. */
export interface IndexedSearch {
  /** The numbers of `gramsOf`, at least one. */
  readonly grams: readonly number[]
  readonly before: UserId | undefined
  readonly limit: number
}
