import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  intersect,
  isWithin,
  narrow,
  parseScope,
  SCOPE_TOKEN_FORM,
  scopeTokens,
  unite,
  type Scope,
} from '../../../src/protocol/token/scope.ts'

const scope = (text: string): Scope => {
  const parsed = parseScope(text)
  assert.ok(parsed !== undefined, text)
  return parsed
}

test('RFC 6749 §3.3: scope tokens are separated by spaces, unique, and keep their order', () => {
  assert.equal(scope('write read  read write'), 'write read')
  assert.deepEqual(scopeTokens(scope(' a ')), ['a'])
  assert.deepEqual(scopeTokens(scope('')), [])
})

test('RFC 6749 §3.3: a scope token has printable ASCII characters except quotes and backslashes', () => {
  for (const good of ['read', 'files:read', 'https://api.test/read', "!#[]~'"]) assert.equal(parseScope(good), good)
  for (const bad of ['a"b', 'a\\b', 'ü', 'a\tb', 'a\nb', '\u0000', 'a\u007f'])
    assert.equal(parseScope(bad), undefined, bad)
})

test('a scope with more than 250 tokens is refused, and a name may be longer than one that can be declared', () => {
  const many = (count: number): string => Array.from({ length: count }, (_, index) => `s${index}`).join(' ')
  assert.equal(parseScope(many(250)), many(250))
  assert.equal(parseScope(many(251)), undefined)
  assert.equal(parseScope('x'.repeat(100)), 'x'.repeat(100))
  assert.equal(parseScope('x'.repeat(101)), 'x'.repeat(101))
  assert.ok(SCOPE_TOKEN_FORM.test('x'.repeat(100)) && !SCOPE_TOKEN_FORM.test('x'.repeat(101)))
})

test('a scope is within another if the other contains all its tokens in any order', () => {
  const cases: readonly (readonly [part: string, whole: string, expected: boolean])[] = [
    ['', '', true],
    ['', 'a', true],
    ['a', '', false],
    ['b a', 'a b c', true],
    ['a d', 'a b c', false],
    ['rea', 'read', false],
  ]
  for (const [part, whole, expected] of cases)
    assert.equal(isWithin(scope(part), scope(whole)), expected, `${part} in ${whole}`)
})

test('the union of scopes has no duplicates, and narrowing and intersection keep the order', () => {
  assert.equal(intersect(scope('c b a'), scope('a c d')), 'c a')
  assert.equal(intersect(scope('a'), scope('b')), '')
  assert.equal(unite(scope('a b'), scope('b c')), 'a b c')
  assert.equal(
    narrow(scope('c b a'), (token) => token !== 'b'),
    'c a',
  )
})
