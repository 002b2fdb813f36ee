import * as z from 'zod'
import { after, type EpochMs } from '../../base/brand.ts'
import { fromNumericDate, readUnverifiedJwt } from '../token/unverified-jwt.ts'
import { ASSERTION_ALGORITHMS, type AssertionAlgorithm } from './keys.ts'
import { MAXIMA } from '../../base/maxima.ts'

/** RFC 7523 §2.2. */
const ASSERTION_TYPE = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer'

/** A JWT with which a client authenticates, not verified yet. RFC 7523 §3. */
export interface ClientAssertion {
  /** The JWT as it was sent. */
  readonly jwt: string
  readonly algorithm: AssertionAlgorithm
  readonly keyId: string | undefined
  /** `iss` and `sub`. */
  readonly clientId: string
  /** `jti`. */
  readonly id: string
  readonly audience: unknown
  readonly expiresAt: EpochMs
  readonly notBefore: EpochMs | undefined
  readonly issuedAt: EpochMs | undefined
}

/** How long an assertion can be used after it was issued. */
const LIFETIME_MS = 10 * 60 * 1000
/** How far the clock of a client may be ahead. */
const AHEAD_MS = 60 * 1000
/** How long an expired assertion is accepted, because the clock of the client may be behind. */
const BEHIND_MS = 10 * 1000
/** The digest of an assertion is kept this much longer than the assertion is valid, because nodes' clocks differ. */
const KEPT_MS = 60 * 1000
/** The longest time for which a digest is kept: far longer than the assertion can be used. */
const KEPT_AT_MOST_MS = 60 * 60 * 1000

/** RFC 7519 §5.1, RFC 7515 §4.1.9: a media type, whose `application/` may be left out. */
const TYPES = /^(application\/)?(jwt|client-authentication\+jwt)$/i

const absent = z.never().optional()
/** A header that names a key, or requires an extension, is not accepted: only registered keys are used (RFC 8725 §3.10). */
const header = z.object({
  alg: z.enum(ASSERTION_ALGORITHMS),
  typ: z.string().regex(TYPES).optional(),
  kid: z.string().max(MAXIMA.jwtId.most).optional(),
  jku: absent,
  jwk: absent,
  x5u: absent,
  crit: absent,
})
const claims = z.object({
  iss: z.string(),
  sub: z.string(),
  aud: z.unknown().optional(),
  exp: z.number(),
  nbf: z.number().optional(),
  iat: z.number().optional(),
  jti: z.string().min(1).max(MAXIMA.jwtId.most),
})

/**
 * Reads an assertion. RFC 7523 §2.2 and §3, RFC 7519 §7.2.
 *
 *  §2.2  `client_assertion_type` says that the assertion is a JWT.
 *  §3 1, 2  `iss` and `sub` are the client's id.
 *  §3 4     `exp` is required.
 *  §3 7     `jti` is required here, so that each assertion is accepted once.
 *
 * The signature is not verified here.
 *
 * @returns undefined if the text is not such an assertion
 */
export function parseClientAssertion(type: string | undefined, jwt: string): ClientAssertion | undefined {
  const parts = type === ASSERTION_TYPE ? readUnverifiedJwt(jwt, MAXIMA.clientAssertion.most) : undefined
  const { data: headed } = header.safeParse(parts?.header)
  const { data: claimed } = claims.safeParse(parts?.claims)
  if (headed === undefined || claimed === undefined || claimed.iss !== claimed.sub) return undefined
  return {
    jwt,
    algorithm: headed.alg,
    keyId: headed.kid,
    clientId: claimed.sub,
    id: claimed.jti,
    audience: claimed.aud,
    expiresAt: fromNumericDate(claimed.exp),
    notBefore: claimed.nbf === undefined ? undefined : fromNumericDate(claimed.nbf),
    issuedAt: claimed.iat === undefined ? undefined : fromNumericDate(claimed.iat),
  }
}

/** What a server compares an assertion with. */
export interface AssertionExpectations {
  /** The values of `aud` that name this server. */
  readonly audiences: readonly string[]
  readonly now: EpochMs
  /** The server's not-before time. A restored store does not know which assertions were used before the restore. */
  readonly notBefore: EpochMs
}

/**
 * Returns why the claims are not acceptable. RFC 7523 §3.
 *
 *  §3 3  `aud` names this server. Each value of an array must name it; otherwise another server that the client trusts could
 *        present the assertion here (threats.md CA-04).
 *  §3 4  The assertion has not expired, and was issued in the last ten minutes, however far ahead `exp` is. Without `iat`, `exp` is
 *        at most ten minutes ahead.
 *  §3 5, 6  `nbf` and `iat` are not in the future.
 *
 * The clock of a client may be up to a minute ahead and ten seconds behind.
 */
export function findAssertionFault(
  { audience, expiresAt, notBefore, issuedAt }: ClientAssertion,
  expected: AssertionExpectations,
): 'assertion_audience' | 'assertion_expired' | undefined {
  const { audiences, now } = expected
  const named: readonly unknown[] = Array.isArray(audience) ? audience : [audience]
  if (named.length === 0 || !named.every((one) => audiences.some((own) => own === one))) return 'assertion_audience'
  const latest = after(now, AHEAD_MS)
  const issued = issuedAt ?? after(expiresAt, -LIFETIME_MS)
  const isOver = now >= after(Math.min(expiresAt, after(issued, LIFETIME_MS)) as EpochMs, BEHIND_MS)
  const isEarly = Math.max(issued, notBefore ?? issued) > latest
  // Without `iat`, the earliest time at which the assertion could have been accepted.
  const since = issuedAt ?? after(issued, -AHEAD_MS)
  return isOver || isEarly || since < expected.notBefore ? 'assertion_expired' : undefined
}

/** Until when the id of an assertion that is used now must be remembered: until it expires, and at most an hour. */
export function rememberUntil({ expiresAt }: ClientAssertion, now: EpochMs): EpochMs {
  return after(Math.min(expiresAt, after(now, KEPT_AT_MOST_MS)) as EpochMs, KEPT_MS)
}
