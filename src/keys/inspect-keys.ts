import { createPublicKey, type KeyObject } from 'node:crypto'
import type { KeyInspection } from '../ports/inspection.ts'
import type { KeyRecord } from '../ports/records.ts'
import { unlockSigningKey } from './signing-key.ts'

/** Whether what is published verifies what is signed: the public JWK belongs to the private part of the same row. */
export function inspectKey(record: KeyRecord, encryptionKey: KeyObject): KeyInspection {
  try {
    const { privateKey } = unlockSigningKey(record, encryptionKey)
    const published = JSON.parse(record.publicJwk) as Readonly<Record<string, unknown>>
    const own = createPublicKey(privateKey).export({ format: 'jwk' })
    const isSame = published['kid'] === record.id && published['x'] === own.x && published['y'] === own.y
    return { id: record.id, state: isSame ? 'sound' : 'mismatched' }
  } catch {
    return { id: record.id, state: 'undecryptable' }
  }
}
