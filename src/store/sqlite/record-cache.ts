import type { DatabaseSync } from 'node:sqlite'
import type { Operation } from '../../ports/operations.ts'
import { changedRecord } from '../changes.ts'
import { openRecentRecords } from '../recent-records.ts'

/** Clients, users, organizations and who belongs to them, which token requests read, kept for as long as nothing can have changed them. */
export interface RecordCache {
  /** Drops everything if anybody else may have changed it. Called when a snapshot begins. */
  readonly refresh: () => void
  readonly read: <Id extends string, Found extends object>(
    id: Id,
    find: (id: Id) => Found | undefined,
  ) => Found | undefined
  /** Drops what an operation of this connection changes. Called with the operation, in its transaction. */
  readonly forget: (operation: Operation) => void
}

/**
 * Never stale: each snapshot first asks whether another connection committed anything since the one before
 * (https://sqlite.org/pragma.html#pragma_data_version).
 */
export function openRecordCache(database: DatabaseSync): RecordCache {
  const dataVersion = database.prepare('pragma data_version')
  const records = openRecentRecords<object>()
  let known: unknown

  return {
    refresh() {
      const version = dataVersion.get()?.['data_version']
      if (version !== known) records.clear()
      known = version
    },
    read<Id extends string, Found extends object>(id: Id, find: (id: Id) => Found | undefined) {
      // Ids are prefixed by kind, so what is found under one is of its kind.
      const kept = records.get(id) as Found | undefined
      if (kept !== undefined) return kept
      const found = find(id)
      if (found === undefined) return undefined
      records.set(id, found)
      return found
    },
    forget(operation) {
      const changed = changedRecord(operation)
      if (changed === 'everything') records.clear()
      else if (changed !== undefined) records.delete(changed.id)
    },
  }
}
