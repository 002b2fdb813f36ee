import type { Context } from '../../../ports/context.ts'
import type { AuthorizationRecord } from '../../../ports/records/authorization.ts'
import type { GrantRecord } from '../../../ports/records/grant.ts'
import type { IssuedToken } from '../../../protocol/token/access-token.ts'
import { after, type EpochMs } from '../../../base/brand.ts'
import { isFromFuture } from '../../../base/clock.ts'
import { isConfidential } from '../../../protocol/client/authentication.ts'
import type { JwkThumbprint } from '../../../protocol/token/dpop-proof.ts'
import { followsFapi } from '../../../protocol/client/policy.ts'
import { invalidGrant } from '../../../protocol/errors.ts'
import { grantIdOf, type AuthorizationId, type GrantId } from '../../../protocol/ids.ts'
import type { Parameters } from '../../../base/message.ts'
import { expiryOf } from '../../../protocol/token/refresh-expiration.ts'
import { webHost } from '../../../protocol/uri/redirect-uri.ts'
import type { MintedCredential } from '../../../protocol/secrets.ts'
import { hasNoRules } from '../../../tokens/access-rules.ts'
import { findInvalidPrincipal } from '../../../tokens/invalid-principal.ts'
import { findApplicationSubject } from '../../../users/application-subject.ts'
import { consentableFrom } from '../../../clients/identity-change.ts'
import { idTokenAlgorithmOf } from '../../openid/id-token.ts'
import type { AuthenticatedClient } from '../authenticate-client.ts'
import { issueGrantToken } from '../issue-tokens.ts'
import { scopeCatalogOf } from '../../../requests/scope-catalog.ts'
import { chooseTokenProfile, requireGrantKey, type TokenProfile, type TokenRequester } from '../token-profile.ts'
import { applyRules, checkOwner, narrowResources, principalsOf, requireLive, scopeFor } from './grant.ts'

/** An authorization of the client that a user approved, and the time of the token request. */
export interface Approved {
  readonly authorization: AuthorizationRecord
  readonly approval: Approval
  readonly now: EpochMs
}

type Approval = Extract<AuthorizationRecord['status'], { readonly kind: 'approved' | 'burned' }>

/** Whether tokens were issued for an authorization. */
export async function isRedeemed({ store }: Context, id: AuthorizationId): Promise<boolean> {
  return (await store.findGrant(grantIdOf(id))) !== undefined
}

/** An approval from the future means that the clock was set back. It is then treated as expired (threats.md CODE-11). */
export function isTimely({ authorization: { expiresAt }, approval: { approvedAt }, now }: Approved): boolean {
  return now < expiresAt && !isFromFuture(approvedAt, now)
}

/**
 * Redeems an approved authorization: by its code, or by the code of the device that waits for it. RFC 6749 §4.1.2 and §4.1.3.
 *
 * Redeeming is a single operation of the store: of several simultaneous requests, one receives tokens. Each later one revokes them. Errors
 * before that change nothing.
 *
 * @throws OAuthError invalid_grant, invalid_request, invalid_target
 */
