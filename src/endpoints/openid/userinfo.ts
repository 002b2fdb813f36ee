import type { Context } from '../../ports/context.ts'
import type { Reply, Request } from '../../ports/message.ts'
import { checkToken } from '../../tokens/inactive-reason.ts'
import { findToken } from '../../tokens/find-token.ts'
import { insufficientScope, invalidDpopToken, invalidRequest, invalidToken } from '../../protocol/errors.ts'
import type { AccessTokenFacts, TokenType } from '../../protocol/token/access-token.ts'
import { scopeTokens } from '../../protocol/token/scope.ts'
import { groupClaimOf } from '../../protocol/client/policy.ts'
import { claimsOfScope } from '../../protocol/openid/user-claims.ts'
import { addressOf } from '../../protocol/uri/server-address.ts'
import { refuseQuery, refuseRepeated } from '../form.ts'
import { PATHS } from '../paths.ts'
import { findTokenProofFault, proofRefusal } from '../token/proof.ts'
import { findGroups } from '../../users/group-claim.ts'
import { findUserClaims } from './user-claims.ts'

/**
 * UserInfo Endpoint, by GET and POST. OpenID Connect Core 1.0 §5.3.
 *
 *  §5.3.1  The access token is in the Authorization header or in a form (RFC 6750 §2.1 and §2.2), and never in the address.
 *  RFC 9449 §7.1  A token that is bound to a key comes as `DPoP`, with a proof.
 *  RFC 9068 §4  Its audience is the issuer. A token for another API is rejected, or that API could read data of its users here.
 *  §5.3    Its scope has `openid`, and a user allowed it.
 *  §5.3.2  The response has `sub` and the claims of the scope that have a value.
 *
 * The state of the token is read from the store for every response, as for introspection.
 *
 * @throws OAuthError invalid_request, invalid_token, invalid_dpop_proof, use_dpop_nonce, insufficient_scope, temporarily_unavailable
 */
export async function userinfo(context: Context, request: Request): Promise<Reply> {
  const presented = readAccessToken(request)
  const refuse = presented.scheme === 'DPoP' ? invalidDpopToken : invalidToken
  const found = await findToken(context, presented.accessToken)
  if (found?.kind !== 'access') throw refuse('access_token_wrong')
  const checked = await checkToken(context, found, context.clock())
  if (typeof checked === 'string') throw refuse('access_token_wrong')
  checkProof(context, request, presented, found.facts)
  const { clientId, grantId, organizationId, resources, scope, userId } = checked.facts
  if (resources.length > 0) throw refuse('access_token_for_another')
  const tokens = scopeTokens(scope)
  if (userId === undefined || grantId === undefined || !tokens.includes('openid'))
    throw insufficientScope('openid', presented.scheme)
  const user = await context.store.findUser(userId)
  if (user === undefined) throw refuse('access_token_wrong')
  const claims = await findUserClaims(context, user, claimsOfScope(tokens), organizationId)
  const client = tokens.includes('groups') ? await context.store.findClient(clientId) : undefined
  const claim = client && groupClaimOf(client)
  const groups = claim && (await findGroups(context, claim, { userId, organizationId }))
  const event = { event: 'userinfo.answered', client: clientId, user: userId, grant: grantId } as const
  return { kind: 'json', status: 200, body: { ...claims, ...groups, sub: userId }, event }
}

interface PresentedToken {
  readonly accessToken: string
  readonly scheme: TokenType
}

/**
 * A token that is bound to a key is accepted only with a proof of the key, and another one only without. RFC 9449 §7.1.
 *
 * @throws OAuthError invalid_token, invalid_dpop_proof, use_dpop_nonce
 */
function checkProof(
  context: Context,
  { dpop, method, network }: Request,
  { accessToken, scheme }: PresentedToken,
  { keyThumbprint: key }: AccessTokenFacts,
): void {
  if (key === undefined && scheme === 'DPoP') throw invalidDpopToken('access_token_not_bound')
  if (key === undefined) return
  if (dpop === undefined || scheme !== 'DPoP') throw invalidDpopToken('access_token_bound')
  const address = addressOf(context.issuer, PATHS.userinfo)
  const fault = findTokenProofFault(context, { dpop, method, address }, { accessToken, key, network })
  if (fault !== undefined) throw proofRefusal(context, fault, 'access-token')
}

/** @throws OAuthError invalid_request, invalid_token */
function readAccessToken({ authorization, method, params, query }: Request): PresentedToken {
  refuseQuery(query)
  if (method === 'POST') refuseRepeated(params)
  const inForm = method === 'POST' ? params.get('access_token') : undefined
  const [, scheme = '', inHeader] = /^(Bearer|DPoP) +([A-Za-z0-9._~+/-]+=*) *$/i.exec(authorization ?? '') ?? []
  if (inForm !== undefined && authorization !== undefined) throw invalidRequest('two_access_tokens')
  const token = inForm ?? inHeader
  if (token === undefined) throw invalidToken('access_token_missing')
  return { accessToken: token, scheme: scheme.toLowerCase() === 'dpop' ? 'DPoP' : 'Bearer' }
}
