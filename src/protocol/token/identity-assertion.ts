import * as z from 'zod'
import { after, type EpochMs } from '../../base/brand.ts'
import { ASSERTION_ALGORITHMS, type AssertionAlgorithm } from '../client/keys.ts'
import type { ProviderClaims } from '../sign-in/provider-identity.ts'
import { compared } from '../compared.ts'
import { findNamed, isOfApi, parseResources, type Resource } from './resource.ts'
import { isThumbprint } from './dpop-proof.ts'
import { parseScope, type Scope } from './scope.ts'
import { fromNumericDate, readUnverifiedJwt } from './unverified-jwt.ts'
import { MAXIMA } from '../../base/maxima.ts'

/** draft-ietf-oauth-identity-assertion-authz-grant §7.2: the metadata name the one profile of the grant that the server accepts. */
export const IDENTITY_ASSERTION_PROFILE = 'urn:ietf:params:oauth:grant-profile:id-jag'

/**
 * An assertion of a provider that a client may act for one of its users at this server (ID-JAG), not verified yet.
 * draft-ietf-oauth-identity-assertion-authz-grant §3.
 */
export interface IdentityAssertion {
  /** The JWT as it was sent. */
  readonly jwt: string
  readonly algorithm: AssertionAlgorithm
  readonly keyId: string | undefined
  /** `iss`, `aud` and `client_id`, which are compared and may be of any type. */
  readonly issuer: unknown
  readonly audience: unknown
  readonly clientId: unknown
  readonly subject: string
  /** `jti`. */
  readonly id: string
  readonly issuedAt: EpochMs
  readonly expiresAt: EpochMs
  readonly notBefore: EpochMs | undefined
  /** `tenant` and `authorization_details`, if it has them. They restrict in ways that this server does not know. */
  readonly restrictions: readonly ('tenant' | 'authorization_details')[]
  /** undefined: it names none. `malformed`: none that this server could have. */
  readonly resource: Resource | 'malformed' | undefined
  readonly scope: Scope | undefined
  /** `cnf.jkt`: the key of which a proof is required. RFC 7800 §3.1, RFC 9449 §6.1. */
  readonly keyThumbprint: string | undefined
  /** All claims, for what they say about the person. */
  readonly claims: ProviderClaims
}

/** How far ahead `exp` may be. */
const LIFETIME_MS = 30 * 60 * 1000
/** How far the clock of the provider may differ. */
const TOLERANCE_MS = 60 * 1000
/** The digest of an assertion is kept this much longer than the assertion is accepted, because nodes' clocks differ. */
const KEPT_MS = 60 * 1000

/** RFC 7515 §4.1.9: a media type, whose `application/` may be left out. No other JWT of a provider has it (threats.md JAG-03). */
const TYPE = /^(application\/)?oauth-id-jag\+jwt$/i

const absent = z.never().optional()
/** Only keys at the `jwks_uri` of the provider are used (RFC 8725 §3.10). */
const header = z.object({
  typ: z.string().regex(TYPE),
  alg: z.enum(ASSERTION_ALGORITHMS),
  kid: z.string().max(MAXIMA.jwtId.most).optional(),
  jku: absent,
  jwk: absent,
  x5u: absent,
  crit: absent,
})
const claims = z.looseObject({
  sub: z.string().min(1),
  jti: z.string().min(1).max(MAXIMA.jwtId.most),
  iat: z.number(),
  exp: z.number(),
  nbf: z.number().optional(),
  scope: z.string().optional(),
  // A confirmation of another kind than a DPoP key cannot be checked.
  cnf: z.strictObject({ jkt: z.string().refine(isThumbprint) }).optional(),
})

/**
 * Reads an assertion. The signature is not verified here.
 *
 * @returns undefined if the text is not an assertion of this kind
 */
export function parseIdentityAssertion(jwt: string): IdentityAssertion | undefined {
  const parts = readUnverifiedJwt(jwt, MAXIMA.identityAssertion.most)
  const { data: headed } = header.safeParse(parts?.header)
  const { data: claimed } = claims.safeParse(parts?.claims)
  if (headed === undefined || claimed === undefined) return undefined
  const { sub, jti, iat, exp, nbf, scope: sent, cnf, iss, aud, client_id: clientId, resource } = claimed
  const scope = sent === undefined ? undefined : parseScope(sent)
  if (sent !== undefined && scope === undefined) return undefined
  return {
    jwt,
    algorithm: headed.alg,
    keyId: headed.kid,
    issuer: iss,
    audience: aud,
    clientId,
    subject: sub,
    id: jti,
    issuedAt: fromNumericDate(iat),
    expiresAt: fromNumericDate(exp),
    notBefore: nbf === undefined ? undefined : fromNumericDate(nbf),
    restrictions: (['tenant', 'authorization_details'] as const).filter((name) => name in claimed),
    resource: readResource(resource),
    scope,
    keyThumbprint: cnf?.jkt,
    claims: claimed,
  }
}

