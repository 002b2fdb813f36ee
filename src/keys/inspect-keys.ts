import { createPublicKey, type KeyObject } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import type { KeyInspection } from '../ports/inspection.ts'
import type { KeyRecord } from '../ports/records/key.ts'
import { unlockSigningKey } from './signing-key.ts'

/** Checks whether the published JWK of a row belongs to its private key, so that it verifies what the key signs. */
export function inspectKey(record: KeyRecord, encryptionKey: KeyObject): KeyInspection {
  const { id, purpose, algorithm, activeFrom } = record
  const term = { id, purpose, algorithm, activeFrom }
  try {
    const { privateKey } = unlockSigningKey(record, encryptionKey)
    const published = JSON.parse(record.publicJwk) as Readonly<Record<string, unknown>>
    const own = createPublicKey(privateKey).export({ format: 'jwk' })
    const whole = { ...own, kid: record.id, use: 'sig', alg: record.algorithm }
    return { ...term, state: isDeepStrictEqual(published, whole) ? 'valid' : 'mismatched' }
  } catch {
    return { ...term, state: 'undecryptable' }
  }
}
