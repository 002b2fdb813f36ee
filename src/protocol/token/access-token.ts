import { hash } from 'node:crypto'
import { toSeconds, type Brand, type EpochMs, type EpochSeconds } from '../../base/brand.ts'
import type { GroupsMember } from '../access/group-claim.ts'
import { parseClientIdentifier } from '../client/identifier.ts'
import type { ClientId, GrantId, OrganizationId, UserId } from '../ids.ts'
import type { JwkThumbprint } from './dpop-proof.ts'
import { refreshExpiration, type RefreshExpiration, type RefreshExpiry } from './refresh-expiration.ts'
import type { Resource } from './resource.ts'
import type { Scope } from './scope.ts'

/** The content of an access token. */
export interface AccessTokenFacts {
  readonly issuer: string
  /** Empty: the audience is the issuer itself (decision 0005). */
  readonly resources: readonly Resource[]
  /** The id of the client's record. In a token it is the `client_id`, which differs for a client with a metadata document. */
  readonly clientId: ClientId
  /** undefined: the client acts for itself. */
  readonly userId: UserId | undefined
  /** undefined: the token belongs to no organization (decision 0005). */
  readonly organizationId: OrganizationId | undefined
  /** undefined for client credentials: the client acts for itself, or for a user who did not sign in (decision 0005). */
  readonly grantId: GrantId | undefined
  /** The APIs that exchanged the token (RFC 8693), newest first. Empty: the client got it. */
  readonly actors: readonly Resource[]
  /**
   * The id of the client's token that APIs exchanged for this one, where no grant connects the two: revoking that one ends this one.
   * undefined: the client got this token, or it is of a grant.
   */
  readonly firstTokenId: string | undefined
  readonly scope: Scope
  /** The subject that the operator's application has for the user. undefined: an API of the token does not want it, or there is none. */
  readonly applicationSubject: string | undefined
  /** The key of the client without which the token is worth nothing. RFC 9449 §6. undefined: a bearer token. */
  readonly keyThumbprint: JwkThumbprint | undefined
  /** How and when the user authenticated. undefined: neither the client nor a scope of the grant asks for it. */
  readonly authentication: AccessTokenAuthentication | undefined
  readonly tokenId: string
  readonly issuedAt: EpochSeconds
  readonly expiresAt: EpochSeconds
  /**
   * The newest not-before time of its principals when it was issued. A later one revokes the token, whatever time the token has
   * (decision 0012). undefined: a JWT, which does not contain it, or a token of a grant.
   */
  readonly issuedAfter: EpochMs | undefined
}

/** RFC 9068 §2.2.1, RFC 9470 §6.1. */
export interface AccessTokenAuthentication {
  readonly acr: string
  /** undefined: unknown. */
  readonly time: EpochSeconds | undefined
}

/** Only `accessTokenClaims` returns this type, so the signing keys of access tokens sign nothing else. */
export type AccessTokenClaims = Brand<string, 'AccessTokenClaims'>

/**
 * The claims of a JWT access token, as JSON. RFC 9068 §2.2 and §2.2.1; RFC 8693 §4 defines `scope` and `act`, RFC 9449 §6.1 `cnf`; `org_id`, `grant_id`,
 * `first_jti` and `application_subject` are claims of this server (decisions 0005, 0040). JSON leaves out undefined members. `client` is the `client_id` of the client;
 * `groups`: the claim with the groups of the user (RFC 9068 §2.2.3.1).
 */
export function accessTokenClaims(
  facts: AccessTokenFacts,
  client: string,
  groups: GroupsMember | undefined,
): AccessTokenClaims {
  return JSON.stringify({
    iss: facts.issuer,
    aud: audienceOf(facts),
    sub: facts.userId ?? client,
    client_id: client,
    iat: facts.issuedAt,
    exp: facts.expiresAt,
    jti: facts.tokenId,
    scope: facts.scope === '' ? undefined : facts.scope,
    org_id: facts.organizationId,
    act: actorOf(facts, client),
    grant_id: facts.grantId,
    first_jti: facts.firstTokenId,
    application_subject: facts.applicationSubject,
    cnf: confirmationOf(facts),
    acr: facts.authentication?.acr,
    auth_time: facts.authentication?.time,
    ...groups,
  }) as AccessTokenClaims
}

/** Characters of a JWT beside its claims: the header and the longest signature, of 256 bytes. */
const AROUND_CLAIMS = 512

/** The bytes of claims with which a JWT has at most this many characters. */
export function signableBytes(characters: number): number {
  return Math.floor(((characters - AROUND_CLAIMS) * 3) / 4)
}

/** A party that acts for the user, and the one that acted before it. RFC 8693 §4.1. */
export interface Actor {
  /** The identifier of an API, or a `client_id`. */
  readonly sub: string
  readonly act?: Actor
}

/**
 * The `act` of a token: the APIs that exchanged it (decision 0040), and before them the client, if it acts for a user who did not sign in
 * (decision 0005). `client` is its `client_id`. undefined: the client of a user who signed in.
 */
export function actorOf(
  { actors, userId, grantId }: Pick<AccessTokenFacts, 'actors' | 'userId' | 'grantId'>,
  client: string,
): Actor | undefined {
  const first: Actor | undefined = userId !== undefined && grantId === undefined ? { sub: client } : undefined
  return actors.reduceRight<Actor | undefined>(
    (before, sub) => (before === undefined ? { sub } : { sub, act: before }),
    first,
  )
}

/** Everyone in an `act`, newest first. */
function namesOf(act: Actor | undefined): readonly string[] {
  return act === undefined ? [] : [act.sub, ...namesOf(act.act)]
}

