import assert from 'node:assert/strict'
import { test } from 'node:test'
import { normalizeEmail } from '../../../src/protocol/sign-in/email-address.ts'

test('an email address has one normalized spelling', () => {
  for (const text of ['ada@acme.test', ' Ada@ACME.test ', 'ada@acme.test\n', 'ａda@acme.test']) {
    assert.equal(normalizeEmail(text), 'ada@acme.test')
  }
})

test('a text that cannot be an email address gives an empty text', () => {
  for (const text of [
    '',
    'ada',
    '@acme.test',
    'ada@',
    'a@b@c',
    'a b@acme.test',
    'a\u0000@acme.test',
    `${'a'.repeat(250)}@acme.test`,
  ]) {
    assert.equal(normalizeEmail(text), '', text)
  }
})
