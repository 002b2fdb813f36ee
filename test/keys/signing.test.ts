import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createLocalJWKSet, decodeProtectedHeader, jwtVerify } from 'jose'
import { openBurstSigner } from '../../src/keys/burst-signer.ts'
import { inspectKey } from '../../src/keys/inspect-keys.ts'
import { unlockSigningKey } from '../../src/keys/signing-key.ts'
import type { EpochMs } from '../../src/base/brand.ts'
import { openSecrets } from '../../src/protocol/secrets.ts'
import { aKeyRecord, encryptionKey, NOW, ringOf, signText } from './key-records.ts'

const ISSUER = 'https://auth.example'

/** The members of a published key, by algorithm. RFC 7518 §6, RFC 8037 §2. */
const MEMBERS = {
  ES256: ['alg', 'crv', 'kid', 'kty', 'use', 'x', 'y'],
  EdDSA: ['alg', 'crv', 'kid', 'kty', 'use', 'x'],
  RS256: ['alg', 'e', 'kid', 'kty', 'n', 'use'],
} as const

for (const algorithm of ['ES256', 'EdDSA', 'RS256'] as const) {
  test(`RFC 9068 §2.1: tokens that ${algorithm} signs in a burst verify with the published key and have the type at+jwt`, async () => {
    const record = await aKeyRecord({ algorithm })
    const signer = openBurstSigner(ringOf([record], ISSUER))
    const keys = createLocalJWKSet({ keys: [JSON.parse(record.publicJwk)] })
    const tokens = await Promise.all(
      Array.from({ length: 20 }, (_, index) => signText(signer, JSON.stringify({ n: index }))),
    )
    for (const [index, token] of tokens.entries()) {
      const { payload } = await jwtVerify(token, keys, { typ: 'at+jwt', algorithms: [algorithm] })
      assert.equal(payload['n'], index)
      assert.deepEqual(decodeProtectedHeader(token), { alg: algorithm, typ: 'at+jwt', kid: record.id })
    }
  })

  test(`RFC 7519 §5.1: tokens that ${algorithm} signs for an API that expects typ JWT have that type, in one burst with others`, async () => {
    const record = await aKeyRecord({ algorithm })
    const signer = openBurstSigner(ringOf([record], ISSUER))
    const asked = Array.from({ length: 6 }, (_, index) => (['at+jwt', 'JWT', 'JWT'] as const)[index % 3])
    const tokens = await Promise.all(asked.map((jwtType, n) => signText(signer, JSON.stringify({ n }), { jwtType })))
    const keys = createLocalJWKSet({ keys: [JSON.parse(record.publicJwk)] })
    for (const [n, token] of tokens.entries()) {
      const { payload, protectedHeader } = await jwtVerify(token, keys, { algorithms: [algorithm] })
      assert.deepEqual([payload['n'], protectedHeader.typ], [n, asked[n]])
    }
  })

  test(`MET-04: a published ${algorithm} key has no private member`, async () => {
    const jwk = JSON.parse((await aKeyRecord({ algorithm })).publicJwk) as Record<string, unknown>
    assert.deepEqual(Object.keys(jwk).toSorted(), MEMBERS[algorithm])
  })

  test(`a ${algorithm} key whose published part was changed is detected`, async () => {
    const record = await aKeyRecord({ algorithm })
    const other = await aKeyRecord({ algorithm })
    const term = { id: record.id, purpose: 'access', algorithm, activeFrom: NOW }
    assert.deepEqual(inspectKey(record, encryptionKey), { ...term, state: 'valid' })
    const swapped = JSON.stringify({ ...(JSON.parse(other.publicJwk) as object), kid: record.id })
    assert.deepEqual(inspectKey({ ...record, publicJwk: swapped }, encryptionKey), { ...term, state: 'mismatched' })
    const claimed = record.publicJwk.replace(algorithm, 'HS256')
    assert.deepEqual(inspectKey({ ...record, publicJwk: claimed }, encryptionKey), { ...term, state: 'mismatched' })
    const { encryptedPrivateKey } = other
    assert.deepEqual(inspectKey({ ...record, encryptedPrivateKey }, encryptionKey), { ...term, state: 'undecryptable' })
  })
}

test("each token of a turn is signed by the key of its algorithm, or by the server's key when there is none", async () => {
  const records = [
    await aKeyRecord({ algorithm: 'ES256' }),
    await aKeyRecord({ algorithm: 'EdDSA' }),
    await aKeyRecord({ algorithm: 'RS256', activeFrom: (NOW + 1) as EpochMs }),
  ]
  const signer = openBurstSigner(ringOf(records, ISSUER))
  const keys = createLocalJWKSet({ keys: records.map(({ publicJwk }) => JSON.parse(publicJwk)) })
  const asked = Array.from({ length: 24 }, (_, index) => (['EdDSA', undefined, 'RS256', 'ES256'] as const)[index % 4])
  const tokens = await Promise.all(asked.map((algorithm, n) => signText(signer, JSON.stringify({ n }), { algorithm })))
  for (const [n, token] of tokens.entries()) {
    const { payload, protectedHeader } = await jwtVerify(token, keys, { typ: 'at+jwt' })
    assert.deepEqual([payload['n'], protectedHeader.alg], [n, asked[n] === 'EdDSA' ? 'EdDSA' : 'ES256'])
  }
})

test('a private key is not readable in the store', async () => {
  const record = await aKeyRecord()
  const { privateKey } = unlockSigningKey(record, encryptionKey)
  const secret = Buffer.from(privateKey.export({ format: 'jwk' }).d ?? '', 'base64url')
  assert.equal(secret.length, 32)
  assert.ok(!Buffer.from(record.encryptedPrivateKey, 'base64url').includes(secret))
})

test('a key cannot be decrypted under another root secret, after a change, or in another row', async () => {
  const [record, another] = [await aKeyRecord(), await aKeyRecord()]
  const other = openSecrets('another root secret of more than 32 characters').encryptionKey
  assert.throws(() => unlockSigningKey(record, other))
  assert.throws(() => unlockSigningKey({ ...record, id: another.id }, encryptionKey))
  const bytes = Buffer.from(record.encryptedPrivateKey, 'base64url')
  for (const place of [0, 12, 28, bytes.length - 1]) {
    const changed = Buffer.from(bytes)
    changed[place] = (changed[place] ?? 0) ^ 1
    assert.throws(() =>
      unlockSigningKey({ ...record, encryptedPrivateKey: changed.toString('base64url') }, encryptionKey),
    )
  }
})
