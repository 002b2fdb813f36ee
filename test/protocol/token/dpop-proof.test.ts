import assert from 'node:assert/strict'
import { createHmac, generateKeyPairSync } from 'node:crypto'
import { test } from 'node:test'
import {
  endOfNonce,
  endOfProof,
  findProofFault,
  isThumbprint,
  nonceOf,
  parseDpopProof,
  provesToken,
  thumbprintOf,
  type DpopProof,
  type JwkThumbprint,
} from '../../../src/protocol/token/dpop-proof.ts'
import { openProofVerifier } from '../../../src/keys/proof-verifier.ts'
import { openUsedProofs } from '../../../src/keys/used-proofs.ts'
import { after, type EpochMs } from '../../../src/base/brand.ts'
import type { PublicJwk } from '../../../src/protocol/client/keys.ts'
import { openSecrets } from '../../../src/protocol/secrets.ts'
import { makeClientKey, signJws, type AssertionSigner, type ClientKey } from '../../../tools/client-assertion.ts'
import { makeProof, type DifferingProof } from '../../../tools/dpop-proof.ts'

const NOW = 1_800_000_000_000 as EpochMs
const SECONDS = NOW / 1000
const ADDRESS = 'https://auth.example/v2/oauth/token'
const REQUEST = { method: 'POST', address: ADDRESS, nowMs: NOW } as const
const EC = makeClientKey('ES256')
const RSA = makeClientKey('PS256')

const secrets = openSecrets('a-root-secret-of-this-test-file-only')
const nonces = { knowsNonce: (nonce: string) => endOfNonce(secrets, nonce, NOW) !== undefined }
const EXPECTED = { method: 'POST', address: ADDRESS, now: NOW, ...nonces }

function proofOf(differing: DifferingProof = {}, key: ClientKey = EC): string {
  return makeProof(key, REQUEST, differing)
}

function parsed(jwt: string): DpopProof {
  const proof = parseDpopProof(jwt)
  assert.ok(proof, jwt)
  return proof
}

const faultOf = (claims: object): unknown => findProofFault(parsed(proofOf({ claims: { ...claims } })), EXPECTED)

test('DP-01: the examples of RFC 7638 §3.1 and RFC 9449 §4.1 and §7.1: thumbprints, a signature and ath', () => {
  const rsa = {
    kty: 'RSA',
    n: '0vx7agoebGcQSuuPiLJXZptN9nndrQmbXEps2aiAFbWhM78LhWx4cbbfAAtVT86zwu1RK7aPFFxuhDR1L6tSoc_BJECPebWKRXjBZCiFV4n3oknjhMstn64tZ_2W-5JsGY4Hc5n9yBXArwl93lqt7_RN5w6Cf0h4QyQ5v-65YGjQR0_FDW2QvzqY368QQMicAtaSqzs8KJZgnYb9c7d0zgdAZHzu6qMQvRL5hajrn1n91CbOpbISD08qNLyrdkt-bFTWhAI4vMQFh6WeZu0fM4lFd2NcRwr3XPksINHaQ-G_xBniIqbw0Ls1jF44-csFCur-kEgU8awapJzKnqDKgw',
    e: 'AQAB',
    alg: 'RS256',
    kid: '2011-04-29',
  }
  assert.equal(thumbprintOf(rsa as PublicJwk), 'NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs')
  const example = parsed(
    'eyJ0eXAiOiJkcG9wK2p3dCIsImFsZyI6IkVTMjU2IiwiandrIjp7Imt0eSI6IkVDIiwieCI6Imw4dEZyaHgtMzR0VjNoUklDUkRZOXpDa0RscEJoRjQyVVFVZldWQVdCRnMiLCJ5IjoiOVZFNGpmX09rX282NHpiVFRsY3VOSmFqSG10NnY5VERWclUwQ2R2R1JEQSIsImNydiI6IlAtMjU2In19.eyJqdGkiOiItQndDM0VTYzZhY2MybFRjIiwiaHRtIjoiUE9TVCIsImh0dSI6Imh0dHBzOi8vc2VydmVyLmV4YW1wbGUuY29tL3Rva2VuIiwiaWF0IjoxNTYyMjYyNjE2fQ.2-GxA6T8lP4vfrg8v-FdWP0A0zdrj8igiMLvqRMUvwnQg4PtFLbdLXiOSsX0x7NVY-FNyJK70nfbV37xRZT3Lg',
  )
  assert.equal(openProofVerifier().verify(example), '0ZcOCORZNYy-DWpqq30jZyJGHTN0d2HglBV3uiguA4I')
  assert.equal(isThumbprint('0ZcOCORZNYy-DWpqq30jZyJGHTN0d2HglBV3uiguA4I'), true)
  for (const text of ['', 'short', `${'a'.repeat(42)}=`, 'a'.repeat(44)]) assert.equal(isThumbprint(text), false, text)
  const at = { tokenHash: 'fUHyO2r2Z3DZ53EsNrWBb0xWXoaNy59IiKCAqksmQEo' } as DpopProof
  assert.equal(provesToken(at, 'Kz~8mXK1EalYznwH-LC-1fBAo.4Ljp~zsPE_NeO.gxU'), true)
  assert.equal(provesToken(at, 'Kz~8mXK1EalYznwH-LC-1fBAo.4Ljp~zsPE_NeO.gxV'), false)
  assert.equal(provesToken({ ...at, tokenHash: undefined }, ''), false)
})

