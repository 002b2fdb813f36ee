import type { EpochMs } from '../base/brand.ts'
import type { ClientAssertion } from '../protocol/client/assertion.ts'
import type { ClientKeys } from '../protocol/client/keys.ts'
import type { DpopProof, JwkThumbprint } from '../protocol/token/dpop-proof.ts'

/** Verifies what clients signed with their own keys. */
export interface ClientSignatures {
  /**
   * Whether one of the keys signed the JWT with this algorithm. RFC 7515 §5.2. Keys at a `jwks_uri` are fetched; `network` is
   * that of the caller, whose rate pays for it.
   */
  readonly verify: (
    signed: Pick<ClientAssertion, 'jwt' | 'algorithm' | 'keyId'>,
    keys: ClientKeys,
    network: string,
  ) => Promise<SignatureOutcome>
}

export type SignatureOutcome =
  | { readonly kind: 'verified' }
  | { readonly kind: 'wrong' }
  /** More keys may be meant than are tried. None was. */
  | { readonly kind: 'ambiguous' }
  /** The keys could not be fetched, and no earlier copy of them can serve. `reason`: one of the outbound client, or of this server. */
  | { readonly kind: 'keys-unavailable'; readonly reason: string }
  /** A limit of this server kept the keys from being fetched, or it did so a moment ago and the header names a key that was not there. */
  | { readonly kind: 'limited'; readonly reason: string; readonly retryAfterSeconds: number }

/** Verifies DPoP proofs. RFC 9449 §4.3. */
export interface ProofVerifier {
  /** The thumbprint of the key in the proof, if that key signed it. Step 7. */
  readonly verify: (proof: Pick<DpopProof, 'jwt' | 'jwk' | 'algorithm'>) => JwkThumbprint | undefined
  /** Notes the use of a proof in this process, where a repeated one would have a value. */
  readonly use: ProofUse
}

/**
 * Notes the use of a proof until `endsAt`. RFC 9449 §11.1. `network`: that of the caller; undefined: it is unknown, and each key counts as
 * one.
 */
export type ProofUse = (
  proof: Pick<DpopProof, 'id'> & { readonly endsAt: EpochMs },
  by: { readonly key: JwkThumbprint; readonly network: string | undefined },
  now: EpochMs,
) =>
  | { readonly kind: 'first' | 'repeated' }
  /** So many proofs of the key, the network or all have not ended that this one is not noted, and must not be accepted before `until`. */
  | { readonly kind: 'full'; readonly until: EpochMs }
