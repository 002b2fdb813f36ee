import type { Context } from '../../ports/context.ts'
import type { ClientRecord } from '../../ports/records/client.ts'
import type { GrantRecord, OpenidGrant } from '../../ports/records/grant.ts'
import {
  accessTokenClaims,
  signableBytes,
  tokenIdOf,
  tokenResponse,
  type AccessTokenClaims,
  type AccessTokenFacts,
  type AnsweredRefresh,
  type IssuedToken,
} from '../../protocol/token/access-token.ts'
import type { GroupClaim } from '../../protocol/access/group-claim.ts'
import { toSeconds, type EpochMs, type EpochSeconds } from '../../base/brand.ts'
import { MAXIMA } from '../../base/maxima.ts'
import { identifierOf } from '../../protocol/client/identifier.ts'
import {
  mintOrderedId,
  opaqueTokenId,
  type OpaqueTokenId,
  type OrganizationId,
  type UserId,
} from '../../protocol/ids.ts'
import type { Resource } from '../../protocol/token/resource.ts'
import { isIdentityScope, narrow, unite, type Scope } from '../../protocol/token/scope.ts'
import type { MintedCredential } from '../../protocol/secrets.ts'
import { findNewestNotBefore } from '../../tokens/invalid-principal.ts'
import { findGroupsForToken, reportGroupsLeftOut } from '../../users/group-claim.ts'
import { issueIdToken } from '../openid/id-token.ts'
import type { AuthenticatedApi } from './authenticate-caller.ts'
import type { AuthenticatedClient } from './authenticate-client.ts'
import { givesIdentity } from '../../requests/scope-catalog.ts'
import { tokenTooLong } from '../../requests/scope-refusal.ts'
import { callerOf, takeRowBudget } from './stored-tokens.ts'
import type { TokenProfile } from './token-profile.ts'

/** The scope and the audience of an access token. */
export interface TokenTarget {
  readonly scope: Scope
  readonly resources: readonly Resource[]
  /** As in the facts of a token. */
  readonly applicationSubject: string | undefined
}

/** The same for an access token without a grant, with the principals that the client acts for (decision 0005). */
export interface UnattendedTarget extends Omit<TokenTarget, 'applicationSubject'> {
  readonly userId: UserId | undefined
  readonly organizationId: OrganizationId | undefined
}

/**
 * Issues an access token without a grant, for a client that acts without a user. RFC 6749 §4.4.3: there is no refresh token.
 *
 * @throws OAuthError temporarily_unavailable
 */
export function issueClientToken(
  context: Context,
  client: AuthenticatedClient,
  target: UnattendedTarget,
  { profile, now, network }: { readonly profile: TokenProfile; readonly now: EpochMs; readonly network: string },
): Promise<IssuedToken> {
  const facts = {
    ...target,
    issuer: context.issuer,
    clientId: client.id,
    grantId: undefined,
    actors: [],
    firstTokenId: undefined,
    applicationSubject: undefined,
    authentication: undefined,
    issuedAfter: undefined,
    expiresAt: (toSeconds(now) + profile.lifetime) as EpochSeconds,
  }
  return issueOnce(context, client, facts, { profile, now, network, payer: callerOf(client, network) })
}

/**
 * Issues an access token for an API in exchange for another one (RFC 8693 §2.2.1). All but the target is that of the subject token, which
 * the new token does not outlive.
 *
 * @throws OAuthError temporarily_unavailable
 */
export function issueExchangedToken(
  context: Context,
  exchange: {
    readonly api: AuthenticatedApi
    /** That of the subject token. */
    readonly client: ClientRecord
    readonly subject: AccessTokenFacts & { readonly userId: UserId }
  },
  target: TokenTarget,
  { profile, now }: { readonly profile: TokenProfile; readonly now: EpochMs },
): Promise<IssuedToken> {
  const { api, client, subject } = exchange
  const expiresAt = Math.min(toSeconds(now) + profile.lifetime, subject.expiresAt) as EpochSeconds
  const firstTokenId = subject.grantId === undefined ? (subject.firstTokenId ?? subject.tokenId) : undefined
  const facts = { ...subject, ...target, actors: [api.resource, ...subject.actors], firstTokenId, expiresAt }
  // Each grant has its own budget, and a token without one does not spend that of its client. All users of the API share its network, and so
  // the rate of the server is divided by user instead.
  const payer = subject.grantId ?? `exchange ${api.resource} ${client.id}`
  return issueOnce(context, client, facts, { profile, now, network: subject.userId, payer })
}