test('RFC 9449 §4.3: a proof of each algorithm is verified by the key in its header, whose thumbprint is returned', () => {
  const verifier = openProofVerifier()
  for (const algorithm of ['ES256', 'EdDSA', 'Ed25519', 'PS256'] as const) {
    const key = makeClientKey(algorithm, { use: 'sig', kid: 'one', nonsense: {} })
    for (const typ of ['dpop+jwt', 'DPoP+JWT']) {
      const proof = parsed(proofOf({ header: { typ, kid: 'one', jku: 'https://keys.example', x5u: 'x' } }, key))
      assert.equal(verifier.verify(proof), thumbprintOf(key.jwk as PublicJwk), algorithm)
      assert.equal(findProofFault(proof, EXPECTED), undefined)
    }
  }
})

test('DP-03: htm is the method, and htu the address of the endpoint under the issuer, by the rules of URLs', () => {
  const good = [
    ADDRESS,
    `${ADDRESS}?a=b&c`,
    `${ADDRESS}#part`,
    'https://auth.example:443/v2/oauth/token',
    'HTTPS://AUTH.example/v2/oauth/token',
    'https://auth.example/v2/x/../oauth/token',
    // RFC 3986 §6.2.2.2: an encoded unreserved character is the character.
    'https://auth.example/%76%32/oauth/tok%65n',
    'https://%61uth.example/v2/x/%2E%2e/oauth/token',
  ]
  for (const htu of good) assert.equal(faultOf({ htu }), undefined, htu)
  const wrong = [
    'http://auth.example/v2/oauth/token',
    'https://auth.example:8443/v2/oauth/token',
    'https://auth.example./v2/oauth/token',
    'https://other.example/v2/oauth/token',
    'https://auth.example/v2/oauth/token/',
    'https://auth.example/v2/oauth/Token',
    'https://auth.example/v2/oauth/userinfo',
    'https://auth.example/other/v2/oauth/token',
    'https://ada@auth.example/v2/oauth/token',
    'https://auth.example/v2%2Foauth%2Ftoken',
    'https://auth.example/v2/oauth/%2574oken',
    'https://auth.example/v2/oauth/token%',
    'https://auth.example/v2/oauth/token%20',
    '/v2/oauth/token',
    'auth.example/v2/oauth/token',
    '',
  ]
  for (const htu of wrong) assert.equal(faultOf({ htu }), 'proof_for_another_request', htu)
  for (const htm of ['post', 'GET', ' POST', '']) assert.equal(faultOf({ htm }), 'proof_for_another_request', htm)
  const idn = { ...EXPECTED, address: 'https://xn--bcher-kva.example/v2/oauth/token' }
  const named = parsed(proofOf({ claims: { htu: 'https://bücher.example/v2/oauth/token' } }))
  assert.equal(findProofFault(named, idn), undefined)
  assert.equal(findProofFault(named, EXPECTED), 'proof_for_another_request')
  // The path of an issuer may have encoded characters itself. The case of their digits does not matter (RFC 3986 §6.2.2.1).
  const encoded = { ...EXPECTED, address: 'https://auth.example/b%C3%BC~%2Fcher/v2/oauth/token' }
  for (const [path, fault] of [
    ['b%c3%bc%7E%2fcher', undefined],
    ['bü~%2Fcher', undefined],
    ['bü~/cher', 'proof_for_another_request'],
  ] as const) {
    const proof = parsed(proofOf({ claims: { htu: `https://auth.example/${path}/v2/oauth/token` } }))
    assert.equal(findProofFault(proof, encoded), fault, path)
  }
})