/** What confirms the holder of a token. RFC 7800 §3.1, RFC 9449 §6.1. */
export interface Confirmation {
  /** The thumbprint of the key. */
  readonly jkt: JwkThumbprint
}

/** The `cnf` of a token; undefined for a bearer token. */
export function confirmationOf({ keyThumbprint }: Pick<AccessTokenFacts, 'keyThumbprint'>): Confirmation | undefined {
  return keyThumbprint === undefined ? undefined : { jkt: keyThumbprint }
}

/** Parses the claims of a token whose signature is verified. Returns undefined for claims that `accessTokenClaims` did not make. */
export function parseAccessTokenClaims(text: string, issuer: string): AccessTokenFacts | undefined {
  const claims = JSON.parse(text) as Readonly<Record<string, unknown>>
  const {
    iss,
    aud,
    sub,
    client_id: client,
    iat,
    exp,
    jti,
    scope = '',
    org_id: organizationId,
    grant_id: grantId,
    first_jti: firstTokenId,
    act,
    application_subject: applicationSubject,
    cnf: confirmation,
    acr,
    auth_time: time,
  } = claims
  if (iss !== issuer || typeof sub !== 'string' || typeof client !== 'string' || typeof jti !== 'string') return
  if (typeof iat !== 'number' || typeof exp !== 'number' || typeof scope !== 'string') return
  const clientId = parseClientIdentifier(client)?.id
  if (clientId === undefined) return
  const audience = Array.isArray(aud) ? aud : [aud]
  const names = namesOf(act as Actor | undefined)
  // Two administrators who choose one id at the same time may make a user and a client with one `sub`.
  const isOfClient = sub === client && grantId === undefined && act === undefined
  return {
    issuer,
    resources: audience.filter((one) => one !== issuer) as readonly Resource[],
    clientId,
    userId: isOfClient ? undefined : (sub as UserId),
    organizationId: organizationId as OrganizationId | undefined,
    grantId: grantId as GrantId | undefined,
    // Without a grant the client acted first (`actorOf`).
    actors: (grantId === undefined ? names.slice(0, -1) : names) as readonly Resource[],
    firstTokenId: firstTokenId as string | undefined,
    scope: scope as Scope,
    applicationSubject: applicationSubject as string | undefined,
    keyThumbprint: (confirmation as Confirmation | undefined)?.jkt,
    authentication: typeof acr === 'string' ? { acr, time: time as EpochSeconds | undefined } : undefined,
    tokenId: jti,
    issuedAt: iat as EpochSeconds,
    expiresAt: exp as EpochSeconds,
    issuedAfter: undefined,
  }
}

/** The `aud` of a token. RFC 9068 §2.2: without a resource it is the issuer itself. */
export function audienceOf({
  resources,
  issuer,
}: Pick<AccessTokenFacts, 'resources' | 'issuer'>): string | readonly string[] {
  return resources.length > 1 ? resources : (resources[0] ?? issuer)
}

/** A `jti` that is always the same for the same `identity`. The token contains the parts of `identity`, so the hash needs no key. */
export function tokenIdOf(identity: readonly string[]): string {
  return hash('sha256', JSON.stringify(identity), 'base64url')
}

/** How a token is presented. RFC 6750, RFC 9449 §5. */
export type TokenType = 'Bearer' | 'DPoP'

export function tokenTypeOf({ keyThumbprint }: Pick<AccessTokenFacts, 'keyThumbprint'>): TokenType {
  return keyThumbprint === undefined ? 'Bearer' : 'DPoP'
}

/** The body of a successful token response. RFC 6749 §5.1. JSON leaves out undefined members (real-clients.md). */
export interface TokenResponse extends Readonly<Record<keyof RefreshExpiration, number | undefined>> {
  readonly access_token: string
  readonly token_type: TokenType
  /** Seconds. */
  readonly expires_in: number
  readonly refresh_token: string | undefined
  readonly scope: string | undefined
  /** OpenID Connect Core 1.0 §3.1.3.3. Absent if the grant has no `openid`. */
  readonly id_token?: string
  /** RFC 8693 §2.2.1. Only in the answer to an exchange. */
  readonly issued_token_type?: string
}

/** An issued token: the response for the client, and the content of the token for the log. */
export interface IssuedToken {
  readonly response: TokenResponse
  readonly facts: AccessTokenFacts
  /** By how many generations an earlier refresh token is older than the newest one, which is in the response. Absent: none was presented. */
  readonly earlier?: number
  /** What access rules left out of the scope. Absent: nothing. */
  readonly leftOut?: Scope
}

/** The refresh token of an answer. */
export interface AnsweredRefresh extends RefreshExpiry {
  /** undefined: the client keeps the token that it presented, which has no timeout of its own. */
  readonly token: string | undefined
}

/** The draft demands both members of `RefreshExpiration` beside each refresh token. */
export function tokenResponse(
  accessToken: string,
  facts: Pick<AccessTokenFacts, 'scope' | 'expiresAt' | 'keyThumbprint'>,
  now: EpochMs,
  refresh: AnsweredRefresh | undefined,
): TokenResponse {
  const expiration = refresh && refreshExpiration(refresh, now)
  return {
    access_token: accessToken,
    token_type: tokenTypeOf(facts),
    expires_in: Math.max(0, facts.expiresAt - toSeconds(now)),
    refresh_token: refresh?.token,
    refresh_token_timeout: refresh?.token === undefined ? undefined : expiration?.refresh_token_timeout,
    authorization_expires_in: expiration?.authorization_expires_in,
    scope: facts.scope === '' ? undefined : facts.scope,
  }
}
