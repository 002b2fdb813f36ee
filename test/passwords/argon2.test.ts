import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { openPasswords } from '../../src/passwords/argon2.ts'
import { OAuthError } from '../../src/protocol/errors.ts'

test('a password verifies against its hash, and no other password does', async () => {
  const passwords = openPasswords(randomBytes)
  const phc = await passwords.hash('correct horse')
  assert.match(phc, /^\$argon2id\$v=19\$m=19456,t=2,p=1\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$/)
  assert.equal(await passwords.verify('correct horse', phc), true)
  for (const wrong of ['correct horse ', 'Correct horse', '', 'correct hors'])
    assert.equal(await passwords.verify(wrong, phc), false)
})

test('the same password typed on another keyboard verifies', async () => {
  const passwords = openPasswords(randomBytes)
  assert.equal(await passwords.verify('Cafe\u0301-Passwort', await passwords.hash('Caf\u00e9-Passwort')), true)
})

test('without an account no password verifies, and the work is the same', async () => {
  const passwords = openPasswords(randomBytes)
  assert.equal(await passwords.verify('anything', undefined), false)
})

test('hashing does not block the event loop', async () => {
  const passwords = openPasswords(randomBytes)
  const work = Promise.all(Array.from({ length: 8 }, () => passwords.hash('correct horse')))
  let turns = 0
  const counter = setInterval(() => (turns += 1), 1)
  await work
  clearInterval(counter)
  assert.ok(turns > 10, `${turns} turns of the event loop`)
})

test('beyond a hundred waiting hashes further ones are refused with temporarily_unavailable, and the others are computed', async () => {
  const passwords = openPasswords(randomBytes)
  const results = await Promise.allSettled(Array.from({ length: 110 }, () => passwords.verify('x', undefined)))
  const refused = results.filter((result) => result.status === 'rejected')
  assert.equal(refused.length, 8)
  for (const { reason } of refused) assert.ok(reason instanceof OAuthError && reason.reason === 'password_queue_full')
  assert.equal(await passwords.verify('x', undefined), false)
})