test('DP-04: what is not a proof, or has a private, weak, symmetric or unfitting key, is refused before a signature is computed', () => {
  const privateJwk = EC.privateKey.export({ format: 'jwk' })
  const rsaOf = (modulusLength: number): object =>
    generateKeyPairSync('rsa', { modulusLength }).publicKey.export({ format: 'jwk' })
  const headers: readonly Readonly<Record<string, unknown>>[] = [
    ...['dpop', 'jwt', 'application/dpop+jwt', 'at+jwt', '', 5, undefined].map((typ) => ({ typ })),
    ...['none', 'HS256', 'RS256', 'ES384', 'ES512', 'PS384', 'es256', 'EdDSA', ['ES256'], undefined].map((alg) => ({
      alg,
    })),
    ...[undefined, null, 'x', [], {}, { kty: 'oct', k: 'AAAA' }, privateJwk, RSA.jwk].map((jwk) => ({ jwk })),
    ...['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k', 'priv'].map((member) => ({
      jwk: { ...EC.jwk, [member]: 'AQAB' },
    })),
    ...[{ crv: 'P-384' }, { crv: 'secp256k1' }, { x: undefined }, { y: 5 }, { use: 'enc' }, { alg: 'ES384' }].map(
      (member) => ({ jwk: { ...EC.jwk, ...member } }),
    ),
    { crit: ['b64'], b64: false },
    { crit: [] },
    { alg: 'PS256', jwk: { ...RSA.jwk, alg: 'RS256' } },
    { alg: 'PS256', jwk: { ...RSA.jwk, n: 'A'.repeat(16_384 / 6) } },
  ]
  for (const header of headers) assert.equal(parseDpopProof(proofOf({ header })), undefined, JSON.stringify(header))
  const members = ['htm', 'htu', 'jti', 'iat'].map((name) => ({ [name]: undefined }))
  const claims = [
    ...members,
    { htm: 5 },
    { htu: {} },
    { jti: '' },
    { jti: 'a'.repeat(257) },
    { iat: '1' },
    { nonce: 5 },
  ]
  for (const one of claims) assert.equal(parseDpopProof(proofOf({ claims: one })), undefined, JSON.stringify(one))
  const jwt = proofOf()
  const [head = '', body = ''] = jwt.split('.')
  const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url')
  const texts = [
    '',
    'x',
    'a.b.c',
    `${head}.${body}.`,
    `${head}.${body}`,
    `${jwt}, ${jwt}`,
    ` ${jwt}`,
    `${encode([])}.${body}.a`,
  ]
  for (const text of [...texts, `${head}.${encode(null)}.a`]) assert.equal(parseDpopProof(text), undefined, text)
  const padded = (size: number): string => proofOf({ claims: { pad: 'a'.repeat(size) } })
  const room = Math.floor(((4096 - padded(0).length) * 3) / 4)
  const longest = [0, 1, 2, 3].map((more) => padded(room - more)).find(({ length }) => length <= 4096) ?? ''
  assert.ok(longest.length > 4090)
  assert.ok(parseDpopProof(longest))
  assert.equal(parseDpopProof(`${longest}${'A'.repeat(4097 - longest.length)}`), undefined)

  const verifier = openProofVerifier()
  const isVerified = (key: ClientKey, header: object): boolean =>
    verifier.verify(parsed(proofOf({ header: { ...header } }, key))) !== undefined
  const y = Buffer.from(String(EC.jwk['y']), 'base64url')
  y[31] = (y[31] ?? 0) ^ 1
  assert.equal(isVerified(EC, { jwk: { ...EC.jwk, y: y.toString('base64url') } }), false, 'not a point of the curve')
  for (const jwk of [rsaOf(1024), { ...RSA.jwk, e: 'Ag' }, { ...RSA.jwk, e: 'AQ' }, { ...RSA.jwk, n: 'AAAA' }])
    assert.equal(isVerified(RSA, { jwk }), false, JSON.stringify(jwk))
})

