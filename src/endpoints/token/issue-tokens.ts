import type { Context } from '../../ports/context.ts'
import type { GrantRecord } from '../../ports/records/grant.ts'
import {
  accessTokenClaims,
  tokenIdOf,
  tokenResponse,
  type AccessTokenFacts,
  type IssuedToken,
} from '../../protocol/access-token.ts'
import { after, toSeconds, type EpochMs, type EpochSeconds } from '../../protocol/brand.ts'
import {
  mintOrderedId,
  opaqueTokenId,
  type OpaqueTokenId,
  type OrganizationId,
  type UserId,
} from '../../protocol/ids.ts'
import type { Resource } from '../../protocol/resource.ts'
import type { Scope } from '../../protocol/scope.ts'
import type { MintedCredential } from '../../protocol/secrets.ts'
import type { AuthenticatedClient } from './authenticate-client.ts'
import { takeStoredTokenBudget } from './stored-tokens.ts'
import type { TokenProfile } from './token-profile.ts'

type Needs = Pick<Context, 'budgets' | 'clock' | 'issuer' | 'random' | 'secrets' | 'tokens'> & {
  readonly store: Pick<Context['store'], 'issueToken'>
}

/** What one access token of a grant is for. */
export interface TokenTarget {
  readonly scope: Scope
  readonly resources: readonly Resource[]
}

/** What an access token without a grant is for, and whom the client acts for with it (decisions.md D4). */
export interface UnattendedTarget extends TokenTarget {
  readonly userId: UserId | undefined
  readonly organizationId: OrganizationId | undefined
}

/**
 * An access token with which a client acts by itself. RFC 6749 §4.4.3: never with a refresh token.
 *
 * @throws OAuthError temporarily_unavailable
 */
export async function issueClientToken(
  context: Needs,
  client: AuthenticatedClient,
  target: UnattendedTarget,
  { profile, now }: { readonly profile: TokenProfile; readonly now: EpochMs },
): Promise<IssuedToken> {
  const facts = {
    ...target,
    issuer: context.issuer,
    clientId: client.id,
    grantId: undefined,
    issuedAt: toSeconds(now),
    expiresAt: (toSeconds(now) + profile.lifetime) as EpochSeconds,
  }
  const answer = { now, refreshToken: undefined }
  if (profile.format === 'jwt') {
    return sign(context, profile, { ...facts, tokenId: mintOrderedId(now, context.random) }, answer)
  }
  takeStoredTokenBudget(context, client, client.id, 'stored-token')
  const tokenId = opaqueTokenId(after(now, profile.lifetime * 1000), context.random(16).toString('base64url'))
  const sealed = context.secrets.mint('access-token', tokenId, context.random)
  return keep(context, sealed, { ...facts, tokenId }, answer)
}

/**
 * An access token of a grant, and the refresh token beside it. Everything in it follows from the grant, the generation and
 * the moment of the commit, so a retry of a lost answer gives the same token again (decisions.md D5): of a JWT another
 * signature of it, of an opaque one every byte.
 */
export function issueGrantToken(
  context: Needs,
  grant: Pick<GrantRecord, 'id' | 'clientId' | 'userId' | 'organizationId' | 'expiresAt'>,
  target: TokenTarget,
  issue: Answer & { readonly profile: TokenProfile; readonly generation: number; readonly at: EpochMs },
): Promise<IssuedToken> {
  const issuedAt = toSeconds(issue.at)
  const identity = [grant.id, String(issue.generation), String(issuedAt), target.scope, ...target.resources]
  const facts = {
    ...target,
    issuer: context.issuer,
    clientId: grant.clientId,
    userId: grant.userId,
    organizationId: grant.organizationId,
    grantId: grant.id,
    issuedAt,
    expiresAt: Math.min(issuedAt + issue.profile.lifetime, toSeconds(grant.expiresAt)) as EpochSeconds,
  }
  const own = tokenIdOf(identity)
  if (issue.profile.format === 'jwt') return sign(context, issue.profile, { ...facts, tokenId: own }, issue)
  const tokenId = opaqueTokenId((facts.expiresAt * 1000) as EpochMs, own)
  const sealed = context.secrets.derive('access-token', tokenId, identity)
  return keep(context, sealed, { ...facts, tokenId }, issue)
}

interface Answer {
  /** The request's moment, so that a fresh token has its whole lifetime however long the signature or the commit waited. */
  readonly now: EpochMs
  readonly refreshToken: string | undefined
}

async function sign(
  { tokens }: Pick<Needs, 'tokens'>,
  { algorithm, jwtType }: TokenProfile,
  facts: AccessTokenFacts,
  { now, refreshToken }: Answer,
): Promise<IssuedToken> {
  const accessToken = await tokens.sign(accessTokenClaims(facts), algorithm, jwtType)
  return { response: tokenResponse(accessToken, facts, toSeconds(now), refreshToken), facts }
}

/** It is on disk before anybody holds it. */
async function keep(
  { store }: Pick<Needs, 'store'>,
  { token, hash }: MintedCredential,
  facts: AccessTokenFacts & { readonly tokenId: OpaqueTokenId },
  { now, refreshToken }: Answer,
): Promise<IssuedToken> {
  await store.issueToken({ id: facts.tokenId, hash, facts })
  return { response: tokenResponse(token, facts, toSeconds(now), refreshToken), facts }
}
