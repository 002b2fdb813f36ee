import type { Context } from '../../../ports/context.ts'
import type { AuthorizationRecord } from '../../../ports/records/authorization.ts'
import type { IssuedToken } from '../../../protocol/token/access-token.ts'
import { followsFapi } from '../../../protocol/client/policy.ts'
import { invalidGrant, invalidRequest } from '../../../protocol/errors.ts'
import type { AuthorizationId } from '../../../protocol/ids.ts'
import type { Parameters } from '../../../base/message.ts'
import { parseCodeVerifier, verifierMatches, type CodeVerifier } from '../../../protocol/authorization/pkce.ts'
import { sameText, type ParsedCredential } from '../../../protocol/secrets.ts'
import { missing, unacceptable } from '../../../base/validation.ts'
import type { TokenRequester } from '../token-profile.ts'
import { checkKey } from './grant.ts'
import { isRedeemed, redeemApproval, type Approved } from './redemption.ts'

/**
 * Authorization Code Grant, the exchange. RFC 6749 §4.1.3, RFC 7636 §4.5 and §4.6.
 *
 *  §4.1.3  The code must have been issued by this server to this client, and must not have expired.
 *  §4.1.3  `redirect_uri`, if sent, must be the one of the authorization request. It may be omitted, because every code is
 *          bound by PKCE with S256 (OAuth 2.1).
 *  RFC 9449 §10  A code that is bound to a key needs a proof of it. A public client's refresh token is bound to the key from then on.
 *  7636    The verifier must match. A wrong verifier invalidates the code, so a second guess is impossible (threats.md CODE-07).
 *  §4.1.2  A code is redeemed once. If a request that could redeem it presents it again, its tokens are revoked.
 *
 * Redeeming is a single operation of the store: of several simultaneous requests with one code, one receives tokens. There
 * is no retry window: a client that loses the response must request a new authorization. Errors before the code is
 * known to belong to the client change nothing.
 *
 * @throws OAuthError invalid_grant, invalid_request, invalid_target
 */
export async function authorizationCode(
  context: Context,
  requester: TokenRequester,
  form: Parameters,
): Promise<IssuedToken> {
  const { client } = requester
  const now = context.clockCheck.now()
  const { code, verifier } = readFields(form)
  const opened = context.secrets.verify('authorization-code', code)
  if (opened === undefined) throw invalidGrant('code_unknown')
  const id = opened.id as AuthorizationId
  const { authorization, approval } = findApproval(await context.store.findAuthorization(id), opened)
  if (approval.kind === 'burned' && !(await isRedeemed(context, id))) throw invalidGrant('code_unknown')
  if (authorization.clientId !== client.id) {
    context.report({ event: 'code.presented-by-another-client', clientId: client.id })
    throw invalidGrant('code_of_another_client')
  }
  checkRepeatedRedirectUri(form, authorization)
  checkKey(context, requester, 'code', { bound: authorization.keyThumbprint, userId: approval.userId })
  // The profile was given after the approval.
  if (followsFapi(client) && verifier === undefined) throw invalidGrant('verifier_missing')
  if (!isBound(authorization, verifier)) {
    const { userId, organizationId } = approval
    const about = { clientId: client.id, userId, organizationId }
    if ((await context.store.burnCode({ id, codeHash: opened.hash, now, about })) === 'burned')
      context.record({ event: 'code.burned', client: client.id, user: userId })
    throw invalidGrant('verifier_wrong', approval.userId)
  }
  return await redeemApproval(context, requester, form, { authorization, approval, now })
}

/**
 * RFC 6749 §4.1.3. A code without a challenge is bound to the redirect URI instead, which the client must then send.
 *
 * @throws OAuthError invalid_grant
 */
function checkRepeatedRedirectUri(form: Parameters, { codeChallenge, redirectUri }: AuthorizationRecord): void {
  const sent = form.get('redirect_uri')
  if (sent === undefined && codeChallenge === undefined) throw invalidGrant('redirect_uri_missing')
  if (sent !== undefined && sent !== redirectUri) throw invalidGrant('redirect_uri_mismatch')
}

/**
 * Whether the verifier fits the challenge. Where the operator permits to omit PKCE, neither may be sent: a verifier without a
 * challenge means that the challenge was removed on its way (RFC 9700 §4.8.2, threats.md CODE-06).
 *
 * @throws OAuthError invalid_grant
 */
function isBound({ codeChallenge }: AuthorizationRecord, verifier: CodeVerifier | undefined): boolean {
  if (codeChallenge !== undefined && verifier === undefined) throw invalidGrant('verifier_missing')
  if (codeChallenge === undefined && verifier !== undefined) throw invalidGrant('verifier_unexpected')
  return codeChallenge === undefined || verifier === undefined || verifierMatches(verifier, codeChallenge)
}

function readFields(form: Parameters): { code: string; verifier: CodeVerifier | undefined } {
  const code = form.get('code')
  if (code === undefined) throw invalidRequest('parameter_missing', { problems: [missing('body', 'code')] })
  const text = form.get('code_verifier')
  if (text === undefined) return { code, verifier: undefined }
  const verifier = parseCodeVerifier(text)
  if (verifier !== undefined) return { code, verifier }
  const msg = 'A code verifier has 43 to 128 characters of A-Z, a-z, 0-9, "-", ".", "_" and "~".'
  throw invalidRequest('verifier_malformed', { problems: [unacceptable('body', 'code_verifier', msg, undefined)] })
}

function findApproval(
  authorization: AuthorizationRecord | undefined,
  { hash }: ParsedCredential,
): { authorization: AuthorizationRecord; approval: Approved['approval'] } {
  const status = authorization?.status
  if (authorization === undefined || status === undefined) throw invalidGrant('code_unknown')
  if (status.kind !== 'approved' && status.kind !== 'burned') throw invalidGrant('code_unknown')
  if (!sameText(status.codeHash, hash)) throw invalidGrant('code_unknown')
  return { authorization, approval: status }
}
