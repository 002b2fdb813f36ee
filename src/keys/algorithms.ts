import { generateKeyPair, type KeyObject } from 'node:crypto'
import { promisify } from 'node:util'
import type { SigningAlgorithm } from '../ports/records/key.ts'

interface Algorithm {
  /** For `sign` and `verify`; null where the algorithm includes the hash function. */
  readonly digest: 'sha256' | null
  readonly signatureBytes: number
  /** Returns what `sign` made as a JWS has it, base64url. */
  readonly encode: (signature: Uint8Array) => string
  readonly generate: () => Promise<{ readonly publicKey: KeyObject; readonly privateKey: KeyObject }>
}

const generate = promisify(generateKeyPair)

/** The parameters of each algorithm. RFC 7518 §3.3 and §3.4, RFC 8037 §3.1. */
export const ALGORITHMS: Readonly<Record<SigningAlgorithm, Algorithm>> = {
  // 32 bytes of r and 32 of s.
  ES256: {
    digest: 'sha256',
    signatureBytes: 64,
    encode: joinNumbers,
    generate: () => generate('ec', { namedCurve: 'P-256' }),
  },
  EdDSA: { digest: null, signatureBytes: 64, encode: asIs, generate: () => generate('ed25519') },
  RS256: {
    digest: 'sha256',
    signatureBytes: 256,
    encode: asIs,
    generate: () => generate('rsa', { modulusLength: 2048 }),
  },
}

const NUMBER_BYTES = 32
const numbers = Buffer.alloc(2 * NUMBER_BYTES)

/**
 * Makes r and s of equal length (RFC 7518 §3.4) of the sequence of two integers that OpenSSL makes (RFC 3279 §2.2.3). With
 * `dsaEncoding` a signature takes 1.2 µs longer.
 */
function joinNumbers(der: Uint8Array): string {
  const rStart = 4
  const rEnd = rStart + (der[rStart - 1] as number)
  putNumber(der, { from: rStart, to: rEnd }, NUMBER_BYTES)
  putNumber(der, { from: rEnd + 2, to: der.length }, 2 * NUMBER_BYTES)
  return numbers.toString('base64url')
}

/**
 * Copies an integer of DER, which has no zeros in front but one that keeps it positive. An index outside of the buffer, which is undefined,
 * would make V8 read every byte in the generic way: a third of a microsecond for a signature.
 */
function putNumber(der: Uint8Array, { from, to }: { readonly from: number; readonly to: number }, end: number): void {
  for (let back = 1; back <= NUMBER_BYTES; back += 1) {
    const index = to - back
    numbers[end - back] = index < from ? 0 : (der[index] as number)
  }
}

function asIs(signature: Uint8Array): string {
  return Buffer.from(signature.buffer, signature.byteOffset, signature.byteLength).toString('base64url')
}