/** Names what makes a text no assertion of this kind, for the log: the first member that is missing or wrong. */
export function findMalformedMember(jwt: string): string {
  const parts = readUnverifiedJwt(jwt, MAXIMA.identityAssertion.most)
  if (parts === undefined) return `no JWT of at most ${MAXIMA.identityAssertion.most} characters`
  for (const [part, schema] of [
    ['header', header],
    ['claims', claims],
  ] as const) {
    const [fault] = schema.safeParse(parts[part]).error?.issues ?? []
    const name = fault?.path[0] ?? fault?.code
    if (name === 'typ') return compared(['oauth-id-jag+jwt'], (parts.header as { readonly typ?: unknown }).typ)
    if (name === 'alg') return compared(ASSERTION_ALGORITHMS, (parts.header as { readonly alg?: unknown }).alg)
    if (name !== undefined) return `${part}: ${String(name)}`
  }
  return 'claims: scope'
}

/** A text, or an array of one text. */
function readResource(claim: unknown): IdentityAssertion['resource'] {
  if (claim === undefined) return undefined
  const named: readonly unknown[] = Array.isArray(claim) ? claim : [claim]
  const texts = named.filter((one) => typeof one === 'string')
  const [resource, ...others] = texts.length === named.length ? (parseResources(texts) ?? []) : []
  return resource === undefined || others.length > 0 ? 'malformed' : resource
}

/** What a server compares an assertion with. */
export interface IdentityAssertionExpectations {
  /** The issuer of this server. */
  readonly audience: string
  /** The `client_id` of the client that presents it. */
  readonly clientId: string
  readonly now: EpochMs
  /** The server's not-before time. A restored store does not know which assertions were used before the restore. */
  readonly notBefore: EpochMs
}

export type IdentityAssertionFault =
  | 'assertion_audience'
  | 'assertion_client'
  | 'assertion_expired'
  | 'assertion_tenant'
  | 'assertion_details'

/**
 * Returns why the claims are not acceptable. RFC 7523 §3, draft-ietf-oauth-identity-assertion-authz-grant §4.4.1.
 *
 *  1. `aud` is this server alone: another server that the provider trusts could present the assertion here.
 *  2. `client_id` is the client that authenticated, so that a stolen assertion is of no use to another one (threats.md JAG-07).
 *  3. It has not expired, expires within half an hour, and was issued after the server's not-before time. The clock of the provider may
 *     differ by a minute, also before a restore.
 *  4. It has no restriction that this server does not know.
 */
export function findIdentityAssertionFault(
  { audience, clientId, issuedAt, expiresAt, notBefore, restrictions }: IdentityAssertion,
  expected: IdentityAssertionExpectations,
): IdentityAssertionFault | undefined {
  const named: readonly unknown[] = Array.isArray(audience) ? audience : [audience]
  if (named.length !== 1 || named[0] !== expected.audience) return 'assertion_audience'
  if (clientId !== expected.clientId) return 'assertion_client'
  const { now } = expected
  const latest = after(now, TOLERANCE_MS)
  const isOver = now >= after(expiresAt, TOLERANCE_MS) || expiresAt > after(latest, LIFETIME_MS)
  const isEarly = Math.max(issuedAt, notBefore ?? issuedAt) > latest
  if (isOver || isEarly || issuedAt < after(expected.notBefore, TOLERANCE_MS)) return 'assertion_expired'
  if (restrictions.includes('tenant')) return 'assertion_tenant'
  return restrictions.length > 0 ? 'assertion_details' : undefined
}

/** What the fault compared, for the log. */
export function describeIdentityAssertionFault(
  fault: IdentityAssertionFault,
  { audience, clientId }: Pick<IdentityAssertion, 'audience' | 'clientId'>,
  expected: Pick<IdentityAssertionExpectations, 'audience' | 'clientId'>,
): string | undefined {
  if (fault === 'assertion_audience') return compared([expected.audience], audience)
  return fault === 'assertion_client' ? compared([expected.clientId], clientId) : undefined
}

/** Until when the id of an accepted assertion must be remembered: 33 minutes at most. */
export function rememberAssertionUntil({ expiresAt }: IdentityAssertion): EpochMs {
  return after(expiresAt, TOLERANCE_MS + KEPT_MS)
}

/**
 * Chooses the API of a token among those of the provider: the one that the assertion names, or the only one. The request may name the same
 * one (RFC 8707 §2.2). undefined: the assertion or the request names another one, or none where there are several.
 */
export function chooseAssertedResource(
  { resource: asserted }: Pick<IdentityAssertion, 'resource'>,
  requested: readonly Resource[],
  offered: readonly string[],
): string | undefined {
  if (asserted === 'malformed') return undefined
  const declared = offered.map((resource) => ({ resource }))
  const [only, ...others] = offered
  const chosen =
    asserted === undefined ? (others.length === 0 ? only : undefined) : findNamed(declared, asserted)?.resource
  if (chosen === undefined) return undefined
  return requested.every((one) => isOfApi(chosen, one, declared)) ? chosen : undefined
}
