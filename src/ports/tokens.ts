import type { AccessTokenClaims, AccessTokenFacts } from '../protocol/access-token.ts'
import type { JwtType } from './records/api.ts'
import type { KeyRecord, SigningAlgorithm } from './records/key.ts'

/** Signs JWTs in batches: once at the end of each turn of the event loop, everything that was requested in it. */
export interface TokenSigner {
  /**
   * Returns a compact JWS over the claims with this `typ`. It is signed with the server's own algorithm if no other is
   * named, or while the named algorithm's first key is not active yet.
   *
   * This signs access tokens only. A JWT of another kind, such as an ID token, needs keys of its own, because `typ` does not
   * distinguish it from an access token of an API that uses `typ: JWT` (RFC 8725 §3.12).
   */
  readonly sign: (
    claims: AccessTokenClaims,
    algorithm: SigningAlgorithm | undefined,
    jwtType: JwtType,
  ) => Promise<string>
}

/** The keys that sign access tokens, at most two seconds old. While the store is unavailable, the last known keys. */
export interface SigningKeys {
  /** All keys that verifiers need: those that sign now or later, and those whose tokens are still valid. RFC 7517 §5. */
  readonly published: () => Promise<readonly object[]>
  /** Creates a key without storing it. */
  readonly create: (plan: Pick<KeyRecord, 'algorithm' | 'createdAt' | 'activeFrom'>) => Promise<KeyRecord>
}

/** Reads access tokens that this server signed. */
export interface TokenReader {
  /** undefined: this server did not sign the token. Whether it was revoked must be checked in the store. */
  readonly read: (token: string) => Promise<AccessTokenFacts | undefined>
}
