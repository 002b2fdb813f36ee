import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { AUDIT_EVENTS } from '../../src/protocol/audit/event-names.ts'

/** The files that name audit events outside of a call of `report` or `recordEvent`. */
const RECORDERS = [
  ...globSync('src/store/nouns/**/*.ts'),
  'src/audit/token-counter.ts',
  'src/audit/recorder.ts',
  'src/admin/audit/list.ts',
  'src/protocol/audit/audit-link.ts',
]
const WORD = /^[a-z-]+\.[a-z-]+$/

test('the table of audit events has exactly those that the code records', () => {
  const recorded = [
    ...RECORDERS.flatMap((path) => namesIn(readFileSync(path, 'utf8'), /'([a-z-]+\.[a-z-]+)'/g)),
    ...globSync('src/**/*.ts').flatMap((path) =>
      namesIn(readFileSync(path, 'utf8'), /\b(?:report|recordEvent)\(\{\s*event: '([^']+)'/g),
    ),
  ].filter((word) => WORD.test(word) && word !== 'audit.recording-failed')
  assert.ok(recorded.length > 40)
  assert.deepEqual([...new Set(recorded)].toSorted(), AUDIT_EVENTS.toSorted())
})

function namesIn(text: string, pattern: RegExp): readonly string[] {
  return [...text.matchAll(pattern)].map(([, word]) => word ?? '')
}
