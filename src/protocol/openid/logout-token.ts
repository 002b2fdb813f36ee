import type { Brand, EpochSeconds } from '../../base/brand.ts'
import type { UserId } from '../ids.ts'

/** Seconds for which a logout token is valid. OpenID Connect Back-Channel Logout 1.0 §2.4 recommends at most two minutes. */
const LIFETIME_SECONDS = 120
/** The one event that a logout token reports. */
const EVENT = 'http://schemas.openid.net/event/backchannel-logout'

/** The content of a logout token. OpenID Connect Back-Channel Logout 1.0 §2.4. */
export interface LogoutTokenFacts {
  readonly issuer: string
  /** The `client_id` of the client. */
  readonly audience: string
  readonly userId: UserId
  /** The `sid` of its ID tokens. */
  readonly sessionId: string
  readonly issuedAt: EpochSeconds
  /** Unique, so that the client recognizes a token that it has seen. */
  readonly tokenId: string
}

/** Only `logoutTokenClaims` returns this type, so nothing else is signed with `typ: logout+jwt`. */
export type LogoutTokenClaims = Brand<string, 'LogoutTokenClaims'>

/** The claims of a logout token, as JSON. A `nonce` is prohibited, so that no client takes the token for an ID token. */
export function logoutTokenClaims(facts: LogoutTokenFacts): LogoutTokenClaims {
  return JSON.stringify({
    iss: facts.issuer,
    aud: facts.audience,
    sub: facts.userId,
    sid: facts.sessionId,
    iat: facts.issuedAt,
    exp: facts.issuedAt + LIFETIME_SECONDS,
    jti: facts.tokenId,
    events: { [EVENT]: {} },
  }) as LogoutTokenClaims
}