type OnceContent = Omit<AccessTokenFacts, 'tokenId' | 'keyThumbprint' | 'issuedAt'>

interface OnceIssue {
  readonly profile: TokenProfile
  readonly now: EpochMs
  /** The name by which the rate of the server is divided. */
  readonly network: string
  /** Whose budget a token that is stored counts against. */
  readonly payer: string
}

/** Issues an access token with a random id, which no repeated request gets again. */
function issueOnce(
  context: Context,
  client: ClientRecord,
  content: OnceContent,
  issue: OnceIssue,
): Promise<IssuedToken> {
  const { profile, now } = issue
  if (profile.format === 'opaque') return issueOpaque(context, client, content, issue)
  const facts = {
    ...content,
    tokenId: mintOrderedId(now, context.random),
    keyThumbprint: profile.key,
    issuedAt: toSeconds(now),
    issuedAfter: undefined,
  }
  return sign(context, client, profile, facts, { now, refresh: undefined })
}

async function issueOpaque(
  context: Context,
  client: ClientRecord,
  content: OnceContent,
  { profile, now, network, payer }: OnceIssue,
): Promise<IssuedToken> {
  const facts = { ...content, keyThumbprint: profile.key, issuedAt: toSeconds(now) }
  takeRowBudget(context, client, { budget: 'stored-token', payer, network })
  // The milliseconds are those of the time of issue (`issueTime`).
  const endsAt = (facts.expiresAt * 1000 + (now % 1000)) as EpochMs
  const tokenId = opaqueTokenId(endsAt, context.random(16).toString('base64url'))
  const minted = context.secrets.mint('access-token', tokenId, context.random)
  const { grantId, userId, organizationId } = facts
  const newest =
    grantId === undefined ? await findNewestNotBefore(context, { client, userId, organizationId }) : undefined
  const issuedAfter = newest && (Math.min(newest, content.issuedAfter ?? newest) as EpochMs)
  return keep(context, minted, { ...facts, tokenId, issuedAfter }, { now, refresh: undefined })
}

/**
 * Issues an access token of a grant, and returns it with the refresh token and, if the grant has `openid`, an ID token. The claims
 * are derived from the grant, the generation and the time of the commit. The retry of a lost response therefore returns the same
 * token (decision 0004): an opaque token is identical, and a JWT may differ in its signature.
 */
export function issueGrantToken(
  context: Context,
  client: AuthenticatedClient,
  grant: IssuedGrant,
  target: TokenTarget,
  issue: GrantIssue,
): Promise<IssuedToken> {
  const { openid } = grant
  if (openid === undefined) return issueAccessToken(context, client, grant, target, issue)
  return issueWithIdToken(context, client, { ...grant, openid }, target, issue)
}

async function issueWithIdToken(
  context: Context,
  client: AuthenticatedClient,
  grant: IssuedGrant & { readonly openid: OpenidGrant },
  target: TokenTarget,
  issue: GrantIssue,
): Promise<IssuedToken> {
  const { response, facts } = await issueAccessToken(context, client, grant, target, issue)
  const { at, nonce } = issue
  const shown = { accessToken: response.access_token, at, nonce }
  const identity = narrow(grant.scope, (token) => isIdentityScope(token) && givesIdentity(client, token))
  const idToken = await issueIdToken(context, client, { ...grant, scope: identity }, shown)
  // The access token for an API has no identity scope, and the user granted them. One for the issuer has what the client requested.
  const scope = target.resources.length === 0 ? facts.scope : unite(facts.scope, identity)
  return { facts, response: { ...response, id_token: idToken, scope } }
}

type IssuedGrant = Pick<
  GrantRecord,
  'id' | 'clientId' | 'userId' | 'organizationId' | 'expiresAt' | 'openid' | 'scope' | 'stated'
>

interface GrantIssue extends ResponseFacts {
  readonly profile: TokenProfile
  readonly generation: number
  readonly at: EpochMs
  /** Of the authorization request, in the first ID token. */
  readonly nonce: string | undefined
}

