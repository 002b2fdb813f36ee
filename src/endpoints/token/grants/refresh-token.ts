import type { Context } from '../../../ports/context.ts'
import type { ClientRecord } from '../../../ports/records/client.ts'
import type { GrantRecord } from '../../../ports/records/grant.ts'
import type { Outage } from '../../../ports/store.ts'
import type { IssuedToken } from '../../../protocol/token/access-token.ts'
import { after, type EpochMs } from '../../../base/brand.ts'
import { isFromFuture } from '../../../base/clock.ts'
import { invalidGrant, invalidRequest } from '../../../protocol/errors.ts'
import { isConfidential } from '../../../protocol/client/authentication.ts'
import { followsFapi, isVerified, ownCopiesOf } from '../../../protocol/client/policy.ts'
import type { GrantId } from '../../../protocol/ids.ts'
import { expiryOf } from '../../../protocol/token/refresh-expiration.ts'
import { findEarlier, type CopyFault, type EarlierToken } from '../../../protocol/token/refresh-rotation.ts'
import { sameText, type MintedCredential, type ParsedCredential } from '../../../protocol/secrets.ts'
import type { Parameters } from '../../../base/message.ts'
import { isIdentityScope, narrow, NO_SCOPE, scopeTokens, subtract, type Scope } from '../../../protocol/token/scope.ts'
import { hasNoRules } from '../../../tokens/access-rules.ts'
import { findInvalidPrincipal } from '../../../tokens/invalid-principal.ts'
import { rareNoticesOf } from '../../../users/mails.ts'
import { findApplicationSubject } from '../../../users/application-subject.ts'
import { missing } from '../../../base/validation.ts'
import { idTokenAlgorithmOf } from '../../openid/id-token.ts'
import { issueGrantToken, type TokenTarget } from '../issue-tokens.ts'
import { scopeCatalogOf, findResource, type ScopeCatalog } from '../../../requests/scope-catalog.ts'
import { withoutShare } from '../../../requests/scope-decision.ts'
import { leftOutByRules, moreThanGranted, nothingRemains, scopeError } from '../../../requests/scope-refusal.ts'
import { chooseTokenProfile, requireGrantKey, type TokenRequester } from '../token-profile.ts'
import {
  applyRules,
  type Ruled,
  checkKey,
  checkOwner,
  narrowResources,
  principalsOf,
  readScope,
  requireLive,
  scopeFor,
} from './grant.ts'

/**
 * Refreshing an Access Token. RFC 6749 §6, RFC 9700 §4.14.2. The steps of the rule are in
 * `protocol/token/refresh-rotation.ts`. This function performs the first; `rotateRefreshToken` of the store performs the others as one atomic
 * operation. An earlier token that gets the newest one changes nothing, and needs none.
 *
 * @throws OAuthError invalid_grant, invalid_request, invalid_scope, invalid_target
 */
