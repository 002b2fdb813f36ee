import assert from 'node:assert/strict'
import { test } from 'node:test'
import { compared, loggable } from '../../src/protocol/compared.ts'

const CASES: readonly (readonly [value: unknown, text: string])[] = [
  ['https://auth.example.com', '"https://auth.example.com"'],
  [['https://a.example', 7, null], '["https://a.example",7,null]'],
  [undefined, 'none'],
  ['https://api.example/?token=abc#x', '"https://api.example/?…"'],
  ['ada@acme.test', '"…@acme.test"'],
  ['https://ada:pass@api.example', '"https://…@api.example"'],
  ['eyJhbGciOiJub25lIn0.eyJzdWIiOiJhZGEifQ.sig', '"eyJ…"'],
  ['gat_01a200f2d7f1OGrZM2nOk7CWgjISwIxFbQ', '"gat_…"'],
  ['gci_01a200f2d7f1OGrZM2nOk7CWgjISwIxFbQ', '"gci_01a200f2d7f1OGrZM2nOk7CWgjISwIxFbQ"'],
  ['a\u202eb\n', '"a\\u{202e}b\\n"'],
]

test('a compared value in the log is visible, cut, and has no address of a person, credential or token', () => {
  for (const [value, text] of CASES) assert.equal(loggable(value), text)
  assert.equal(loggable('x'.repeat(9000)).length, 201)
  assert.equal(
    compared(['https://a.example', 'https://b.example'], 'https://c.example'),
    'expected "https://a.example" or "https://b.example", received "https://c.example"',
  )
  assert.equal(compared([], undefined), 'expected none, received none')
})
