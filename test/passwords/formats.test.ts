import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { openDeadline } from '../../src/passwords/deadline.ts'
import { readForeignHash } from '../../src/passwords/foreign-hash.ts'
import { costliest, readHash } from '../../src/passwords/formats.ts'
import { openPasswords } from '../../src/passwords/passwords.ts'
import { HASH_VECTORS, LONG_VECTOR, VECTOR_PASSWORD } from '../support/sign-in/hash-vectors.ts'

const NETWORK = '192.0.2.1'
const passwords = openPasswords(randomBytes, async () => [])

async function matches(password: string, stored: string | undefined): Promise<boolean> {
  return (await passwords.verify(password, stored, NETWORK)).isRight
}

function storedOf(text: string): string {
  const read = readForeignHash(text)
  assert.ok(typeof read !== 'string', text)
  return read.stored
}

test('IMP-01: the hash of each original program verifies the password alone, normalized only if it normalizes, and is replaceable', async () => {
  const normalized = VECTOR_PASSWORD.normalize('NFKC')
  assert.notEqual(normalized, VECTOR_PASSWORD)
  for (const { program, password, text } of HASH_VECTORS) {
    const read = readForeignHash(text)
    assert.ok(typeof read !== 'string', `${program}: ${text}`)
    const { isRight, replaceable } = await passwords.verify(password, read.stored, NETWORK)
    assert.deepEqual([isRight, replaceable], [true, read.format], `${program}: ${text}`)
    // What was typed is normalized for better-auth and Lucia, or the password would not be right.
    const isNormalizing = /^(better-auth|Lucia)/.test(program)
    const other = isNormalizing || password !== VECTOR_PASSWORD ? `${password} ` : normalized
    const wrong = await passwords.verify(other, read.stored, NETWORK)
    assert.deepEqual([wrong.isRight, wrong.replaceable], [false, undefined], `${program}: ${text}`)
    // What is stored can be read once more, and is the same.
    assert.equal(storedOf(read.stored), read.stored)
  }
})

test('IMP-01: what is stored of a hash of Firebase does not contain the signer key, nor reveal it', () => {
  const { text } = HASH_VECTORS.find((vector) => vector.text.startsWith('$fbscrypt$')) ?? LONG_VECTOR
  const [, signerKey = '', salt = '', hash = ''] = /,sk=(.*)\$(.*)\$(.*)$/.exec(text) ?? []
  const stored = storedOf(text)
  assert.match(stored, /^\$firebase-scrypt\$ln=14,r=8,p=1\$/)
  const [, kept = ''] = /([^$]*)$/.exec(stored) ?? []
  for (const secret of [signerKey, hash]) assert.notEqual(kept, secret.replaceAll('=', ''))
  // With another signer key the same password has another hash, and what is stored is the same.
  const otherKey = randomBytes(64)
  const bytes = [signerKey, hash].map((one) => Buffer.from(one, 'base64'))
  const otherHash = otherKey.map((byte, index) => byte ^ (bytes[0]?.[index] ?? 0) ^ (bytes[1]?.[index] ?? 0))
  const [key64, hash64] = [otherKey, Buffer.from(otherHash)].map((one) => one.toString('base64'))
  assert.equal(storedOf(`$fbscrypt$v=1,n=14,r=8,p=1,ss=Bw==,sk=${key64}$${salt}$${hash64}`), stored)
})

test('IMP-01: a truncated, empty, extended or swapped hash matches no password, and throws nothing', async () => {
  const texts = HASH_VECTORS.filter(({ program }) => !/better-auth|Lucia|firebase/.test(program)).map(({ text }) =>
    storedOf(text),
  )
  for (const [index, stored] of texts.entries()) {
    const parts = stored.split('$')
    const other = (texts[(index + 1) % texts.length] ?? '').split('$')
    const broken = [
      stored.slice(0, -1),
      stored.slice(0, -4),
      `${stored}AAAA`,
      parts.slice(0, -1).join('$'),
      [...parts.slice(0, -1), ''].join('$'),
      [...parts.slice(0, -2), '', parts.at(-1)].join('$'),
      [...parts.slice(0, -2), parts.at(-1), parts.at(-2)].join('$'),
      [...parts.slice(0, -2), other.at(-2), parts.at(-1)].join('$'),
    ]
    // A text that cannot be read costs as much as a hash of ours, so that a few of them are verified.
    for (const text of broken.filter((one) => one !== stored))
      assert.ok(typeof readHash(text) === 'string' || !(await matches(VECTOR_PASSWORD, text)), text)
  }
  for (const text of ['', '$', '$2b$', '$argon2id$', 'x'.repeat(600)]) assert.equal(typeof readHash(text), 'string')
  for (const text of ['', texts[0]?.slice(0, -1)]) assert.equal(await matches(VECTOR_PASSWORD, text), false)
})

