import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readCommonPasswords } from '../../src/passwords/common-passwords.ts'

test('the list of common passwords has 10,000 different ones, in the form in which passwords are compared with it', () => {
  const words = readCommonPasswords().trim().split(' ')
  assert.equal(new Set(words).size, 10_000)
  const others = words.filter((word) => [...word].length < 8 || word !== word.normalize('NFKC').toLowerCase())
  assert.deepEqual(others, [])
})