export async function refreshToken(
  context: Context,
  requester: TokenRequester,
  form: Parameters,
): Promise<IssuedToken> {
  const { client } = requester
  const now = context.clockCheck.now()
  const presented = form.get('refresh_token')
  if (presented === undefined)
    throw invalidRequest('parameter_missing', { problems: [missing('body', 'refresh_token')] })
  const opened = context.secrets.verify('refresh-token', presented)
  if (opened === undefined) throw invalidGrant('refresh_unknown')
  const grant = await context.store.findGrant(opened.id as GrantId)
  if (grant === undefined) throw invalidGrant('refresh_unknown')
  if (grant.clientId !== client.id) {
    context.report({ event: 'refresh-token.presented-by-another-client', clientId: client.id })
    throw invalidGrant('refresh_of_another_client')
  }
  checkKey(context, requester, 'refresh-token', { bound: boundKeyOf(grant, opened), userId: grant.userId })
  requireLiveFamily(grant, now)
  requireLive(await findInvalidPrincipal(context, principalsOf(client, grant), grant.createdAt), grant.userId)
  const catalog = scopeCatalogOf(context, await context.apis())
  requireDeclaredResources(catalog, grant)
  checkOwner(form, grant)
  const resources = narrowResources(catalog, grant, form)
  const whole = { scope: scopeFor(catalog, client, grant, resources, grant.createdAt), resources }
  const ruled = hasNoRules(context, grant.organizationId) ? undefined : await applyRules(context, client, grant, whole)
  const granted = ruled === undefined ? whole : { scope: ruled.scope, resources, leftOut: ruled.leftOut }
  const scope = narrowScope(context, catalog, grant, granted, form)
  const profile = chooseTokenProfile(context, catalog, resources, requester)
  requireGrantKey(catalog, grant.resources, requester)
  const applicationSubject = profile.applicationSubject
    ? await findApplicationSubject(context, grant.userId)
    : undefined
  const target = { scope, resources, applicationSubject }
  const shown = ruled?.grant ?? grant
  if (grant.openid !== undefined) await context.keys.ensureIdTokenKey(idTokenAlgorithmOf(client))

  // FAPI 2.0 Security Profile §5.3.2.1: the client keeps its token, which works only with its keys. Nothing is written. A grant that is
  // older than the profile of the client is rotated once: the rotation ends its idle time, which nothing would move afterwards. So is one
  // that is held since before.
  const isFapi = followsFapi(client)
  if (isFapi && isCurrent(grant, opened) && !canIdle(grant) && grant.family?.heldFor === undefined) {
    const refresh = { ...expiryOf(grant), token: undefined }
    const issue = { profile, generation: opened.generation, at: now, now, refresh, nonce: undefined }
    const issued = await issueGrantToken(context, client, shown, target, issue)
    return ruled === undefined ? issued : { ...issued, leftOut: ruled.leftOut }
  }
  const { settings } = context
  const { lifetimes } = settings
  const at = (generation: number, issuedAt: EpochMs) =>
    context.secrets.atGeneration(presented, { generation, issuedAt })
  const idleExpiryAt = (issuedAt: EpochMs) => (isFapi ? grant.expiresAt : after(issuedAt, lifetimes.refreshIdle * 1000))
  // The grant that was read is older than the outcome if another request of the turn rotated its token.
  const idleExpiryOf = (generation: number, rotatedAt: EpochMs) =>
    grant.family?.generation === generation ? grant.family.idleExpiresAt : idleExpiryAt(rotatedAt)
  const issueToken = (newest: MintedCredential, generation: number, issuedAt: EpochMs, idleEnd: EpochMs) =>
    issueGrantToken(context, client, shown, target, {
      profile,
      generation,
      at: issuedAt,
      now,
      refresh: { token: newest.token, expiresAt: grant.expiresAt, idleExpiresAt: idleEnd },
      nonce: undefined,
    })
  const issue: typeof issueToken =
    ruled === undefined
      ? issueToken
      : async (...newest) => ({ ...(await issueToken(...newest)), leftOut: ruled.leftOut })
  const issueNewest = async ({ generation, rotatedAt, liveHash }: EarlierToken): Promise<IssuedToken> => {
    const newest = at(generation, rotatedAt)
    // All tokens of a family have the random bits of the first one, so the newest of another family is never made here.
    if (!sameText(newest.hash, liveHash)) throw invalidGrant('refresh_revoked', grant.userId)
    const issued = await issue(newest, generation, now, idleExpiryOf(generation, rotatedAt))
    return { ...issued, earlier: generation - opened.generation }
  }
  const refresh = {
    generation: opened.generation,
    issuedAt: opened.issuedAt,
    presentedHash: opened.hash,
    now,
    key: isConfidential(client) && grant.boundKey === undefined ? undefined : requester.key,
    retryMs: retryWindow(lifetimes.refreshRetry * 1000, context.store.lastOutage()),
    network: context.secrets.networkTag(requester.callerNetwork),
    copies: ownCopiesOf(client) ?? settings.refreshCopies,
    earlierMs: lifetimes.refreshEarlier * 1000,
  }
  // While commits fail, the newest token may be one that is lost with its commit: the store decides, and refuses.
  const known = context.store.doubtsWrites() ? undefined : findEarlier(grant, refresh)
  if (known !== undefined) return await issueNewest(known)
  const successor = at(opened.generation + 1, now)
  const idleExpiresAt = idleExpiryAt(now)
  const recordsParting =
    mayPart(grant, opened, refresh.network, now - refresh.earlierMs) && isPartingRecorded(context, client, grant)
  const outcome = await context.store.rotateRefreshToken({
    ...refresh,
    grantId: grant.id,
    successorHash: successor.hash,
    idleExpiresAt,
    recordsParting,
    about: { clientId: client.id, userId: grant.userId, organizationId: grant.organizationId },
  })
  const logCopy = (event: 'refresh-token.parted' | 'refresh-token.reused', why: CopyFault | undefined): void => {
    const copy = { client: client.id, user: grant.userId, grant: grant.id, generation: opened.generation }
    context.inRequest(requester.requestId, () => context.record({ event, ...copy, why }))
  }
  switch (outcome.kind) {
    case 'rotated':
      return await issue(successor, opened.generation + 1, now, idleExpiresAt)
    case 'repeated': {
      const generation = opened.generation + 1
      const { rotatedAt } = outcome
      return await issue(at(generation, rotatedAt), generation, rotatedAt, idleExpiryOf(generation, rotatedAt))
    }
    case 'earlier':
      return await issueNewest(outcome)
    case 'parted':
      if (recordsParting) logCopy('refresh-token.parted', outcome.why)
      else context.report({ event: 'refresh-token.parted', clientId: client.id })
      throw invalidGrant('refresh_parted', grant.userId)
    case 'held':
      throw invalidGrant('refresh_parted', grant.userId)
    case 'reused':
      logCopy('refresh-token.reused', outcome.why)
      if (outcome.wasHeld) await notifyOfCopies(context, grant)
      throw invalidGrant('refresh_reused', grant.userId)
    case 'inactive':
      throw invalidGrant('refresh_revoked', grant.userId)
  }
}

