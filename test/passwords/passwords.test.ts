import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import type { Passwords } from '../../src/ports/context.ts'
import { openPasswords } from '../../src/passwords/passwords.ts'
import { OAuthError } from '../../src/protocol/errors.ts'

const OTHER = '192.0.2.1'
/** A hash of the lowest cost, where many are computed. */
const CHEAP = `$argon2id$v=19$m=8,t=1,p=1$${'A'.repeat(22)}$${'A'.repeat(43)}`

async function matches(passwords: Passwords, password: string, stored: string | undefined): Promise<boolean> {
  return (await passwords.verify(password, stored, OTHER)).isRight
}

test('a password verifies against its hash, and no other password does', async () => {
  const passwords = openPasswords(randomBytes, async () => [])
  const phc = await passwords.hash('correct horse battery staple', OTHER)
  assert.match(phc, /^\$argon2id\$v=19\$m=19456,t=2,p=1\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$/)
  assert.equal(await matches(passwords, 'correct horse battery staple', phc), true)
  for (const wrong of ['correct horse ', 'Correct horse', '', 'correct hors'])
    assert.equal(await matches(passwords, wrong, phc), false)
})

test('the same password typed on another keyboard verifies', async () => {
  const passwords = openPasswords(randomBytes, async () => [])
  assert.equal(await matches(passwords, 'Cafe\u0301-Passwort', await passwords.hash('Caf\u00e9-Passwort', OTHER)), true)
})

test('without an account no password verifies, and the work is the same', async () => {
  const passwords = openPasswords(randomBytes, async () => [])
  assert.equal(await matches(passwords, 'anything', undefined), false)
})

test('hashing does not block the event loop', async () => {
  const passwords = openPasswords(randomBytes, async () => [])
  const work = Promise.all(Array.from({ length: 8 }, () => passwords.hash('correct horse battery staple', OTHER)))
  let turns = 0
  const counter = setInterval(() => (turns += 1), 1)
  await work
  clearInterval(counter)
  assert.ok(turns > 10, `${turns} turns of the event loop`)
})

test('UI-09: beyond a hundred waiting hashes those of the busiest site are refused, and another network is next', async () => {
  const passwords = openPasswords(randomBytes, async () => [])
  const ended: string[] = []
  const verify = (network: string): Promise<unknown> =>
    passwords.verify('x', CHEAP, network).finally(() => void ended.push(network))
  const site = Array.from({ length: 110 }, (_, index) => verify(`2001:db8:1:${index.toString(16)}::/64`))
  const results = await Promise.allSettled([...site, verify(OTHER)])
  const refused = results.filter((result) => result.status === 'rejected')
  assert.equal(refused.length, 9)
  for (const { reason } of refused) assert.ok(reason instanceof OAuthError && reason.reason === 'password_queue_full')
  assert.equal(results.at(-1)?.status, 'fulfilled')
  // The refusals, the hashes that were computed when it came, and one that may be complete at the same time.
  assert.ok(ended.indexOf(OTHER) <= refused.length + 3, String(ended.indexOf(OTHER)))
  assert.equal(await matches(passwords, 'x', undefined), false)
})
