import type { Context } from '../../../ports/context.ts'
import type { AuthorizationRecord } from '../../../ports/records/authorization.ts'
import type { GrantRecord } from '../../../ports/records/grant.ts'
import type { IssuedToken } from '../../../protocol/token/access-token.ts'
import { after, type EpochMs } from '../../../base/brand.ts'
import { isFromFuture } from '../../../base/clock.ts'
import { isConfidential } from '../../../protocol/client/authentication.ts'
import type { JwkThumbprint } from '../../../protocol/token/dpop-proof.ts'
import { followsFapi } from '../../../protocol/client/policy.ts'
import { invalidGrant, invalidRequest } from '../../../protocol/errors.ts'
import { grantIdOf, type AuthorizationId, type GrantId } from '../../../protocol/ids.ts'
import type { Parameters } from '../../../base/message.ts'
import { webHost } from '../../../protocol/uri/redirect-uri.ts'
import { parseCodeVerifier, verifierMatches, type CodeVerifier } from '../../../protocol/authorization/pkce.ts'
import { sameText, type ParsedCredential, type MintedCredential } from '../../../protocol/secrets.ts'
import { missing, unacceptable } from '../../../base/validation.ts'
import { findApplicationSubject } from '../../../users/application-subject.ts'
import { consentableFrom } from '../../authorization/remembered-consent.ts'
import { idTokenAlgorithmOf } from '../../openid/id-token.ts'
import type { AuthenticatedClient } from '../authenticate-client.ts'
import { issueGrantToken } from '../issue-tokens.ts'
import { loadScopeCatalog } from '../scope-catalog.ts'
import { chooseTokenProfile, requireGrantKey, type TokenProfile, type TokenRequester } from '../token-profile.ts'
import { checkKey, checkOwner, narrowResources, requireLive, scopeFor } from './grant.ts'

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
  const grantId = grantIdOf(id)
  const isRedeemed = async () => (await context.store.findGrant(grantId)) !== undefined
  if (approval.kind === 'burned' && !(await isRedeemed())) throw invalidGrant('code_unknown')
  if (authorization.clientId !== client.id) {
    context.report({ event: 'code.presented-by-another-client', clientId: client.id })
    throw invalidGrant('code_of_another_client')
  }
  checkRedirectUri(form, authorization)
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
  checkOwner(form, approval)
  const resources = narrowResources(authorization, form, context.issuer)
  const catalog = await loadScopeCatalog(context)
  const profile = chooseTokenProfile(context, catalog, resources, requester)
  requireGrantKey(catalog, authorization.resources, requester)
  if (authorization.openid !== undefined) await context.keys.ensureIdTokenKey(idTokenAlgorithmOf(client))
  const isTimely = isTimelyCode(authorization, approval, now)
  if (!isTimely && !(await isRedeemed())) throw invalidGrant('code_expired', approval.userId)
  await requireLive(context, client, approval, approval.approvedAt)
  if (approval.approvedAt < consentableFrom(client)) throw invalidGrant('client_changed', approval.userId)

  const refresh = mintRefreshToken(context, client, grantId)
  const grant = grantOf(context, authorization, approval, {
    profile,
    refresh,
    key: refreshKeyOf(requester, refresh),
    isFapi: followsFapi(client),
    now,
  })
  const scope = scopeFor(catalog, client, grant, resources, approval.approvedAt)
  const applicationSubject = profile.applicationSubject
    ? await findApplicationSubject(context, grant.userId)
    : undefined
  const target = { scope, resources, applicationSubject }
  const issue = () =>
    issueGrantToken(context, client, grant, target, {
      profile,
      generation: 0,
      at: now,
      now,
      refreshToken: refresh?.token,
      nonce: authorization.openid?.nonce,
    })
  // An opaque token is stored in the same turn, so that usually one batch commits both (threats.md CODE-12). If a crash separates
  // them, the code is spent without a token, and the client asks the user again. A replay stores none.
  const isStoredAtOnce = profile.format === 'opaque' && isTimely && !(await isRedeemed())
  const [outcome, stored] = await Promise.all([
    context.store.redeemCode({ codeHash: opened.hash, now, grant }),
    isStoredAtOnce ? issue() : undefined,
    client.usedAt === undefined ? context.store.useClient({ id: client.id, now }) : undefined,
  ])
  if (outcome === 'unknown') throw invalidGrant('code_expired', approval.userId)
  if (outcome === 'redeemed') return stored ?? issue()
  // The grant of a code that is `spent` was revoked before, so nothing changed.
  if (outcome === 'replayed') context.record({ event: 'code.replayed', client: client.id, user: approval.userId })
  throw invalidGrant('code_replayed', approval.userId)
}

