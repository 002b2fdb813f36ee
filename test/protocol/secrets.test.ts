import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { test } from 'node:test'
import fc from 'fast-check'
import type { EpochMs } from '../../src/base/brand.ts'
import { mintOrderedId } from '../../src/protocol/ids.ts'
import { problem } from '../../src/base/validation.ts'
import { openSecrets, sameText, type CredentialKind, type MintedCredential } from '../../src/protocol/secrets.ts'

const KINDS = [
  'client-secret',
  'authorization-code',
  'device-code',
  'refresh-token',
  'session',
  'browser',
] as const satisfies readonly CredentialKind[]
const secrets = openSecrets('a root secret that is long enough for a test')
let seed = 0

/** Returns different bytes for each call, and the same bytes in each run. */
function random(bytes: number): Buffer {
  seed += 1
  return createHmac('sha512', 'seed').update(String(seed)).digest().subarray(0, bytes)
}

const NOW = 1_800_000_000_000 as EpochMs

function mint(kind: CredentialKind, id = mintOrderedId(NOW, random)): MintedCredential {
  return kind === 'refresh-token' ? secrets.mintFamily(id, NOW, random) : secrets.mint(kind, id, random)
}

function seal(kind: CredentialKind): string {
  return mint(kind).token
}

test('decision 0003: a credential is verified as its own kind, and gives its id and hash', () => {
  for (const kind of KINDS) {
    const id = mintOrderedId(NOW, random)
    const { token, hash } = mint(kind, id)
    assert.match(token, /^g[a-z]{2}_[A-Za-z0-9_-]+$/)
    const issuedAt = kind === 'refresh-token' ? NOW : 0
    assert.deepEqual(secrets.verify(kind, token), { id, generation: 0, issuedAt, hash })
    assert.ok(!token.includes(hash), 'The credential contains the hash of the store.')
  }
})

test('STO-03: a credential is never verified as another kind, even with the prefix of that kind', () => {
  for (const kind of KINDS)
    for (const other of KINDS.filter((one) => one !== kind)) {
      const token = seal(kind)
      assert.equal(secrets.verify(other, token), undefined)
      assert.equal(secrets.verify(other, seal(other).slice(0, 4) + token.slice(4)), undefined)
    }
})

test('TOK-20: an edited credential is not verified', () => {
  for (const kind of KINDS) {
    const token = seal(kind)
    const mutants = [
      ...Array.from({ length: token.length }, (_, end) => token.slice(0, end)),
      ...Array.from({ length: token.length }, (_, start) => token.slice(start + 1)),
      ...['A', '=', '==', '_', ' ', '\n', '\u0000', token].map((tail) => token + tail),
      ` ${token}`,
      token.toUpperCase(),
      token.toLowerCase(),
      token.replace('g', 'ｇ'),
      token.replace('_', '\u2017'),
    ]
    for (const mutant of mutants) assert.equal(secrets.verify(kind, mutant), undefined, JSON.stringify(mutant))
  }
})

test('TOK-20: a change of any character is detected, including the last bits of the base64url', () => {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
  const token = seal('refresh-token')
  for (let at = 0; at < token.length; at += 1)
    for (const letter of alphabet)
      if (letter !== token[at])
        assert.equal(secrets.verify('refresh-token', token.slice(0, at) + letter + token.slice(at + 1)), undefined)
})

test('decision 0003: a made-up credential is not verified', () => {
  const fields = fc.string({ unit: fc.constantFrom(...'abcdef0123456789_-XYZ'), minLength: 99, maxLength: 105 })
  const property = fc.property(fc.constantFrom(...KINDS), fields, (kind, text) => {
    assert.equal(secrets.verify(kind, seal(kind).slice(0, 4) + text), undefined)
  })
  fc.assert(property, { numRuns: 500 })
})

test('decision 0003: no credential is verified under another root secret', () => {
  const other = openSecrets('another root secret that is long enough too')
  for (const kind of KINDS) assert.equal(other.verify(kind, seal(kind)), undefined)
})

