import { createCipheriv, createDecipheriv, createPrivateKey, type KeyObject } from 'node:crypto'
import type { KeyRecord } from '../ports/records/key.ts'
import { mintKeyId, type Random } from '../protocol/ids.ts'
import { ALGORITHMS } from './algorithms.ts'

/** A key that is ready to sign. */
export interface SigningKey {
  readonly record: KeyRecord
  readonly privateKey: KeyObject
}

const NONCE_BYTES = 12
const TAG_BYTES = 16

/** The algorithm and the times of a new key. */
export type KeyPlan = Pick<KeyRecord, 'algorithm' | 'createdAt' | 'activeFrom'>

/** Creates a key and encrypts its private part for the store. */
export async function createSigningKey(plan: KeyPlan, random: Random, encryptionKey: KeyObject): Promise<KeyRecord> {
  const { privateKey, publicKey } = await ALGORITHMS[plan.algorithm].generate()
  const id = mintKeyId(plan.createdAt, random)
  const jwk = { ...publicKey.export({ format: 'jwk' }), kid: id, use: 'sig', alg: plan.algorithm }
  const der = privateKey.export({ format: 'der', type: 'pkcs8' })
  const encryptedPrivateKey = encrypt(der, id, random, encryptionKey)
  return { ...plan, id, publicJwk: JSON.stringify(jwk), encryptedPrivateKey }
}

/** Decrypts a private key. Throws when it was encrypted under another root secret, or was changed. */
export function unlockSigningKey(record: KeyRecord, encryptionKey: KeyObject): SigningKey {
  const der = decrypt(record.encryptedPrivateKey, record.id, encryptionKey)
  return { record, privateKey: createPrivateKey({ key: der, format: 'der', type: 'pkcs8' }) }
}

function encrypt(plain: Buffer, id: string, random: Random, key: KeyObject): string {
  const nonce = random(NONCE_BYTES)
  // The id is authenticated too, so that the key of one row cannot be moved to another row.
  const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(id))
  const sealed = Buffer.concat([cipher.update(plain), cipher.final()])
  return Buffer.concat([nonce, cipher.getAuthTag(), sealed]).toString('base64url')
}

function decrypt(text: string, id: string, key: KeyObject): Buffer {
  const bytes = Buffer.from(text, 'base64url')
  const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, NONCE_BYTES), { authTagLength: TAG_BYTES })
  decipher.setAAD(Buffer.from(id)).setAuthTag(bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES))
  return Buffer.concat([decipher.update(bytes.subarray(NONCE_BYTES + TAG_BYTES)), decipher.final()])
}
