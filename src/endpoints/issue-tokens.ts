import type { Context } from '../ports/context.ts'
import type { GrantRecord } from '../ports/records.ts'
import {
  accessTokenClaims,
  tokenIdOf,
  tokenResponse,
  type AccessTokenFacts,
  type TokenResponse,
} from '../protocol/access-token.ts'
import { toSeconds, type EpochMs, type EpochSeconds } from '../protocol/brand.ts'
import { mintOrderedId } from '../protocol/ids.ts'
import type { Resource } from '../protocol/resource.ts'
import type { Scope } from '../protocol/scope.ts'
import type { AuthenticatedClient } from './authenticate-client.ts'

type Needs = Pick<Context, 'clock' | 'issuer' | 'random' | 'settings' | 'tokens'>

/** What one access token of a grant is for. */
export interface Aim {
  readonly scope: Scope
  readonly resources: readonly Resource[]
}

/** An access token with which a client acts for itself. RFC 6749 §4.4.3: never with a refresh token. */
export function issueClientToken(context: Needs, client: AuthenticatedClient, aim: Aim): Promise<TokenResponse> {
  const now = context.clock()
  return sign(context, now, undefined, {
    ...aim,
    issuer: context.issuer,
    clientId: client.id,
    userId: undefined,
    grantId: undefined,
    tokenId: mintOrderedId(now, context.random),
    issuedAt: toSeconds(now),
    expiresAt: (toSeconds(now) + context.settings.lifetimes.accessToken) as EpochSeconds,
  })
}

/**
 * An access token of a grant, and the refresh token beside it. Everything in it follows from the grant, the generation and
 * the moment of the commit, so a retry of a lost answer gives the same token again (decisions.md D5).
 */
export function issueGrantToken(
  context: Needs,
  grant: Pick<GrantRecord, 'id' | 'clientId' | 'userId' | 'expiresAt'>,
  aim: Aim,
  issue: {
    readonly generation: number
    readonly at: EpochMs
    readonly now: EpochMs
    readonly refreshToken: string | undefined
  },
): Promise<TokenResponse> {
  const issuedAt = toSeconds(issue.at)
  const identity = [grant.id, String(issue.generation), String(issuedAt), aim.scope, ...aim.resources]
  return sign(context, issue.now, issue.refreshToken, {
    ...aim,
    issuer: context.issuer,
    clientId: grant.clientId,
    userId: grant.userId,
    grantId: grant.id,
    tokenId: tokenIdOf(identity),
    issuedAt,
    expiresAt: Math.min(issuedAt + context.settings.lifetimes.accessToken, toSeconds(grant.expiresAt)) as EpochSeconds,
  })
}

/** `now` is the request's moment, so that a fresh token has its whole lifetime however long the signature waited. */
async function sign(
  context: Pick<Needs, 'tokens'>,
  now: EpochMs,
  refreshToken: string | undefined,
  facts: AccessTokenFacts,
): Promise<TokenResponse> {
  const accessToken = await context.tokens.sign(accessTokenClaims(facts))
  return tokenResponse(accessToken, facts, toSeconds(now), refreshToken)
}
