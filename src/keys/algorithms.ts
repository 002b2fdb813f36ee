import { generateKeyPair, type KeyObject } from 'node:crypto'
import { promisify } from 'node:util'
import type { SigningAlgorithm } from '../ports/records/key.ts'

interface Algorithm {
  /** For `sign` and `verify`; null where the algorithm includes the hash function. */
  readonly digest: 'sha256' | null
  readonly signatureBytes: number
  readonly generate: () => Promise<{ readonly publicKey: KeyObject; readonly privateKey: KeyObject }>
}

const generate = promisify(generateKeyPair)

/** The parameters of each algorithm. RFC 7518 §3.3 and §3.4, RFC 8037 §3.1. */
export const ALGORITHMS: Readonly<Record<SigningAlgorithm, Algorithm>> = {
  // 32 bytes of r and 32 of s.
  ES256: { digest: 'sha256', signatureBytes: 64, generate: () => generate('ec', { namedCurve: 'P-256' }) },
  EdDSA: { digest: null, signatureBytes: 64, generate: () => generate('ed25519') },
  RS256: { digest: 'sha256', signatureBytes: 256, generate: () => generate('rsa', { modulusLength: 2048 }) },
}
