import { constants, verify, type KeyObject } from 'node:crypto'
import type { ProofVerifier } from '../ports/client-signatures.ts'
import { importPublicJwk } from '../protocol/client/keys.ts'
import { PROOF_RSA_BITS, thumbprintOf, type JwkThumbprint, type ProofAlgorithm } from '../protocol/token/dpop-proof.ts'
import { openRecentlyUsed } from '../base/recently-used.ts'
import { openUsedProofs } from './used-proofs.ts'

/** Keys that are kept after their import, at least, and at most twice that: 2 KB each. A client sends the same one with each request. */
const KNOWN_KEYS = 1000

const EDDSA = { digest: null, options: {} } as const

/** RFC 7518 §3.4 and §3.5, RFC 8037 §3.1. */
const VERIFYING: Readonly<Record<ProofAlgorithm, { readonly digest: 'sha256' | null; readonly options: object }>> = {
  ES256: { digest: 'sha256', options: { dsaEncoding: 'ieee-p1363' } },
  EdDSA: EDDSA,
  Ed25519: EDDSA,
  PS256: { digest: 'sha256', options: { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: 32 } },
}

/** Opens the verifier of DPoP proofs. It is synchronous: one verification costs less than to hand it to another thread. */
export function openProofVerifier(): ProofVerifier {
  const keys = openRecentlyUsed<KeyObject>(KNOWN_KEYS)

  return {
    verify({ jwt, jwk, algorithm }) {
      const thumbprint = thumbprintOf(jwk)
      const known = keys.get(thumbprint)
      const key = known ?? importPublicJwk(jwk, PROOF_RSA_BITS)
      if (typeof key === 'string') return undefined
      const { digest, options } = VERIFYING[algorithm]
      const end = jwt.lastIndexOf('.')
      const signature = Buffer.from(jwt.slice(end + 1), 'base64url')
      if (!verify(digest, Buffer.from(jwt.slice(0, end), 'latin1'), { key, ...options }, signature)) return undefined
      // Only a key that was used: a key that is only sent costs nothing to make, and would replace those of clients.
      if (known === undefined) keys.set(thumbprint, key)
      return thumbprint as JwkThumbprint
    },
    use: openUsedProofs(),
  }
}
