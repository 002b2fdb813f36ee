import type { Context } from '../../ports/context.ts'
import type { Request } from '../../ports/message.ts'
import type { ClientRecord } from '../../ports/records/client.ts'
import {
  invalidDpopProof,
  tooManyProofs,
  useDpopNonce,
  type OAuthError,
  type ProofPlace,
} from '../../protocol/errors.ts'
import {
  endOfNonce,
  endOfProof,
  findProofFault,
  nonceOf,
  parseDpopProof,
  provesToken,
  type DpopProof,
  type JwkThumbprint,
} from '../../protocol/token/dpop-proof.ts'
import { followsFapi } from '../../protocol/client/policy.ts'
import { addressOf } from '../../protocol/uri/server-address.ts'

/** Whether each token request of the client needs a proof. RFC 9449 §5.2, FAPI 2.0 Security Profile §5.3.2.1. */
export function requiresProof(client: Pick<ClientRecord, 'metadata' | 'rules' | 'source'>): boolean {
  return client.metadata.dpop_bound_access_tokens === true || followsFapi(client)
}

/**
 * Reads the proof of a request, and checks all but its signature. RFC 9449 §4.3. It is read before the client is authenticated, and
 * nothing else of the request has been read or stored then: the client repeats a refused request with the same assertion, which
 * must still be good (decision 0035).
 *
 * `path` is that of the endpoint. undefined: the request has no proof.
 *
 * @throws OAuthError invalid_dpop_proof, use_dpop_nonce
 */
export function readProof(
  context: Context,
  { dpop, method }: Pick<Request, 'dpop' | 'method'>,
  path: string,
): DpopProof | undefined {
  if (dpop === undefined) return undefined
  const proof = readFreshProof(context, { dpop, method, address: addressOf(context.issuer, path) })
  if (typeof proof === 'string') throw proofRefusal(context, proof, 'request')
  return proof
}

/**
 * Verifies the signature of a proof, if there is one. Returns the thumbprint of its key, to which tokens can be bound.
 *
 * @throws OAuthError invalid_dpop_proof
 */
export function verifyProof({ proofs }: Context, proof: DpopProof | undefined): JwkThumbprint | undefined {
  if (proof === undefined) return undefined
  const key = proofs.verify(proof)
  if (key === undefined) throw invalidDpopProof('proof_wrong', 'request')
  return key
}

/** The error for a proof that is not accepted, with a nonce where another proof may be. */
export function proofRefusal({ clock, secrets }: Context, fault: TokenProofFault, place: ProofPlace): OAuthError {
  if (typeof fault === 'object') return tooManyProofs(fault.retryAfterSeconds)
  if (fault === 'proof_not_fresh' || fault === 'nonce_stale')
    return useDpopNonce(fault, place, nonceOf(secrets, clock()))
  return invalidDpopProof(fault, place)
}

/** A request with a proof. */
interface ProvenRequest {
  /** The header `DPoP`. */
  readonly dpop: string
  readonly method: string
  /** The address of the request as clients know it, and not that of the `Host` header. Its query is ignored. */
  readonly address: string
}

/** Why a proof is not accepted, before its signature is verified. */
type ProofFault = 'proof_malformed' | NonNullable<ReturnType<typeof findProofFault>>

/** Reads a proof, and checks that it is for this request and recent. Its signature is not verified. RFC 9449 §4.3. */
function readFreshProof({ clock, secrets }: Context, { dpop, method, address }: ProvenRequest): DpopProof | ProofFault {
  const proof = parseDpopProof(dpop)
  if (proof === undefined) return 'proof_malformed'
  const now = clock()
  const knowsNonce = (nonce: string): boolean => endOfNonce(secrets, nonce, now) !== undefined
  return findProofFault(proof, { method, address, now, knowsNonce }) ?? proof
}

/** Why the proof does not permit to use an access token. */
type TokenProofFault =
  | ProofFault
  | 'proof_of_another_token'
  | 'proof_wrong'
  | 'proof_of_another_key'
  | 'proof_replayed'
  /** The proofs of the caller that have not ended are as many as this process keeps. */
  | { readonly kind: 'too-many-proofs'; readonly retryAfterSeconds: number }

/**
 * Returns why a request may not use an access token that is bound to `key`. RFC 9449 §7.1. Each proof is accepted once in this process,
 * because the answer to a repeated request has a value (§11.1). `network`: that of the caller, if it is known.
 */
export function findTokenProofFault(
  context: Context,
  request: ProvenRequest,
  {
    accessToken,
    key,
    network,
  }: { readonly accessToken: string; readonly key: JwkThumbprint; readonly network: string | undefined },
): TokenProofFault | undefined {
  const proof = readFreshProof(context, request)
  if (typeof proof === 'string') return proof
  if (!provesToken(proof, accessToken)) return 'proof_of_another_token'
  const proven = context.proofs.verify(proof)
  if (proven === undefined) return 'proof_wrong'
  if (proven !== key) return 'proof_of_another_key'
  const now = context.clock()
  const endsAt = endOfProof(context.secrets, proof, now)
  const use = context.proofs.use({ id: proof.id, endsAt }, { key, network }, now)
  switch (use.kind) {
    case 'first':
      return undefined
    case 'repeated':
      return 'proof_replayed'
    case 'full':
      return { kind: 'too-many-proofs', retryAfterSeconds: Math.ceil((use.until - now) / 1000) }
  }
}
