import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checkSecretFile, closingCommand, describeDenial } from '../../src/base/secret-file.ts'

const ROOT = 0
const SERVICE = 998
const STRANGER = 1000

const CASES: readonly (readonly [
  uid: number,
  mode: number,
  user: number | undefined,
  others: 'nothing' | 'read',
  fault: RegExp | undefined,
])[] = [
  [SERVICE, 0o100600, SERVICE, 'nothing', undefined],
  [ROOT, 0o100600, ROOT, 'nothing', undefined],
  [ROOT, 0o100400, SERVICE, 'nothing', undefined],
  [STRANGER, 0o100600, SERVICE, 'nothing', /belongs to the user 1000.*chown 998 \/f$/],
  [STRANGER, 0o100600, ROOT, 'nothing', /belongs to the user 1000.*Run it as the user 1000.*chown 0 \/f$/],
  [STRANGER, 0o100444, ROOT, 'read', /belongs to the user 1000/],
  [SERVICE, 0o100600, ROOT, 'nothing', /belongs to the user 998/],
  [STRANGER, 0o100600, undefined, 'nothing', undefined],
  ...[0o644, 0o640, 0o604, 0o620, 0o602, 0o666].map(
    (mode) => [SERVICE, mode, SERVICE, 'nothing', /^Other users may read \/f\. Run: chmod 600 \/f$/] as const,
  ),
  ...[0o644, 0o640, 0o604, 0o444, 0o600].map((mode) => [ROOT, mode, SERVICE, 'read', undefined] as const),
  ...[0o664, 0o646, 0o620, 0o602, 0o666].map(
    (mode) => [ROOT, mode, SERVICE, 'read', /^Other users may write to \/f\. Run: chmod go-w \/f$/] as const,
  ),
]

for (const [uid, mode, user, others, fault] of CASES) {
  const what = `of user ${uid} with mode ${mode.toString(8)}, used by ${user ?? 'a system without users'}, where others may ${others}`
  test(`STO-11: a file ${what} is ${fault === undefined ? 'accepted' : 'refused'}`, () => {
    const found = checkSecretFile('/f', { uid, mode }, user, others)
    if (fault === undefined) assert.equal(found, undefined)
    else assert.match(found ?? '', fault)
  })
}

test('STO-11: the command that closes a file leaves it readable for the process', () => {
  assert.equal(closingCommand('/f', { uid: SERVICE }, SERVICE), 'chmod 600 /f')
  assert.equal(closingCommand('/f', { uid: ROOT }, ROOT), 'chmod 600 /f')
  assert.equal(closingCommand('/f', { uid: ROOT }, SERVICE), 'chown 998 /f && chmod 600 /f')
  assert.equal(closingCommand('/f', { uid: STRANGER }, undefined), 'chmod 600 /f')
})

test('a file that may not be used is described by its owner, or by its mode if the process owns it', () => {
  const facts = { mode: 0o100600 }
  assert.equal(
    describeDenial('/f', { uid: ROOT, ...facts }, SERVICE),
    '/f belongs to the user 0, and this process runs as the user 998, who may not use it. Run it as the user 0, or run: chown 998 /f',
  )
  assert.match(describeDenial('/f', { uid: SERVICE, mode: 0o040500 }, SERVICE), /its mode 500.*Run: chmod u\+rwX \/f$/)
  assert.match(describeDenial('/f', { uid: 0, ...facts }, undefined), /^This user may not use \/f\./)
})
