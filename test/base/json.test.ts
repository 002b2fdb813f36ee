import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readJson } from '../../src/base/json.ts'

test('malformed JSON is 422, and JSON that is not allowed is 400', () => {
  const cases: readonly (readonly [text: string, status: number, type: string])[] = [
    ['', 422, 'json_invalid'],
    ['{', 422, 'json_invalid'],
    ['{"a":1,}', 422, 'json_invalid'],
    ["{'a':1}", 422, 'json_invalid'],
    ['{"__proto__":{"polluted":true}}', 400, 'value_error'],
    ['{"a":{"constructor":{}}}', 400, 'value_error'],
    ['[[[[[[1]]]]]]', 400, 'value_error'],
    [`{${Array.from({ length: 201 }, (_, index) => `"k${index}":1`).join(',')}}`, 400, 'value_error'],
  ]
  for (const [text, status, type] of cases) {
    const reading = readJson(text)
    assert.ok(reading.kind === 'malformed', text)
    assert.deepEqual([reading.status, reading.problem.type], [status, type], text)
  }
  assert.equal(({} as { polluted?: boolean }).polluted, undefined)
})

test('five levels of nesting and a hundred members are accepted, and the last of duplicate members counts', () => {
  assert.deepEqual(readJson('{"a":1,"a":2}'), { kind: 'read', value: { a: 2 } })
  assert.deepEqual(readJson('{"jwks":{"keys":[{"key_ops":["verify"]}]}}'), {
    kind: 'read',
    value: { jwks: { keys: [{ key_ops: ['verify'] }] } },
  })
  assert.equal(readJson(`{${Array.from({ length: 100 }, (_, index) => `"k${index}":1`).join(',')}}`).kind, 'read')
})
