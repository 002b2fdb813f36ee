import type { Operation } from '../../ports/operations/index.ts'
import { changedRecords } from '../effects.ts'
import { openRecentRecords } from '../recent-records.ts'

/** Caches for a short time the records that token requests read: clients, users, organizations, memberships, installations. */
export interface RecordCache {
  readonly read: <Id extends string, Found extends object>(
    id: Id,
    find: (id: Id) => Promise<Found | undefined>,
  ) => Promise<Found | undefined>
  /** Drops the records that an operation of this node changes. Called before the operation is committed and after. */
  readonly forget: (operation: Operation) => void
}

/** Decision 0005: a disabled user or client is rejected by every node within a second. */
const MAX_AGE_MS = 900

interface Kept {
  readonly record: object
  readonly until: number
}

/** Changes of this node are visible at once, changes of other nodes within MAX_AGE_MS. */
export function openRecordCache(now: () => number = () => performance.now()): RecordCache {
  const records = openRecentRecords<Kept>()
  /** By id, the latest read that is in progress and that no later change has outdated. */
  const questions = new Map<string, object>()
  return {
    async read<Id extends string, Found extends object>(id: Id, find: (id: Id) => Promise<Found | undefined>) {
      const kept = records.get(id)
      // Keys differ by their kind (operations/organization.ts), so the record has the requested kind.
      if (kept !== undefined && kept.until > now()) return kept.record as Found
      records.delete(id)
      const question = { until: now() + MAX_AGE_MS }
      questions.set(id, question)
      try {
        const record = await find(id)
        if (record !== undefined && questions.get(id) === question) records.set(id, { record, until: question.until })
        return record
      } finally {
        if (questions.get(id) === question) questions.delete(id)
      }
    },
    forget(operation) {
      const changed = changedRecords(operation)
      for (const known of [records, questions]) {
        if (changed === 'everything') known.clear()
        else for (const key of changed) known.delete(key)
      }
    },
  }
}
