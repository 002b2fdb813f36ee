import type { AccessTokenClaims, AccessTokenFacts } from '../protocol/token/access-token.ts'
import type { IdTokenAlgorithm, IdTokenClaims } from '../protocol/openid/id-token.ts'
import type { LogoutTokenClaims } from '../protocol/openid/logout-token.ts'
import type { JwtType } from './records/api.ts'
import type { KeyRecord, SigningAlgorithm } from './records/key.ts'

/** Signs JWTs in batches: once at the end of each turn of the event loop, everything that was requested in it. */
export interface TokenSigner {
  /**
   * Returns a compact JWS over the claims with this `typ`. It is signed with the server's own algorithm if no other is
   * named, or while the named algorithm's first key is not active yet.
   *
   * This signs access tokens only, with keys that sign nothing else (see KEY_PURPOSES).
   */
  readonly sign: (
    claims: AccessTokenClaims,
    algorithm: SigningAlgorithm | undefined,
    jwtType: JwtType,
  ) => Promise<string>
  /**
   * Returns a compact JWS over the claims with `typ: JWT`, signed with this algorithm and no other: relying parties accept only the
   * one that they registered. Rejects if the algorithm has no key; see `SigningKeys.ensureIdTokenKey`.
   */
  readonly signIdToken: (claims: IdTokenClaims, algorithm: SigningAlgorithm) => Promise<string>
  /** The same for a logout token, which has `typ: logout+jwt`, so that no verifier of ID tokens accepts it. */
  readonly signLogoutToken: (claims: LogoutTokenClaims, algorithm: SigningAlgorithm) => Promise<string>
}

/** Public JWKs. The list is the same object until a key changes. */
export interface PublishedKeys {
  readonly keys: readonly object[]
  /** false: the store cannot be written, and an algorithm for ID tokens has no key yet. */
  readonly isComplete: boolean
}

/** The keys that sign, at most two seconds old. While the store is unavailable, the last known keys. */
export interface SigningKeys {
  /**
   * All keys that verifiers need: those that sign now or later, and those whose tokens are still valid. RFC 7517 §5. The first call
   * creates a key for ID tokens of each of `earlyIdTokenAlgorithms`, so that a verifier never has a key set without them.
   */
  readonly published: () => Promise<PublishedKeys>
  /** Creates a key without storing it. */
  readonly create: (plan: Pick<KeyRecord, 'purpose' | 'algorithm' | 'createdAt' | 'activeFrom'>) => Promise<KeyRecord>
  /** The algorithms of ID tokens that a client may choose by itself: `earlyIdTokenAlgorithms`, and those that have a key. */
  readonly idTokenAlgorithms: () => Promise<readonly IdTokenAlgorithm[]>
  /** Creates and stores the first key for ID tokens of an algorithm, if there is none. It signs at once. */
  readonly ensureIdTokenKey: (algorithm: SigningAlgorithm) => Promise<void>
}

/** Reads access tokens that this server signed. */
export interface TokenReader {
  /** undefined: this server did not sign the token. Whether it was revoked must be checked in the store. */
  readonly read: (token: string) => Promise<AccessTokenFacts | undefined>
  /**
   * The claims, as JSON, of an ID token that one of the published keys signed, also of one that has expired. undefined: none of
   * them signed the token.
   */
  readonly readIdToken: (token: string) => Promise<string | undefined>
}
