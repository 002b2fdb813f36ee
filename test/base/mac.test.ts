import assert from 'node:assert/strict'
import { createHmac, randomBytes } from 'node:crypto'
import { test } from 'node:test'
import fc from 'fast-check'
import { CHARACTER } from '../support/arbitrary-texts.ts'
import { openMac } from '../../src/base/mac.ts'

const key = randomBytes(32)
const mac = openMac(key)
const expected = (text: string): string => createHmac('sha256', key).update(text).digest('base64url')

test('RFC 2104 §2: the prepared buffers give the same result as an HMAC object', () => {
  fc.assert(
    fc.property(fc.string({ unit: CHARACTER, maxLength: 600 }), (text) => assert.equal(mac(text), expected(text))),
  )
})

test('RFC 2104 §2: texts around every length limit, and a short text after a long one, are hashed right', () => {
  for (const length of [0, 1, 63, 64, 127, 128, 340, 341, 342, 343, 1023, 1024, 1025, 5000, 7]) {
    for (const unit of ['a', 'ü', '漢', '😀']) assert.equal(mac(unit.repeat(length)), expected(unit.repeat(length)))
  }
})
