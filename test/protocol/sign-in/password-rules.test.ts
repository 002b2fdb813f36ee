import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { openPasswords } from '../../../src/passwords/passwords.ts'
import { findPasswordFault, shortestPassword } from '../../../src/protocol/sign-in/password-rules.ts'

const { isCommon } = openPasswords(randomBytes, async () => [])
const words = ['ada.lovelace@acme.test', 'ada.lovelace', 'Ada Lovelace', '127.0.0.1', 'auth.acme.test', 'Änder-Bank']

function faultOf(password: string, shortest = 15): string | undefined {
  return findPasswordFault(password, { shortest, words, isCommon })
}

const CASES: readonly (readonly [why: string, password: string, expected: string | undefined])[] = [
  ['14 characters', 'four words, up', 'password-too-short'],
  ['15 characters', 'four words, ups', undefined],
  ['14 characters, one of them typed as two code points', 'fo\u0308ur words, up', 'password-too-short'],
  ['15 characters, one of them typed as two code points', 'fo\u0308ur words, ups', undefined],
  ['14 characters of two UTF-16 units', '😀😁😂😃😄😅😆😇😈😉😊😋😌😍', 'password-too-short'],
  ['15 characters of two UTF-16 units', '😀😁😂😃😄😅😆😇😈😉😊😋😌😍😎', undefined],
  ['13 characters that are 15 in the compatibility form', 'four words, ﬃ', undefined],
  ['1,024 bytes', 'abcdefgh'.repeat(128), undefined],
  ['1,025 bytes', `${'abcdefgh'.repeat(128)}i`, 'password-too-long'],
  ['1,026 bytes in 513 characters', 'äöüßé'.repeat(103).slice(2), 'password-too-long'],
  ['1,035 bytes that are 690 in the compatibility form', 'ＡａＢｂＣｃ'.repeat(58).slice(3), undefined],
  ['four different characters', 'abcdabcdabcdabcdaabb', 'password-common'],
  ['five different characters', 'abcdeabcdabcdabcdaabb', undefined],
  ['a common password', 'qwerty123456789', 'password-common'],
  ['in other letters', 'QwErTy123456789', 'password-common'],
  ['in letters of full width', 'ｑｗｅｒｔｙ123456789', 'password-common'],
  ['with digits and punctuation around it', '!!2024-Liverpool-2025!!', 'password-common'],
  ['with digits and punctuation in it', 'q.w.e.r.t.y.1.2.3.4.5.6.7.8.9', 'password-common'],
  ['repeated', 'LiverpoolLiverpool', 'password-common'],
  ['repeated with digits around', '1liverpool-liverpool1', 'password-common'],
  ['a common password and another word', 'liverpool in the rain', undefined],
  ['two common passwords that are neighbours in the list', 'password 12345678 abc', undefined],
  ['the address', 'Ada.Lovelace@ACME.test', 'password-common'],
  ['the local part and digits', 'ada.lovelace1815', 'password-common'],
  ['the name', 'Ada Lovelace 1815', 'password-common'],
  ['the name without the space', '__AdaLovelace__1815', 'password-common'],
  ['the name, twice', 'adalovelace+adalovelace', 'password-common'],
  ['the host', 'auth.acme.test!!', 'password-common'],
  ['the name of the server, on another keyboard', 'a\u0308nder-bank 2026!', 'password-common'],
  ['the name and another word', 'ada lovelace and her engine', undefined],
  ['digits beside a host of digits', '98127001438823571', undefined],
  ['four words', 'correct horse battery staple', undefined],
]

for (const [why, password, expected] of CASES)
  test(`PWD-01: NIST SP 800-63B-4 §3.1.1.2: ${why}: ${expected ?? 'accepted'}`, () => {
    assert.equal(faultOf(password), expected)
  })

test('PWD-01: with a required second factor 8 characters are enough, and the other rules hold', () => {
  assert.equal(shortestPassword({ secondFactor: 'optional' }), 15)
  const shortest = shortestPassword({ secondFactor: 'required' })
  assert.deepEqual(
    ['hors bat', 'hors ba', 'computer', '127.0.0.1', 'aaaabbbb'].map((password) => faultOf(password, shortest)),
    [undefined, 'password-too-short', 'password-common', 'password-common', 'password-common'],
  )
})
