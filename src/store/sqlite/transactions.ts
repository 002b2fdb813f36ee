import { nextTick } from 'node:process'
import type { DatabaseSync } from 'node:sqlite'

/** Which state of the file is read, and when it may be written. */
export interface Transactions {
  /** Reads that follow each other before anything else can come in see one state. */
  readonly read: <T>(query: () => T) => T
  /** Begins to write; to be ended by a commit or a rollback. Throws when somebody else is writing. */
  readonly beginWriting: () => void
  /** Lets go of the state that is being read. */
  readonly endReading: () => void
}

/**
 * Without a transaction around them every read finds its own way to the newest state and locks it, which costs as much as
 * reading a row.
 *
 * Reading ends when the promises that are due have run, before the event loop takes anything from outside. So whatever is read
 * for had come before the state was chosen, and nothing that was committed before it came is missing. `onBegin` is called
 * with each new state.
 */
export function openTransactions(database: DatabaseSync, onBegin: () => void): Transactions {
  const begin = database.prepare('begin')
  const commit = database.prepare('commit')
  let isReading = false

  function endReading(): void {
    if (!isReading) return
    isReading = false
    // Where a read failed for good, SQLite has ended it by itself.
    if (database.isTransaction) commit.run()
  }

  return {
    read(query) {
      if (!database.isTransaction) {
        begin.run()
        isReading = true
        nextTick(endReading)
        onBegin()
      }
      return query()
    },
    beginWriting() {
      endReading()
      database.exec('begin immediate')
      onBegin()
    },
    endReading,
  }
}
