import { createPrivateKey, type KeyObject } from 'node:crypto'
import type { KeyRecord } from '../ports/records/key.ts'
import { mintKeyId, type Random } from '../protocol/ids.ts'
import { ALGORITHMS } from './algorithms.ts'
import { decrypt, encrypt } from './encryption.ts'

/** A key that is ready to sign. */
export interface SigningKey {
  readonly record: KeyRecord
  readonly privateKey: KeyObject
}

/** The purpose, the algorithm and the times of a new key. */
export type KeyPlan = Pick<KeyRecord, 'purpose' | 'algorithm' | 'createdAt' | 'activeFrom'>

/** Creates a key and encrypts its private part for the store. */
export async function createSigningKey(plan: KeyPlan, random: Random, encryptionKey: KeyObject): Promise<KeyRecord> {
  const { privateKey, publicKey } = await ALGORITHMS[plan.algorithm].generate()
  const id = mintKeyId(plan.createdAt, random)
  const jwk = { ...publicKey.export({ format: 'jwk' }), kid: id, use: 'sig', alg: plan.algorithm }
  const der = privateKey.export({ format: 'der', type: 'pkcs8' })
  const encryptedPrivateKey = encrypt(der, id, random, encryptionKey)
  return { ...plan, id, publicJwk: JSON.stringify(jwk), encryptedPrivateKey }
}

/** Decrypts a private key. Throws when it was encrypted under another master key, or was changed. */
export function unlockSigningKey(record: KeyRecord, encryptionKey: KeyObject): SigningKey {
  const der = decrypt(record.encryptedPrivateKey, record.id, encryptionKey)
  return { record, privateKey: createPrivateKey({ key: der, format: 'der', type: 'pkcs8' }) }
}
