import type { Operation } from '../../ports/operations.ts'
import { changedRecord } from '../changes.ts'
import { openRecentRecords } from '../recent-records.ts'

/** Clients, users, organizations and who belongs to them, which token requests read, kept for a moment. */
export interface RecordCache {
  readonly read: <Id extends string, Found extends object>(
    id: Id,
    find: (id: Id) => Promise<Found | undefined>,
  ) => Promise<Found | undefined>
  /** Drops what an operation of this node changes. Called when it is about to happen and when it has. */
  readonly forget: (operation: Operation) => void
}

/** decisions.md D5: a disabled user or client is dead on every node within a second. */
const MAX_AGE_MS = 900

interface Kept {
  readonly record: object
  readonly until: number
}

/** What this node changes it sees at once; what another node changes, within MAX_AGE_MS. */
export function openRecordCache(now: () => number = () => performance.now()): RecordCache {
  const records = openRecentRecords<Kept>()
  /** By id, the latest question that is under way and not older than a change of what it asks for. */
  const questions = new Map<string, object>()
  return {
    async read<Id extends string, Found extends object>(id: Id, find: (id: Id) => Promise<Found | undefined>) {
      const kept = records.get(id)
      // Ids are prefixed by kind, so what is found under one is of its kind.
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
      const changed = changedRecord(operation)
      if (changed === undefined) return
      for (const known of [records, questions]) {
        if (changed === 'everything') known.clear()
        else known.delete(changed.id)
      }
    },
  }
}