function issueAccessToken(
  context: Context,
  client: AuthenticatedClient,
  grant: IssuedGrant,
  target: TokenTarget,
  issue: GrantIssue,
): Promise<IssuedToken> {
  const { scope, resources, applicationSubject } = target
  const issuedAt = toSeconds(issue.at)
  const expiresAt = Math.min(issuedAt + issue.profile.lifetime, toSeconds(grant.expiresAt)) as EpochSeconds
  const { key } = issue.profile
  // A thumbprint is no absolute URI, and so none of the resources.
  const identity = [
    grant.id,
    String(issue.generation),
    // Milliseconds: two processes that refresh with earlier tokens in one second get tokens of their own, so one may revoke its own.
    String(issue.at),
    scope,
    ...resources,
    ...(key === undefined ? [] : [key]),
  ]
  const factsOf = <Id extends string>(tokenId: Id) => ({
    tokenId,
    issuer: context.issuer,
    clientId: grant.clientId,
    userId: grant.userId,
    organizationId: grant.organizationId,
    grantId: grant.id,
    scope,
    resources,
    applicationSubject,
    actors: [],
    firstTokenId: undefined,
    keyThumbprint: key,
    authentication: authenticationOf(grant),
    issuedAt,
    expiresAt,
    issuedAfter: undefined,
  })
  const own = tokenIdOf(identity)
  if (issue.profile.format === 'jwt') return sign(context, client, issue.profile, factsOf(own), issue)
  const tokenId = opaqueTokenId((expiresAt * 1000) as EpochMs, own)
  const minted = context.secrets.derive('access-token', tokenId, identity)
  return keep(context, minted, factsOf(tokenId), issue)
}

function authenticationOf({ stated }: IssuedGrant): AccessTokenFacts['authentication'] {
  return stated && { acr: stated.acr, time: stated.at === undefined ? undefined : toSeconds(stated.at) }
}

interface ResponseFacts {
  /** The time of the request. `expires_in` counts from it, so that waiting for a signature or a commit does not shorten it. */
  readonly now: EpochMs
  /** undefined: the answer has no refresh token, and the request had none. */
  readonly refresh: AnsweredRefresh | undefined
}

async function sign(
  context: Context,
  client: ClientRecord,
  profile: TokenProfile,
  facts: AccessTokenFacts,
  { now, refresh }: ResponseFacts,
): Promise<IssuedToken> {
  const { algorithm, groups, jwtType } = profile
  const isOfGroups = groups !== undefined && facts.userId !== undefined
  const claims = isOfGroups
    ? await claimsWithGroups(context, client, groups, { ...facts, userId: facts.userId })
    : accessTokenClaims(facts, identifierOf(client), undefined)
  // Only the APIs that exchanged a token, and what names the client and the user, can make it longer than `decideScope` allows.
  if (!isSignable(claims)) throw tokenTooLong(facts.scope)
  const accessToken = await context.tokens.sign(claims, algorithm, jwtType)
  return { response: tokenResponse(accessToken, facts, now, refresh), facts }
}

/** All groups or none: a token without room lacks the claim, for which the API can introspect it. */
async function claimsWithGroups(
  context: Context,
  client: ClientRecord,
  claim: GroupClaim,
  facts: AccessTokenFacts & { readonly userId: UserId },
): Promise<AccessTokenClaims> {
  const claims = accessTokenClaims(facts, identifierOf(client), await findGroupsForToken(context, claim, facts))
  if (isSignable(claims)) return claims
  reportGroupsLeftOut(context, facts)
  return accessTokenClaims(facts, identifierOf(client), undefined)
}

function isSignable(claims: AccessTokenClaims): boolean {
  return Buffer.byteLength(claims) <= signableBytes(MAXIMA.accessToken.most)
}

/** Stores an opaque token. It is on disk before the client receives it. */
async function keep(
  { store }: Context,
  { token, hash }: MintedCredential,
  facts: AccessTokenFacts & { readonly tokenId: OpaqueTokenId },
  { now, refresh }: ResponseFacts,
): Promise<IssuedToken> {
  await store.issueToken({ id: facts.tokenId, hash, facts })
  return { response: tokenResponse(token, facts, now, refresh), facts }
}
