import { readRecordLines } from '../input-file.ts'
import { IMPORTED, type ImportedKind, type SourceRecord } from '../records.ts'
import type { Source } from '../source.ts'
import { sourceRecord } from './attributes.ts'

/** The neutral format: whatever a program can write. */
export const NEUTRAL: Source = {
  verb: 'users',
  summary: 'Import users, organizations and clients from the neutral format, a JSON object on each line.',
  argument: ['ndjson', 'the file; --schema prints what its lines are'],
  switches: [],
  options: [],
  namesProvidersHere: true,
  paths: ({ main }) => [main],
  *read({ main }): Generator<SourceRecord> {
    for (const { line, value } of readRecordLines(main)) {
      const type = value?.['type']
      const kind = typeof type === 'string' && Object.hasOwn(IMPORTED, type) ? (type as ImportedKind) : 'user'
      yield sourceRecord(kind, line, value?.[kind === 'client' ? 'client_id' : 'id'], { value })
    }
  },
}
