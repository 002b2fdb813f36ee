import type { DatabaseSync } from 'node:sqlite'
import type { Operation } from '../../ports/operations/index.ts'
import { changedRecords } from '../effects.ts'
import { openRecentRecords } from '../recent-records.ts'

/**
 * Caches the records that token requests read (clients, users, organizations, memberships, installations) as long as they
 * cannot have changed.
 */
export interface RecordCache {
  /** Drops all records if another connection may have changed them. Called when a snapshot begins. */
  readonly refresh: () => void
  readonly read: <Id extends string, Found extends object>(
    id: Id,
    find: (id: Id) => Found | undefined,
  ) => Found | undefined
  /** Drops the records that an operation of this connection changes. Called in the operation's transaction. */
  readonly forget: (operation: Operation) => void
}

/**
 * Never stale: each snapshot first asks SQLite whether another connection has committed since the previous snapshot
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
      // Keys differ by their kind (operations/organization.ts), so the record has the requested kind.
      const kept = records.get(id) as Found | undefined
      if (kept !== undefined) return kept
      const found = find(id)
      if (found === undefined) return undefined
      records.set(id, found)
      return found
    },
    forget(operation) {
      const changed = changedRecords(operation)
      if (changed === 'everything') records.clear()
      else for (const key of changed) records.delete(key)
    },
  }
}