test('DP-04: only the private part of the key in the header signs a proof', () => {
  const verifier = openProofVerifier()
  const jwt = proofOf()
  const [head = '', body = ''] = jwt.split('.')
  const signer = (algorithm: AssertionSigner): string =>
    signJws({ ...makeClientKey(algorithm), algorithm }, { typ: 'dpop+jwt', alg: 'ES256', jwk: EC.jwk }, { a: 1 }).split(
      '.',
    )[2] ?? ''
  const mac = createHmac('sha256', JSON.stringify(EC.jwk)).update(`${head}.${body}`).digest('base64url')
  for (const signature of [signer('ES256'), signer('EdDSA'), signer('PS256'), mac, 'AA', 'A'.repeat(86)])
    assert.equal(verifier.verify(parsed(`${head}.${body}.${signature}`)), undefined, signature)
  const other = proofOf().split('.')[1]
  assert.equal(verifier.verify(parsed(`${head}.${other}.${jwt.split('.')[2]}`)), undefined)
  assert.ok(verifier.verify(parsed(jwt)))
})

test('DP-06: without a nonce iat is at most a minute off; with a nonce of the last minutes it may have any value', () => {
  const table: readonly (readonly [object, unknown])[] = [
    ...[0, 59, -59, 60, -60].map((off) => [{ iat: SECONDS + off }, undefined] as const),
    ...[61, -61, 1e9, -1e9].map((off) => [{ iat: SECONDS + off }, 'proof_not_fresh'] as const),
    [{ iat: SECONDS + 0.5, nbf: SECONDS, exp: SECONDS + 1 }, undefined],
    [{ nbf: SECONDS + 61 }, 'proof_not_fresh'],
    [{ nbf: SECONDS + 60 }, undefined],
    [{ exp: SECONDS - 61 }, 'proof_not_fresh'],
    [{ exp: SECONDS - 60 }, undefined],
    [{ nonce: '' }, 'nonce_stale'],
    [{ nonce: 'another' }, 'nonce_stale'],
    [{ nonce: nonceOf(openSecrets('another-root-secret-of-this-test'), NOW) }, 'nonce_stale'],
    ...[0, -1, 1].map(
      (minutes) => [{ nonce: nonceOf(secrets, after(NOW, minutes * 60_000)), iat: 0 }, undefined] as const,
    ),
    ...[-2, 2].map((minutes) => [{ nonce: nonceOf(secrets, after(NOW, minutes * 60_000)) }, 'nonce_stale'] as const),
    [{ nonce: nonceOf(secrets, NOW), iat: 0, exp: SECONDS - 61 }, 'proof_malformed'],
    [{ nonce: nonceOf(secrets, NOW), nbf: SECONDS + 61 }, 'proof_malformed'],
  ]
  for (const [claims, fault] of table) assert.equal(faultOf(claims), fault, JSON.stringify(claims))
  assert.match(nonceOf(secrets, NOW), /^[A-Za-z0-9_-]{22}$/)
})