test('decision 0004: each token of a family gives those of other generations in one step, with their times under the tag', () => {
  const first = seal('refresh-token')
  const opened = secrets.verify('refresh-token', first)
  assert.ok(opened)
  const places = [1, 2, 5000, 0xffffff].map((generation) => ({ generation, issuedAt: (NOW + generation) as EpochMs }))
  const tokens = places.map((place) => secrets.atGeneration(first, place))
  for (const [index, { token, hash }] of tokens.entries()) {
    assert.deepEqual(secrets.verify('refresh-token', token), { id: opened.id, ...places[index], hash })
    assert.equal(token.length, first.length)
    for (const [other, place] of places.entries()) assert.deepEqual(secrets.atGeneration(token, place), tokens[other])
    assert.deepEqual(secrets.atGeneration(token, { generation: 0, issuedAt: NOW }), { token: first, hash: opened.hash })
  }
  const [place = { generation: 1, issuedAt: NOW }] = places
  const others = [
    secrets.atGeneration(first, { ...place, issuedAt: NOW }),
    secrets.atGeneration(seal('refresh-token'), place),
    openSecrets('another root secret of length 32').atGeneration(first, place),
  ]
  assert.equal(new Set([...tokens, ...others].map(({ token }) => token.slice(-22))).size, tokens.length + others.length)
})

test('AG-13: a token of another generation costs the same, whatever the distance', () => {
  const first = seal('refresh-token')
  const before = process.cpuUsage()
  // One step for each generation would be 30 million of them.
  for (let count = 0; count < 30; count += 1) secrets.atGeneration(first, { generation: 1_000_000, issuedAt: NOW })
  const { user, system } = process.cpuUsage(before)
  assert.ok(user + system < 1_000_000, `${user + system} µs`)
})

test('decision 0003: every release makes the same credentials of the same root secret, because releases run side by side', () => {
  const fixed = openSecrets('a root secret that does not change, 32+ characters')
  const id = '0199aabbccddAAAAAAAAAAAAAAAAAAAAAA'
  const first = fixed.mintFamily(id, NOW, (bytes) => Buffer.alloc(bytes, 7))
  assert.deepEqual(first, {
    token:
      'grt_0199aabbccddAAAAAAAAAAAAAAAAAAAAAA0000001a3185c5000BwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcFfHrtHpVt6GSeAQ2waH_Xn',
    hash: 'yjcOckmv0HhNXgFnW-9r8',
  })
  assert.deepEqual(fixed.atGeneration(first.token, { generation: 1, issuedAt: (NOW + 1) as EpochMs }), {
    token:
      'grt_0199aabbccddAAAAAAAAAAAAAAAAAAAAAA0000011a3185c5001BwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcss8bMMIE_Y5OXxY80oVhN0',
    hash: 'xVUo2g2BXgyGePUXjZ-wE',
  })
  assert.deepEqual(fixed.derive('authorization-code', id, ['a', 'b']), {
    token: 'gac_0199aabbccddAAAAAAAAAAAAAAAAAAAAAAO0hB-w-Cjt37rc3F5Q_VBrKl7bpWQyf6ETWOCBjAGUAaVjbMdekj1vwNcyHrBTbTd',
    hash: 'AP3VHQO3eL2d66JF2RB_E',
  })
})

test('AUTH-19: credentials are unique and have 256 random bits besides their id', () => {
  const id = mintOrderedId(NOW, random)
  const seen = new Set(Array.from({ length: 2000 }, () => secrets.mint('authorization-code', id, random).token))
  assert.equal(seen.size, 2000)
  const asked: number[] = []
  secrets.mint('authorization-code', id, (bytes) => (asked.push(bytes), random(bytes)))
  assert.deepEqual(asked, [32])
})

test('decision 0003: a digest depends on its purpose and its parts, and one part never equals two', () => {
  const digest = secrets.digest('csrf', ['a', 'b'])
  assert.ok(secrets.digestMatches('csrf', ['a', 'b'], digest))
  const others = [['a'], ['a,b'], ['ab'], ['a', 'b', ''], ['b', 'a'], ['a","b'], []]
  for (const parts of others) assert.ok(!secrets.digestMatches('csrf', parts, digest), parts.join('|'))
  assert.ok(!secrets.digestMatches('bucket', ['a', 'b'], digest))
  assert.ok(!secrets.digestMatches('csrf', ['a', 'b'], ''))
})

test('TOK-13: texts of different length or content differ, and equal texts are equal', () => {
  fc.assert(fc.property(fc.string(), fc.string(), (left, right) => assert.equal(sameText(left, right), left === right)))
  assert.ok(sameText('ä€😀', 'ä€😀'))
  assert.ok(!sameText('a', 'ä'))
})

test('decision 0005: a problem of a field that holds a secret never has its value', () => {
  for (const field of ['client_secret', 'code', 'code_verifier', 'refresh_token', 'password', 'client_assertion'])
    for (const loc of [
      ['body', field],
      ['query', field],
      ['body', field, '0'],
    ])
      assert.equal(problem(loc, 'value_error', 'No.', 'the-value', {}).input, null, loc.join('.'))
  assert.equal(problem(['body', 'scope'], 'value_error', 'No.', 'the-value', {}).input, 'the-value')
})
