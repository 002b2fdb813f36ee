import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { AUDIT_EVENTS } from '../../src/protocol/event-names.ts'

/** Words of the log and of answers, which stand beside those of the audit in the same files. */
const TELLERS = [
  'src/audit/operation-events.ts',
  'src/audit/token-counter.ts',
  'src/audit/recorder.ts',
  'src/admin/audit.ts',
]
const WORD = /^[a-z-]+\.[a-z-]+$/

test('docs/audit.md explains every event of the audit, and no other; each may be asked for', () => {
  const told = [
    ...TELLERS.flatMap((path) => wordsOf(readFileSync(path, 'utf8'), /'([a-z-]+\.[a-z-]+)'/g)),
    ...globSync('src/**/*.ts').flatMap((path) =>
      wordsOf(readFileSync(path, 'utf8'), /\b(?:report|recordEvent)\(\{\s*event: '([^']+)'/g),
    ),
  ].filter((word) => WORD.test(word) && word !== 'audit.recording-failed')
  const explained = wordsOf(readFileSync('docs/audit.md', 'utf8'), /^\| `([a-z-]+\.[a-z-]+)`/gm)
  assert.ok(told.length > 40)
  assert.deepEqual([...new Set(told)].toSorted(), explained.toSorted())
  assert.deepEqual(AUDIT_EVENTS.toSorted(), explained.toSorted(), 'What may be asked for is what is told.')
})

function wordsOf(text: string, pattern: RegExp): readonly string[] {
  return [...text.matchAll(pattern)].map(([, word]) => word ?? '')
}