test('DP-11: a proof ends with its minute of iat, or with the nonce that replaces iat, which is good for two minutes at most', () => {
  // NOW is the first moment of a window.
  for (const [claims, seconds] of [
    [{ iat: SECONDS - 60 }, 0],
    [{ iat: SECONDS + 60 }, 120],
    [{ nonce: nonceOf(secrets, NOW), iat: SECONDS + 1e6 }, 120],
    [{ nonce: nonceOf(secrets, after(NOW, -1)), iat: 0 }, 60],
    [{ nonce: nonceOf(secrets, after(NOW, 60_000)), iat: 0 }, 180],
  ] as const) {
    const proof = parsed(proofOf({ claims }))
    const end = endOfProof(secrets, proof, NOW)
    assert.equal(end, after(NOW, seconds * 1000), JSON.stringify(claims))
    const knowsNonce = (at: EpochMs) => (nonce: string) => endOfNonce(secrets, nonce, at) !== undefined
    const faultAt = (now: EpochMs) => findProofFault(proof, { ...EXPECTED, now, knowsNonce: knowsNonce(now) })
    assert.equal(faultAt(after(end, -1)), undefined)
    assert.ok(faultAt(after(end, 1)))
  }
})

test('DP-11: an id of a proof is new once for each key, until the proof ends, however many others come', () => {
  const use = openUsedProofs()
  const [key, other] = ['a' as JwkThumbprint, 'b' as JwkThumbprint]
  const [endsAt, network] = [after(NOW, 60_000), '192.0.2.1']
  const uses = [key, key, other, key].map((holder) => use({ id: 'one', endsAt }, { key: holder, network }, NOW).kind)
  assert.deepEqual(uses, ['first', 'repeated', 'first', 'repeated'])
  // More than what any cache by number would keep, of other keys and networks.
  for (let index = 0; index < 50_000; index += 1)
    use({ id: `${index}`, endsAt }, { key: `${index % 100}` as JwkThumbprint, network: `${index % 50}` }, NOW)
  assert.equal(use({ id: 'one', endsAt }, { key, network: '192.0.2.2' }, endsAt).kind, 'repeated')
  assert.equal(use({ id: 'one', endsAt: after(NOW, 200_000) }, { key, network }, after(NOW, 120_001)).kind, 'first')
})

test('DP-11: a key or a network whose proofs are as many as are kept waits until they end, and others do not', () => {
  const ask = opened({ key: 2, network: 3, all: 100 })
  const calls = [
    ['a', '1'],
    ['a', '2'],
    ['a', '3'],
    ['b', '1'],
    ['c', '1'],
    ['d', '1'],
    ['e', '2'],
  ] as const
  assert.deepEqual(
    calls.map(([key, network]) => ask(key, network).kind),
    ['first', 'first', 'full', 'first', 'first', 'full', 'first'],
  )
  const refused = ask('a', '4')
  assert.deepEqual(refused, { kind: 'full', until: after(NOW, 90_001) })
  assert.equal(ask('a', '1', after(NOW, 90_000)).kind, 'full')
  assert.equal(ask('a', '1', after(NOW, 90_001)).kind, 'first')
})

test('DP-11: networks that send as many proofs as they can leave room for the others, and none is accepted twice', () => {
  for (const isKnown of [true, false]) {
    const ask = opened({ key: 200, network: 1000, all: 4000 })
    // A network that is unknown, as that of a call of the library, is that of each key.
    const networkOf = (index: number) => (isKnown ? `203.0.${index}.1` : undefined)
    for (let round = 0; round < 100; round += 1)
      for (let key = 0; key < 100; key += 1) ask(`${key}`, networkOf(key % 20))
    assert.equal(ask('0', networkOf(0)).kind, 'full')
    const victim = ['victim', isKnown ? '198.51.100.9' : undefined] as const
    assert.equal(ask(...victim, NOW, 'one').kind, 'first')
    assert.equal(ask(...victim, NOW, 'one').kind, 'repeated')
    assert.equal(ask('0', networkOf(0), after(NOW, 90_001)).kind, 'first', 'the share is given back')
  }
})

/** Asks for a proof that ends in a minute, with an id of its own unless one is given. */
function opened(limits: Parameters<typeof openUsedProofs>[0]) {
  const use = openUsedProofs(limits)
  let count = 0
  return (key: string, network: string | undefined, now = NOW, id = `${(count += 1)}`) =>
    use({ id, endsAt: after(now, 60_000) }, { key: key as JwkThumbprint, network }, now)
}