export async function redeemApproval(
  context: Context,
  requester: TokenRequester,
  form: Parameters,
  approved: Approved,
): Promise<IssuedToken> {
  const { client } = requester
  const { authorization, approval, now } = approved
  checkOwner(form, approval)
  const catalog = scopeCatalogOf(context, await context.apis())
  const resources = narrowResources(catalog, authorization, form)
  const profile = chooseTokenProfile(context, catalog, resources, requester)
  requireGrantKey(catalog, authorization.resources, requester)
  if (authorization.openid !== undefined) await context.keys.ensureIdTokenKey(idTokenAlgorithmOf(client))
  const isInTime = isTimely(approved)
  if (!isInTime && !(await isRedeemed(context, authorization.id))) throw invalidGrant('code_expired', approval.userId)
  const invalid = await findInvalidPrincipal(context, principalsOf(client, approval), approval.approvedAt)
  requireLive(invalid, approval.userId)
  if (approval.approvedAt < consentableFrom(client)) throw invalidGrant('client_changed', approval.userId)

  const refresh = mintRefreshToken(context, client, grantIdOf(authorization.id), now)
  const grant = grantOf(context, authorization, approval, {
    profile,
    refresh,
    key: refreshKeyOf(requester, refresh),
    network: context.secrets.networkTag(requester.callerNetwork),
    isFapi: followsFapi(client),
    now,
  })
  const granted = { scope: scopeFor(catalog, client, grant, resources, approval.approvedAt), resources }
  const ruled = hasNoRules(context, grant.organizationId)
    ? undefined
    : await applyRules(context, client, grant, granted)
  const { scope } = ruled ?? granted
  const applicationSubject = profile.applicationSubject
    ? await findApplicationSubject(context, grant.userId)
    : undefined
  const target = { scope, resources, applicationSubject }
  const issueToken = () =>
    issueGrantToken(context, client, ruled?.grant ?? grant, target, {
      profile,
      generation: 0,
      at: now,
      now,
      refresh: refresh && { ...expiryOf(grant), token: refresh.token },
      nonce: authorization.openid?.nonce,
    })
  const issue = ruled === undefined ? issueToken : async () => ({ ...(await issueToken()), leftOut: ruled.leftOut })
  // An opaque token is stored in the same turn, so that usually one batch commits both (threats.md CODE-12). If a crash separates
  // them, the code is spent without a token, and the client asks the user again. A replay stores none.
  const isStoredAtOnce = profile.format === 'opaque' && isInTime && !(await isRedeemed(context, authorization.id))
  const redeeming = context.store.redeemCode({ codeHash: approval.codeHash, now, grant })
  // The usual case, without a promise for what is not done.
  const isAlone = !isStoredAtOnce && client.usedAt !== undefined
  const [outcome, stored] = isAlone
    ? [await redeeming]
    : await Promise.all([
        redeeming,
        isStoredAtOnce ? issue() : undefined,
        client.usedAt === undefined ? context.store.useClient({ id: client.id, now }) : undefined,
      ])
  if (outcome === 'unknown') throw invalidGrant('code_expired', approval.userId)
  if (outcome === 'redeemed') return stored ?? (await issue())
  // The grant of a code that is `spent` was revoked before, so nothing changed.
  if (outcome === 'replayed') context.record({ event: 'code.replayed', client: client.id, user: approval.userId })
  throw invalidGrant('code_replayed', approval.userId)
}

function mintRefreshToken(
  { secrets, random }: Context,
  client: AuthenticatedClient,
  id: GrantId,
  now: EpochMs,
): MintedCredential | undefined {
  if (!client.metadata.grant_types.includes('refresh_token')) return undefined
  return secrets.mintFamily(id, now, random)
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
  /** That of the first refresh token. */
  readonly network: string
  readonly isFapi: boolean
  readonly now: EpochMs
}

function grantOf(
  { settings: { lifetimes } }: Context,
  authorization: AuthorizationRecord,
  { userId, organizationId, approvedAt }: Approval,
  { profile, refresh, key, network, isFapi, now }: NewGrant,
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
            rotatedAt: now,
            // The refresh token of the profile is not rotated, so nothing would move its idle time.
            idleExpiresAt: after(now, (isFapi ? lifetimes.refreshAbsolute : lifetimes.refreshIdle) * 1000),
            network,
            heldFor: undefined,
          },
    openid: openidOf(authorization),
    stated: authorization.stated,
    redirectHost: authorization.device === undefined ? webHost(authorization.redirectUri) : undefined,
    boundKey: key === undefined ? undefined : { thumbprint: key, generation: 0 },
    providerId: undefined,
  }
}

function openidOf({ openid }: AuthorizationRecord): GrantRecord['openid'] {
  if (openid?.session === undefined) return undefined
  return { session: openid.session, idTokenClaims: openid.idTokenClaims }
}
