import type { Context } from '../../ports/context.ts'
import type { ClientRecord } from '../../ports/records/client.ts'
import type { GrantRecord, OpenidGrant } from '../../ports/records/grant.ts'
import { acrOf } from '../../protocol/sign-in/acr.ts'
import { levelOf, type AuthenticationMethod } from '../../protocol/sign-in/authentication.ts'
import { toSeconds, type EpochMs, type EpochSeconds } from '../../base/brand.ts'
import type { GroupsMember } from '../../protocol/access/group-claim.ts'
import { MAXIMA } from '../../base/maxima.ts'
import { identifierOf } from '../../protocol/client/identifier.ts'
import { groupClaimOf, hasClaimsInIdToken } from '../../protocol/client/policy.ts'
import {
  accessTokenHash,
  idTokenClaims,
  parseIdTokenHint,
  DEFAULT_ID_TOKEN_ALGORITHM,
  type IdTokenAlgorithm,
  type IdTokenClaims,
  type IdTokenFacts,
  type IdTokenHint,
} from '../../protocol/openid/id-token.ts'
import type { ClientId, SessionId } from '../../protocol/ids.ts'
import { scopeTokens } from '../../protocol/token/scope.ts'
import { signableBytes } from '../../protocol/token/access-token.ts'
import { claimsOfScope } from '../../protocol/openid/user-claims.ts'
import { findGroupsForToken, reportGroupsLeftOut } from '../../users/group-claim.ts'
import { findUserClaims } from './user-claims.ts'

/** A grant whose tokens include an ID token. */
export type LoginGrant = Pick<GrantRecord, 'userId' | 'organizationId' | 'scope' | 'stated'> & {
  readonly openid: OpenidGrant
}

/**
 * Issues the ID token beside an access token. OpenID Connect Core 1.0 §3.1.3.3 and §12.2: those of a refresh have the same `sub`,
 * `aud` and `auth_time` as the first one, and no `nonce`. `at`: the moment of the commit, so that a retry has the same claims.
 */
export async function issueIdToken(
  context: Context,
  client: ClientRecord,
  grant: LoginGrant,
  {
    accessToken,
    at,
    nonce,
  }: { readonly accessToken: string; readonly at: EpochMs; readonly nonce: string | undefined },
): Promise<string> {
  const { session } = grant.openid
  const algorithm = idTokenAlgorithmOf(client)
  const issuedAt = toSeconds(at)
  const facts = {
    issuer: context.issuer,
    audience: identifierOf(client),
    userId: grant.userId,
    issuedAt,
    expiresAt: (issuedAt + context.settings.lifetimes.idToken) as EpochSeconds,
    authenticatedAt: session.at === undefined ? undefined : toSeconds(session.at),
    acr: grant.stated?.acr ?? acrFrom(session.methods),
    methods: session.methods,
    nonce,
    accessTokenHash: accessTokenHash(accessToken, algorithm),
    sessionId: sessionIdFor(context, session.rootId, client.id),
    organizationId: grant.organizationId,
    userClaims: await findClaims(context, client, grant),
  }
  const claim = scopeTokens(grant.scope).includes('groups') ? groupClaimOf(client) : undefined
  const { organizationId, userId } = grant
  const subject = { clientId: client.id, userId, organizationId, resources: [] }
  const groups = claim && (await findGroupsForToken(context, claim, subject))
  const claims = groups === undefined ? idTokenClaims(facts) : withGroups(context, client, facts, groups)
  // The client sends it again as `id_token_hint`. Claims in an ID token are voluntary (§5.5), and userinfo has them all.
  return context.tokens.signIdToken(
    isSignable(claims) ? claims : idTokenClaims({ ...facts, userClaims: {} }),
    algorithm,
  )
}

/** All groups or none: where there is no room for them, the other claims stay. */
function withGroups(context: Context, client: ClientRecord, facts: IdTokenFacts, groups: GroupsMember): IdTokenClaims {
  const claims = idTokenClaims({ ...facts, userClaims: { ...facts.userClaims, ...groups } })
  if (isSignable(claims)) return claims
  reportGroupsLeftOut(context, { clientId: client.id, userId: facts.userId, resources: [] })
  return idTokenClaims(facts)
}

function isSignable(claims: IdTokenClaims): boolean {
  return Buffer.byteLength(claims) <= signableBytes(MAXIMA.idToken.most)
}

/** Without a request for it, an ID token has `acr` from the second level on. */
function acrFrom(methods: readonly AuthenticationMethod[]): string | undefined {
  return levelOf(methods) > 1 ? acrOf(methods, []) : undefined
}

/** Reads an `id_token_hint`: an ID token that this server issued, also one that has expired. */
export async function readIdTokenHint(
  { issuer, tokenReader }: Context,
  text: string,
): Promise<IdTokenHint | undefined> {
  const claims = await tokenReader.readIdToken(text)
  return claims === undefined ? undefined : parseIdTokenHint(claims, issuer)
}

/** The algorithm that the client registered, and no other. */
export function idTokenAlgorithmOf({ metadata }: Pick<ClientRecord, 'metadata'>): IdTokenAlgorithm {
  return metadata.id_token_signed_response_alg ?? DEFAULT_ID_TOKEN_ALGORITHM
}

/**
 * The `sid`: names the user's session for one client. It differs for each client, and stays the same when the user signs in again
 * in the same browser. OpenID Connect Front-Channel Logout 1.0 §3.
 */
export function sessionIdFor({ secrets }: Pick<Context, 'secrets'>, rootId: SessionId, clientId: ClientId): string {
  return secrets.digest('session-id', [rootId, clientId])
}

/** The claims that the user allowed, if the client has them in the ID token, by its rules or by this request. */
async function findClaims(
  context: Context,
  client: ClientRecord,
  { openid, organizationId, scope, userId }: LoginGrant,
): Promise<Readonly<Record<string, unknown>>> {
  const allowed = claimsOfScope(scopeTokens(scope))
  const names = hasClaimsInIdToken(client) ? allowed : allowed.filter((one) => openid.idTokenClaims.includes(one))
  const user = names.length === 0 ? undefined : await context.store.findUser(userId)
  return user === undefined ? {} : findUserClaims(context, user, names, organizationId)
}
