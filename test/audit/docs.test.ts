import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { AUDIT_EVENTS } from '../../src/protocol/event-names.ts'

/** The files that name audit events outside of a call of `report` or `recordEvent`. */
const RECORDERS = [
  'src/audit/operation-events.ts',
  'src/audit/token-counter.ts',
  'src/audit/recorder.ts',
  'src/admin/audit.ts',
]
const WORD = /^[a-z-]+\.[a-z-]+$/

test('docs/audit.md explains every audit event and no other, and each can be filtered by', () => {
  const recorded = [
    ...RECORDERS.flatMap((path) => wordsOf(readFileSync(path, 'utf8'), /'([a-z-]+\.[a-z-]+)'/g)),
    ...globSync('src/**/*.ts').flatMap((path) =>
      wordsOf(readFileSync(path, 'utf8'), /\b(?:report|recordEvent)\(\{\s*event: '([^']+)'/g),
    ),
  ].filter((word) => WORD.test(word) && word !== 'audit.recording-failed')
  const explained = wordsOf(readFileSync('docs/audit.md', 'utf8'), /^\| `([a-z-]+\.[a-z-]+)`/gm)
  assert.ok(recorded.length > 40)
  assert.deepEqual([...new Set(recorded)].toSorted(), explained.toSorted())
  assert.deepEqual(AUDIT_EVENTS.toSorted(), explained.toSorted(), 'The filter accepts exactly the recorded events.')
})

function wordsOf(text: string, pattern: RegExp): readonly string[] {
  return [...text.matchAll(pattern)].map(([, word]) => word ?? '')
}
