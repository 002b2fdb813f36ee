import { nextTick } from 'node:process'
import type { DatabaseSync } from 'node:sqlite'

/** Controls which snapshot of the file is read, and when the file may be written. */
export interface Transactions {
  /** Reads that follow each other within one turn see one snapshot. */
  readonly read: <T>(query: () => T) => T
  /** Starts a write, which a commit or a rollback must end. Throws if another connection is writing. */
  readonly beginWriting: () => void
  /** Ends the current snapshot. */
  readonly endReading: () => void
}

/**
 * Without a surrounding transaction each read finds the newest state of the file and locks it, which costs as much as
 * reading a row.
 *
 * A snapshot ends after the pending promises have run, before the event loop accepts anything from outside. A request
 * therefore always sees what was committed before it arrived. `onBegin` is called with each new snapshot.
 */
export function openTransactions(database: DatabaseSync, onBegin: () => void): Transactions {
  const begin = database.prepare('begin')
  const commit = database.prepare('commit')
  let isReading = false

  function endReading(): void {
    if (!isReading) return
    isReading = false
    // If a read failed with a storage error, SQLite has already ended the transaction.
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
