import type { ClientAssertion } from '../protocol/client/assertion.ts'
import type { ClientKeys } from '../protocol/client/keys.ts'

/** Verifies what clients signed with their own keys. */
export interface ClientSignatures {
  /**
   * Whether one of the keys signed the JWT with this algorithm. RFC 7515 §5.2. Keys at a `jwks_uri` are fetched; `network` is
   * that of the caller, whose rate pays for it.
   */
  readonly verify: (
    signed: Pick<ClientAssertion, 'jwt' | 'algorithm'>,
    keys: ClientKeys,
    network: string,
  ) => Promise<SignatureOutcome>
}

export type SignatureOutcome =
  | { readonly kind: 'verified' }
  | { readonly kind: 'wrong' }
  /** The keys could not be fetched, and no earlier copy of them can serve. `reason`: one of the outbound client, or of this server. */
  | { readonly kind: 'keys-unavailable'; readonly reason: string }
