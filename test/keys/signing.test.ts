import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { createLocalJWKSet, decodeProtectedHeader, jwtVerify, type JSONWebKeySet } from 'jose'
import { openBurstSigner } from '../../src/keys/burst-signer.ts'
import { createSigningKey, unlockSigningKey } from '../../src/keys/signing-key.ts'
import type { EpochMs } from '../../src/protocol/brand.ts'
import { openSecrets } from '../../src/protocol/secrets.ts'

const { encryptionKey } = openSecrets('a root secret of more than 32 characters')
const NOW = 1_790_000_000_000 as EpochMs
const makeKey = () => createSigningKey(NOW, randomBytes, encryptionKey)

test('RFC 9068 §2.1: what is signed in a burst verifies with the published key and says at+jwt', async () => {
  const record = makeKey()
  const signer = openBurstSigner([unlockSigningKey(record, encryptionKey)])
  const keys = createLocalJWKSet({ keys: signer.publicKeys() } as JSONWebKeySet)
  const tokens = await Promise.all(Array.from({ length: 20 }, (_, index) => signer.sign(JSON.stringify({ n: index }))))
  for (const [index, token] of tokens.entries()) {
    const { payload } = await jwtVerify(token, keys, { typ: 'at+jwt', algorithms: ['ES256'] })
    assert.equal(payload['n'], index)
    assert.equal(decodeProtectedHeader(token).kid, record.id)
  }
})

test('MET-04: a published key has no private member', () => {
  const jwk = JSON.parse(makeKey().publicJwk) as Record<string, unknown>
  assert.deepEqual(Object.keys(jwk).toSorted(), ['alg', 'crv', 'kid', 'kty', 'use', 'x', 'y'])
})

test('a private key is not readable in the store', () => {
  const record = makeKey()
  const { privateKey } = unlockSigningKey(record, encryptionKey)
  const secret = Buffer.from(privateKey.export({ format: 'jwk' }).d ?? '', 'base64url')
  assert.equal(secret.length, 32)
  assert.ok(!Buffer.from(record.encryptedPrivateKey, 'base64url').includes(secret))
})

test('a key does not open under another root secret, after a change, or in another row', () => {
  const record = makeKey()
  const other = openSecrets('another root secret of more than 32 characters').encryptionKey
  assert.throws(() => unlockSigningKey(record, other))
  assert.throws(() => unlockSigningKey({ ...record, id: makeKey().id }, encryptionKey))
  const bytes = Buffer.from(record.encryptedPrivateKey, 'base64url')
  for (const place of [0, 12, 28, bytes.length - 1]) {
    const changed = Buffer.from(bytes)
    changed[place] = (changed[place] ?? 0) ^ 1
    assert.throws(() =>
      unlockSigningKey({ ...record, encryptedPrivateKey: changed.toString('base64url') }, encryptionKey),
    )
  }
})
