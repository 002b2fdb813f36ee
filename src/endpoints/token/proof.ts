import type { Context } from '../../ports/context.ts'
import type { Request } from '../../ports/message.ts'
import { invalidDpopProof, useDpopNonce, type ProofPlace } from '../../protocol/errors.ts'
import {
  findProofFault,
  isRecentNonce,
  nonceOf,
  parseDpopProof,
  type DpopProof,
  type JwkThumbprint,
} from '../../protocol/token/dpop-proof.ts'
import { addressOf } from '../../protocol/uri/server-address.ts'

/** Where a proof arrives: the path of the endpoint, and how a refusal is answered. */
interface ProofTarget {
  readonly path: string
  readonly place: ProofPlace
}

/**
 * Reads the proof of a request, and checks all but its signature. RFC 9449 §4.3. It is read before the client is authenticated, and
 * nothing else of the request has been read or stored then: the client repeats a refused request with the same assertion, which
 * must still be good (decision 0035).
 *
 * undefined: the request has none.
 *
 * @throws OAuthError invalid_dpop_proof, use_dpop_nonce
 */
export function readProof(
  { clock, issuer, secrets }: Pick<Context, 'clock' | 'issuer' | 'secrets'>,
  { dpop, method }: Pick<Request, 'dpop' | 'method'>,
  { path, place }: ProofTarget,
): DpopProof | undefined {
  if (dpop === undefined) return undefined
  const proof = parseDpopProof(dpop)
  if (proof === undefined) throw invalidDpopProof('proof_malformed', place)
  const now = clock()
  const fault = findProofFault(proof, {
    method,
    address: addressOf(issuer, path),
    now,
    knowsNonce: (nonce) => isRecentNonce(secrets, nonce, now),
  })
  if (fault === 'proof_for_another_request') throw invalidDpopProof(fault, place)
  if (fault !== undefined) throw useDpopNonce(fault, place, nonceOf(secrets, now))
  return proof
}

/**
 * Verifies the signature of a proof, if there is one. Returns the thumbprint of its key, to which tokens can be bound.
 *
 * @throws OAuthError invalid_dpop_proof
 */
export function verifyProof(
  { proofs }: Pick<Context, 'proofs'>,
  proof: DpopProof | undefined,
  { place }: Pick<ProofTarget, 'place'>,
): JwkThumbprint | undefined {
  if (proof === undefined) return undefined
  const key = proofs.verify(proof)
  if (key === undefined) throw invalidDpopProof('proof_wrong', place)
  return key
}