const SALT = 'A'.repeat(22)
const HASH = 'B'.repeat(43)
const LONG = 'B'.repeat(86)

test('IMP-02: a hash at its limits is taken, and one beyond them is too expensive', () => {
  const atLimit = [
    `$argon2id$v=19$m=65536,t=10,p=4$${SALT}$${HASH}`,
    `$2b$12$${SALT}${'C'.repeat(31)}`,
    `$pbkdf2-sha256$i=1500000,l=32$${SALT}$${HASH}`,
    `$scrypt$ln=16,r=8,p=4$${SALT}$${HASH}`,
    `$fbscrypt$v=1,n=16,r=8,p=4,ss=,sk=${LONG}$${SALT}$${LONG}`,
    `$fbscrypt$v=1,n=14,r=8,p=1,sk=${LONG}$${SALT}$${LONG}`,
  ]
  for (const text of atLimit) assert.equal(typeof readForeignHash(text), 'object', text)
  const beyond = [
    `$argon2id$v=19$m=65537,t=10,p=4$${SALT}$${HASH}`,
    `$argon2id$v=19$m=65536,t=11,p=4$${SALT}$${HASH}`,
    `$argon2i$v=19$m=65536,t=10,p=5$${SALT}$${HASH}`,
    `$2b$13$${SALT}${'C'.repeat(31)}`,
    `$2y$31$${SALT}${'C'.repeat(31)}`,
    `$pbkdf2-sha256$i=1500001,l=32$${SALT}$${HASH}`,
    `$pbkdf2-sha512$i=9999999999$${SALT}$${HASH}`,
    `$scrypt$ln=17,r=8,p=1$${SALT}$${HASH}`,
    `$scrypt$ln=16,r=8,p=5$${SALT}$${HASH}`,
    `$scrypt$ln=4000000000,r=8,p=1$${SALT}$${HASH}`,
    `$fbscrypt$v=1,n=17,r=8,p=1,ss=Bw==,sk=${LONG}$${SALT}$${LONG}`,
    `$fbscrypt$v=1,n=14,r=8,p=5,ss=Bw==,sk=${LONG}$${SALT}$${LONG}`,
  ]
  for (const text of beyond) assert.equal(readForeignHash(text), 'hash_too_expensive', text)
})

test('IMP-02: a hash of a fast or unknown format, or with malformed parts, is not supported', () => {
  const refused = [
    '',
    'password',
    '5f4dcc3b5aa765d61d8327deb882cf99',
    '{SSHA}W6ph5Mm5Pz8GgiULbPgzG37mj9g=',
    '$1$salt$hash',
    `$2x$10$${SALT}${'C'.repeat(31)}`,
    `$2b$03$${SALT}${'C'.repeat(31)}`,
    `$2b$10$${SALT}${'C'.repeat(30)}`,
    `$argon2id$v=16$m=64,t=2,p=1$${SALT}$${HASH}`,
    `$argon2id$m=64,t=2,p=1$${SALT}$${HASH}`,
    `$argon2id$v=19$m=64,t=2,p=1,keyid=AA$${SALT}$${HASH}`,
    `$argon2id$v=19$m=64,t=2,t=3,p=1$${SALT}$${HASH}`,
    `$argon2id$v=19$m=7,t=2,p=1$${SALT}$${HASH}`,
    `$argon2id$v=19$m=64,t=0,p=1$${SALT}$${HASH}`,
    `$argon2id$v=19$m=64,t=2,p=1$AAAAAA$${HASH}`,
    `$argon2id$v=19$m=64,t=2,p=1$${SALT}$AAAA`,
    `$argon2id$v=19$m=64,t=2,p=1$${SALT}$${'B'.repeat(172)}`,
    `$argon2id$v=19$m=64,t=2,p=1,nfkc=2$${SALT}$${HASH}`,
    `$pbkdf2-sha1$i=999$${SALT}$${HASH}`,
    `$pbkdf2-md5$i=1000$${SALT}$${HASH}`,
    `$pbkdf2-sha256$i=1000,l=64$${SALT}$${HASH}`,
    `$pbkdf2-sha256$i=1000$AAAA$${HASH}`,
    `$pbkdf2-sha256$i=1000$${'A'.repeat(88)}$${HASH}`,
    `$scrypt$ln=16,r=1,p=1$${SALT}$${HASH}`,
    `$fbscrypt$v=2,n=14,r=8,p=1,ss=Bw==,sk=${LONG}$${SALT}$${LONG}`,
    `$fbscrypt$v=1,n=14,r=8,p=1,ss=Bw==,sk=${HASH}$${SALT}$${LONG}`,
    `$fbscrypt$v=1,n=14,r=8,p=1,ss=%,sk=${LONG}$${SALT}$${LONG}`,
    `$fbscrypt$v=1,n=14,r=8,p=1,ss=Bw==$${SALT}$${LONG}`,
    `$toString$a=1$${SALT}$${HASH}`,
    `$constructor$a=1$${SALT}$${HASH}`,
    `$pbkdf2-sha256$i=1000$${SALT}$${HASH}${'B'.repeat(500)}`,
  ]
  for (const text of refused) assert.equal(readForeignHash(text), 'hash_unsupported', text)
})

