import type { Context } from '../../../ports/context.ts'
import type { GrantRecord } from '../../../ports/records/grant.ts'
import type { IssuedToken } from '../../../protocol/access-token.ts'
import { after, type EpochMs } from '../../../protocol/brand.ts'
import { isFromFuture } from '../../../protocol/clock.ts'
import { invalidGrant, invalidRequest } from '../../../protocol/errors.ts'
import type { GrantId } from '../../../protocol/ids.ts'
import type { Parameters } from '../../../protocol/message.ts'
import { narrow, NO_SCOPE, scopeTokens, subtract, type Scope } from '../../../protocol/scope.ts'
import { missing } from '../../../protocol/validation.ts'
import type { AuthenticatedClient } from '../authenticate-client.ts'
import { issueGrantToken, type TokenTarget } from '../issue-tokens.ts'
import { loadScopeCatalog, findResource, type ScopeCatalog } from '../scope-catalog.ts'
import { withoutShare } from '../scope-decision.ts'
import { moreThanGranted, nothingRemains, scopeError } from '../scope-refusal.ts'
import { chooseTokenProfile } from '../token-profile.ts'
import { checkOwner, narrowResources, readScope, requireLive, scopeFor } from './grant.ts'

/**
 * Refreshing an Access Token. RFC 6749 §6, RFC 9700 §4.14.2; the four steps of decisions.md D5.
 *
 *  1. The token is ours and this client's, its family, its resources and all whom it speaks for are alive, and scope and
 *     resource are within the grant. Any failure so far changes nothing.
 *  2. The live token rotates: its successor is derived from it, and durable before the answer.
 *  3. The token before, within the retry window and its successor unused: the same successor again.
 *  4. Any other token that we once issued: somebody holds a copy, and the store has revoked the family.
 *
 * @throws OAuthError invalid_grant, invalid_request, invalid_scope, invalid_target
 */
export async function refreshToken(
  context: Context,
  client: AuthenticatedClient,
  form: Parameters,
): Promise<IssuedToken> {
  const now = context.clockCheck.now()
  const presented = form.get('refresh_token')
  if (presented === undefined)
    throw invalidRequest('parameter_missing', { problems: [missing('body', 'refresh_token')] })
  const opened = context.secrets.verify('refresh-token', presented)
  if (opened === undefined) throw invalidGrant('refresh_unknown')
  const grant = await context.store.findGrant(opened.id as GrantId)
  if (grant === undefined) throw invalidGrant('refresh_unknown')
  if (grant.clientId !== client.id) {
    context.report({ event: 'refresh.presented-by-another-client', clientId: client.id })
    throw invalidGrant('refresh_of_another_client')
  }
  requireLiveFamily(grant, now)
  await requireLive(context, client, grant, grant.createdAt)
  const catalog = await loadScopeCatalog(context)
  requireOfferedResources(catalog, grant)
  checkOwner(form, grant)
  const resources = narrowResources(grant.resources, form)
  const granted = { scope: scopeFor(catalog, client, grant, resources, grant.createdAt), resources }
  const target = { resources, scope: narrowScope(context, catalog, grant, granted, form) }
  const profile = chooseTokenProfile(context, catalog, resources)

  const { lifetimes } = context.settings
  const successor = context.secrets.deriveSuccessor(presented, opened)
  const outcome = await context.store.rotateRefreshToken({
    grantId: grant.id,
    generation: opened.generation,
    presentedHash: opened.hash,
    successorHash: successor.hash,
    now,
    idleExpiresAt: after(now, lifetimes.refreshIdle * 1000),
    retryMs: lifetimes.refreshRetry * 1000,
    about: { clientId: client.id, userId: grant.userId, organizationId: grant.organizationId },
  })
  switch (outcome.kind) {
    case 'rotated':
    case 'repeated': {
      const issue = {
        profile,
        generation: opened.generation + 1,
        at: outcome.rotatedAt,
        now,
        refreshToken: successor.token,
      }
      return issueGrantToken(context, grant, target, issue)
    }
    case 'reused':
      context.record({ event: 'refresh.reuse-detected', client: client.id })
      throw invalidGrant('refresh_reused')
    case 'inactive':
      throw invalidGrant('refresh_revoked')
  }
}

function requireLiveFamily(grant: GrantRecord, now: EpochMs): void {
  if (grant.family === undefined || grant.revokedAt !== undefined) throw invalidGrant('refresh_revoked')
  if (grant.expiresAt <= now || grant.family.idleExpiresAt <= now) throw invalidGrant('refresh_expired')
  if (isFromFuture(grant.createdAt, now)) throw invalidGrant('refresh_not_yet_valid')
}

/** A resource that is gone will not come back by asking again, so the client must sign in anew (threats.md RT-09). */
function requireOfferedResources(catalog: ScopeCatalog, grant: GrantRecord): void {
  if (grant.resources.some((resource) => findResource(catalog, resource) === undefined))
    throw invalidGrant('resource_gone')
}

/**
 * RFC 6749 §6: not more than was granted, for these resources; without `scope`, all of it. The grant itself keeps its scope.
 * What the client requested at the start and did not get is ignored: many clients repeat the scope that they are configured with.
 */
function narrowScope(
  context: Context,
  catalog: ScopeCatalog,
  grant: GrantRecord,
  { scope: granted, resources }: TokenTarget,
  form: Parameters,
): Scope {
  const requested = readScope(form)
  if (requested === undefined) return granted
  const ignored = scopeTokens(grant.ungrantedScope)
  const scope = narrow(requested, (token) => !ignored.includes(token))
  const foreign = scopeTokens(scope === NO_SCOPE ? requested : subtract(scope, granted))
  const bare = withoutShare(catalog, scope, resources)
  if (foreign.length === 0 && bare.length === 0) return scope
  const refusal = foreign.length > 0 ? moreThanGranted(foreign) : nothingRemains(new Map(), bare)
  throw scopeError(context, grant, refusal, form.get('scope'))
}