/**
 * RFC 6749 §4.1.3. A code without a challenge is bound to the redirect URI instead, which the client must then send.
 *
 * @throws OAuthError invalid_grant
 */
function checkRedirectUri(form: Parameters, { codeChallenge, redirectUri }: AuthorizationRecord): void {
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

/** An approval from the future means that the clock was set back. The code is then treated as expired (threats.md CODE-11). */
function isTimelyCode({ expiresAt }: AuthorizationRecord, { approvedAt }: Approval, now: EpochMs): boolean {
  return now < expiresAt && !isFromFuture(approvedAt, now)
}

type Approval = Extract<AuthorizationRecord['status'], { readonly kind: 'approved' | 'burned' }>

function findApproval(
  authorization: AuthorizationRecord | undefined,
  { hash }: ParsedCredential,
): { authorization: AuthorizationRecord; approval: Approval } {
  const status = authorization?.status
  if (authorization === undefined || status === undefined) throw invalidGrant('code_unknown')
  if (status.kind !== 'approved' && status.kind !== 'burned') throw invalidGrant('code_unknown')
  if (!sameText(status.codeHash, hash)) throw invalidGrant('code_unknown')
  return { authorization, approval: status }
}

function mintRefreshToken(context: Context, client: AuthenticatedClient, id: GrantId): MintedCredential | undefined {
  if (!client.metadata.grantTypes.includes('refresh_token')) return undefined
  return context.secrets.mint('refresh-token', id, context.random)
}

/** RFC 9449 §5: the refresh token of a confidential client is bound to the client, which may change its key. */
function refreshKeyOf(
  { client, key }: TokenRequester,
  refresh: MintedCredential | undefined,
): JwkThumbprint | undefined {
  return refresh === undefined || isConfidential(client) ? undefined : key
}

interface NewGrant {
  readonly profile: TokenProfile
  readonly refresh: MintedCredential | undefined
  readonly key: JwkThumbprint | undefined
  readonly isFapi: boolean
  readonly now: EpochMs
}

function grantOf(
  { settings: { lifetimes } }: Context,
  authorization: AuthorizationRecord,
  { userId, organizationId, approvedAt }: Approval,
  { profile, refresh, key, isFapi, now }: NewGrant,
): GrantRecord {
  return {
    id: grantIdOf(authorization.id),
    clientId: authorization.clientId,
    userId,
    organizationId,
    scope: authorization.scope,
    ungrantedScope: authorization.ungrantedScope,
    resources: authorization.resources,
    // The time of the consent, so that a not-before time between the consent and now also invalidates the grant,
    // even if this node has not read it yet.
    createdAt: approvedAt,
    expiresAt: after(now, (refresh === undefined ? profile.lifetime : lifetimes.refreshAbsolute) * 1000),
    revokedAt: undefined,
    family:
      refresh === undefined
        ? undefined
        : {
            generation: 0,
            liveHash: refresh.hash,
            previousHash: undefined,
            rotatedAt: now,
            // The refresh token of the profile is not rotated, so nothing would move its idle time.
            idleExpiresAt: after(now, (isFapi ? lifetimes.refreshAbsolute : lifetimes.refreshIdle) * 1000),
          },
    openid: openidOf(authorization),
    stated: authorization.stated,
    redirectHost: webHost(authorization.redirectUri),
    boundKey: key === undefined ? undefined : { thumbprint: key, generation: 0 },
    providerId: undefined,
  }
}

function openidOf({ openid }: AuthorizationRecord): GrantRecord['openid'] {
  if (openid?.session === undefined) return undefined
  return { session: openid.session, idTokenClaims: openid.idTokenClaims }
}