/**
 * How long the previous token is repeated. The answer to what was committed while commits failed was lost, and its client can repeat the
 * request only when they succeed again: the window begins then.
 */
function retryWindow(retryMs: number, outage: Outage | undefined): number {
  return outage === undefined || outage.endedMsAgo >= retryMs ? retryMs : outage.beganMsAgo + retryMs
}

/** Two copies were in use in different places. The family ended before, and so a crash loses the mail and not the event. */
async function notifyOfCopies(context: Context, { userId }: GrantRecord): Promise<void> {
  const user = await context.store.findUser(userId)
  const mails = user === undefined ? [] : await rareNoticesOf(context, user, 'app-ended')
  if (mails.length > 0) await context.store.noticeReuse({ userId, mails })
}

/**
 * The key that the presented token is bound to. One of a generation before the binding is not: it is the unbound token that a rotation
 * replaced, and its reuse must end the grant, with every key.
 */
function boundKeyOf({ boundKey }: GrantRecord, { generation }: ParsedCredential): string | undefined {
  return boundKey !== undefined && generation >= boundKey.generation ? boundKey.thumbprint : undefined
}

function isCurrent({ family }: GrantRecord, { generation, hash }: ParsedCredential): boolean {
  return family !== undefined && family.generation === generation && sameText(family.liveHash, hash)
}

/** Whether the token parts the family, as far as the grant that was read tells. `since`: what was issued before is too old. */
function mayPart({ family }: GrantRecord, presented: ParsedCredential, network: string, since: number): boolean {
  if (family === undefined || family.heldFor !== undefined || presented.generation >= family.generation) return false
  return network !== family.network || presented.issuedAt <= since
}

/**
 * A client can part a family and end the hold again and again. Above a rate the audit counts the partings of a grant instead of recording
 * each, and divides what is left by the networks in which the families are used, so that no caller's own grants hide the parting of another
 * (threats.md BND-04). The audit records every one of a verified client.
 */
function isPartingRecorded({ budgets, clock }: Context, client: ClientRecord, { id, family }: GrantRecord): boolean {
  return isVerified(client) || budgets.take('recorded-parting', id, clock(), family?.network ?? id).isWithin
}

function canIdle({ family, expiresAt }: GrantRecord): boolean {
  return family !== undefined && family.idleExpiresAt < expiresAt
}

function requireLiveFamily(grant: GrantRecord, now: EpochMs): void {
  if (grant.family === undefined || grant.revokedAt !== undefined) throw invalidGrant('refresh_revoked', grant.userId)
  if (grant.expiresAt <= now || grant.family.idleExpiresAt <= now) throw invalidGrant('refresh_expired', grant.userId)
  if (isFromFuture(grant.createdAt, now)) throw invalidGrant('refresh_not_yet_valid', grant.userId)
}

/** If a resource of the grant is no longer declared, the user must authorize the client again (threats.md RT-09). */
function requireDeclaredResources(catalog: ScopeCatalog, grant: GrantRecord): void {
  if (grant.resources.some((resource) => findResource(catalog, resource) === undefined))
    throw invalidGrant('resource_gone', grant.userId)
}

/**
 * Returns the scope of the new access token. RFC 6749 §6: at most the granted scope; without `scope`, all of it. The grant keeps
 * its scope. Scopes that the client requested at the start and did not get are ignored, because many clients send their
 * configured scope with every refresh.
 */
function narrowScope(
  context: Context,
  catalog: ScopeCatalog,
  grant: GrantRecord,
  {
    scope: granted,
    resources,
    leftOut = NO_SCOPE,
  }: Pick<TokenTarget, 'resources' | 'scope'> & Partial<Pick<Ruled<never>, 'leftOut'>>,
  form: Parameters,
): Scope {
  const requested = readScope(form)
  if (requested === undefined) return granted
  // Identity scopes are never in a token for another API, and the client may repeat them (OpenID Connect Core 1.0 §12.1).
  const identity = scopeTokens(subtract(narrow(grant.scope, isIdentityScope), granted))
  const ignored = [...scopeTokens(grant.ungrantedScope), ...identity]
  const open = leftOut === NO_SCOPE ? requested : subtract(requested, leftOut)
  // The grant has what rules leave out, and the client may repeat it. Nothing else was asked for.
  if (open === NO_SCOPE) throw scopeError(context, grant, leftOutByRules(leftOut, []), form.get('scope'))
  const scope = narrow(open, (token) => !ignored.includes(token))
  const unknown = scope === NO_SCOPE ? narrow(open, (token) => !identity.includes(token)) : subtract(scope, granted)
  const foreign = scopeTokens(unknown)
  const bare = withoutShare(catalog, scope, resources)
  if (foreign.length === 0 && bare.length === 0) return scope
  const refusal = foreign.length > 0 ? moreThanGranted(foreign) : nothingRemains(new Map(), bare)
  throw scopeError(context, grant, refusal, form.get('scope'))
}
