import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { mintRecoveryCodes, readRecoveryCode } from '../../../src/protocol/sign-in/recovery-code.ts'

test('NIST SP 800-63B-4 §3.1.2.1: a recovery code is 16 of 32 letters, each as likely as the others', () => {
  const letters = new Set<string>()
  for (let byte = 0; byte < 256; byte += 1) {
    const [code = '', ...others] = mintRecoveryCodes((size) => Buffer.alloc(size, byte))
    assert.equal(others.length, 9)
    assert.match(code, /^([a-z0-9]{4}-){3}[a-z0-9]{4}$/)
    letters.add(code[0] ?? '')
  }
  assert.equal(letters.size, 32)
  assert.equal([...'iol1'].filter((letter) => letters.has(letter)).length, 0)
})

test('a recovery code is read as people type it, and nothing else is', () => {
  const [code = ''] = mintRecoveryCodes(randomBytes)
  const bare = code.replaceAll('-', '')
  for (const typed of [code, bare, code.toUpperCase(), ` ${code} `, code.replaceAll('-', ' ')]) {
    assert.equal(readRecoveryCode(typed), bare, typed)
  }
  for (const typed of ['', bare.slice(1), `${bare}a`, `${bare.slice(1)}l`, `${bare.slice(1)}ı`, `${bare.slice(1)}_`]) {
    assert.equal(readRecoveryCode(typed), undefined, typed)
  }
})
