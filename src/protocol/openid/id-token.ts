import { hash } from 'node:crypto'
import type { AuthenticationMethod } from '../sign-in/authentication.ts'
import type { Brand, EpochSeconds } from '../../base/brand.ts'
import type { GrantType } from '../token/grant-types.ts'
import { parseUserId, type OrganizationId, type UserId } from '../ids.ts'

/** The algorithms that a client can register for its ID tokens. OpenID Connect Dynamic Client Registration 1.0 §2. */
export const ID_TOKEN_ALGORITHMS = ['RS256', 'ES256', 'EdDSA'] as const
export type IdTokenAlgorithm = (typeof ID_TOKEN_ALGORITHMS)[number]
/**
 * The algorithms of which this server can have keys. Without the authorization code grant there are no ID tokens. The metadata offers those
 * that have one (`SigningKeys.idTokenAlgorithms`). OpenID Connect Discovery 1.0 §3.
 */
export function offeredIdTokenAlgorithms(grantTypes: readonly GrantType[]): readonly IdTokenAlgorithm[] {
  return grantTypes.includes('authorization_code') ? ID_TOKEN_ALGORITHMS : []
}

/**
 * The algorithms whose keys are published from the start. The others follow with the first client of the operator, or that is
 * verified, which chooses one: some libraries reject a set of keys with a type that they do not know (OKP: Rust's `openid`), so a stranger
 * must not add one.
 */
export function earlyIdTokenAlgorithms(grantTypes: readonly GrantType[]): readonly IdTokenAlgorithm[] {
  return offeredIdTokenAlgorithms(grantTypes).filter((algorithm) => algorithm !== 'EdDSA')
}

/** For a client that registered none. */
export const DEFAULT_ID_TOKEN_ALGORITHM = 'RS256' satisfies IdTokenAlgorithm

/** The content of an ID token. OpenID Connect Core 1.0 §2. */
export interface IdTokenFacts {
  readonly issuer: string
  /** The `client_id` of the client. */
  readonly audience: string
  readonly userId: UserId
  readonly issuedAt: EpochSeconds
  readonly expiresAt: EpochSeconds
  /** When the user authenticated. undefined: unknown. */
  readonly authenticatedAt: EpochSeconds | undefined
  /** undefined: one factor, and the request did not ask for it. */
  readonly acr: string | undefined
  readonly methods: readonly AuthenticationMethod[]
  /** Only in the first ID token of a grant. */
  readonly nonce: string | undefined
  /** As `accessTokenHash` returns it. */
  readonly accessTokenHash: string
  /** As `sessionIdFor` returns it. */
  readonly sessionId: string
  readonly organizationId: OrganizationId | undefined
  /** The claims about the user that belong in the ID token (user-claims.ts). Most are read from the userinfo endpoint. */
  readonly userClaims: Readonly<Record<string, unknown>>
}

/** Only `idTokenClaims` returns this type, so the keys of ID tokens sign nothing else. */
export type IdTokenClaims = Brand<string, 'IdTokenClaims'>

/**
 * The claims of an ID token, as JSON. OpenID Connect Core 1.0 §2 and §3.1.3.6; `sid` is from Front-Channel Logout 1.0 §3, and
 * `org_id` is a claim of this server (decision 0005). JSON leaves out undefined members.
 */
export function idTokenClaims(facts: IdTokenFacts): IdTokenClaims {
  return JSON.stringify({
    ...facts.userClaims,
    iss: facts.issuer,
    aud: facts.audience,
    sub: facts.userId,
    iat: facts.issuedAt,
    exp: facts.expiresAt,
    auth_time: facts.authenticatedAt,
    nonce: facts.nonce,
    at_hash: facts.accessTokenHash,
    sid: facts.sessionId,
    acr: facts.acr,
    amr: facts.methods.filter((method) => method !== 'recovery'),
    org_id: facts.organizationId,
  }) as IdTokenClaims
}

/**
 * The `at_hash`: the left half of the hash of the access token, base64url. OpenID Connect Core 1.0 §3.1.3.6. The hash is that of the
 * signature; EdDSA with Ed25519 has SHA-512 (RFC 8032 §5.1).
 */
export function accessTokenHash(accessToken: string, algorithm: IdTokenAlgorithm): string {
  const digest = hash(algorithm === 'EdDSA' ? 'sha512' : 'sha256', accessToken, 'buffer')
  return digest.subarray(0, digest.length / 2).toString('base64url')
}

/** What an `id_token_hint` says. */
export interface IdTokenHint {
  /** The `client_id` of the client. */
  readonly audience: string
  readonly userId: UserId
  readonly sessionId: string
}

/** Parses the claims of an ID token whose signature is verified. Returns undefined for claims that `idTokenClaims` did not make. */
export function parseIdTokenHint(text: string, issuer: string): IdTokenHint | undefined {
  const { iss, aud, sub, sid } = JSON.parse(text) as Readonly<Record<string, unknown>>
  const userId = typeof sub === 'string' ? parseUserId(sub) : undefined
  if (iss !== issuer || userId === undefined || typeof aud !== 'string' || typeof sid !== 'string') return undefined
  return { audience: aud, userId, sessionId: sid }
}