test('IMP-02: beside a verification that takes as long as is allowed, a hundred others are answered', async () => {
  const { text } = HASH_VECTORS.find((vector) => vector.text.startsWith('$argon2id$')) ?? LONG_VECTOR
  const stored = storedOf(text)
  const ended: string[] = []
  const longest = passwords.verify('wrong', `$2b$12$${SALT}${'C'.repeat(31)}`, '192.0.2.2')
  const answers = await Promise.all([
    longest.finally(() => void ended.push('longest')),
    ...Array.from({ length: 100 }, () =>
      passwords.verify(VECTOR_PASSWORD, stored, NETWORK).finally(() => void ended.push('other')),
    ),
  ])
  assert.equal(answers.filter(({ isRight }) => isRight).length, 100)
  // It has one of the two places, so that others end before it. How many depends on how busy the machine is.
  assert.ok(ended.indexOf('longest') >= 5, String(ended.indexOf('longest')))
})

test('IMP-12: bcrypt compares 72 bytes, so a longer password does not replace the hash', async () => {
  const { password, text } = LONG_VECTOR
  assert.equal(Buffer.byteLength(password), 73)
  for (const [typed, replaceable] of [
    [password, undefined],
    [password.slice(0, 72), 'bcrypt'],
    [`${password.slice(0, 72)} or anything`, undefined],
  ] as const) {
    const verified = await passwords.verify(typed, text, NETWORK)
    assert.deepEqual([verified.isRight, verified.replaceable], [true, replaceable], typed)
  }
  assert.equal(await matches(password.slice(0, 71), text), false)
})

test('IMP-12: a password with a NUL matches no hash of bcrypt', async () => {
  const { text } = HASH_VECTORS.find((vector) => vector.text.startsWith('$2b$')) ?? LONG_VECTOR
  assert.equal(await matches(VECTOR_PASSWORD, text), true)
  for (const typed of [`${VECTOR_PASSWORD}\0`, `${VECTOR_PASSWORD}\0more`, `\0${VECTOR_PASSWORD}`])
    assert.equal(await matches(typed, text), false)
})

test('IMP-03: of each format the costs that take longest remain', () => {
  const costs = [
    '$2b$04',
    '$2a$11',
    '$2b$10',
    '$pbkdf2-sha256$i=27500',
    '$pbkdf2-sha256$i=1000000',
    '$firebase-scrypt$ln=14,r=8,p=1',
  ]
  assert.deepEqual(costliest(costs), ['$2a$11', '$pbkdf2-sha256$i=1000000', '$firebase-scrypt$ln=14,r=8,p=1'])
  assert.deepEqual(costliest([]), [])
})

test('IMP-03: while hashes of other systems are stored, each failed sign-in takes as long as the slowest format', async () => {
  const formats: string[] = []
  const delayed = openPasswords(randomBytes, async () => formats)
  const [bcrypt, own] = [LONG_VECTOR.text, await delayed.hash(VECTOR_PASSWORD, NETWORK)]
  const fail = async (stored: string | undefined): Promise<number> => {
    const startedAt = performance.now()
    await (await delayed.verify('wrong', stored, NETWORK)).settled()
    return performance.now() - startedAt
  }
  // bcrypt of cost 4 takes a millisecond or two.
  assert.ok(Math.min(await fail(bcrypt), await fail(bcrypt), await fail(bcrypt)) < 100)
  formats.push('$2b$04')
  for (const stored of [bcrypt, own, undefined, 'no hash']) {
    const ms = await fail(stored)
    assert.ok(ms >= 99, `${stored}: ${ms} ms`)
  }
})

test('IMP-03: after a verification that took longer than the formats did when they were measured, the delay is longer', async () => {
  const settle = openDeadline(
    async () => ['$2b$04'],
    async () => undefined,
  )
  await settle(performance.now() - 150)
  const startedAt = performance.now()
  await settle(startedAt)
  const ms = performance.now() - startedAt
  assert.ok(ms >= 299, `${ms} ms`)
})
