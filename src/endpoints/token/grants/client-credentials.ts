import type { Context } from '../../../ports/context.ts'
import type { IssuedToken } from '../../../protocol/token/access-token.ts'
import { isConfidential } from '../../../protocol/client/authentication.ts'
import { invalidClient, invalidTarget, unauthorizedClient } from '../../../protocol/errors.ts'
import type { Parameters } from '../../../base/message.ts'
import type { Resource } from '../../../protocol/token/resource.ts'
import { unacceptable } from '../../../base/validation.ts'
import { hasNoRules, NEVER_MET } from '../../../tokens/access-rules.ts'
import { issueClientToken } from '../issue-tokens.ts'
import { scopeCatalogOf, describeUnknown, findResources, type ScopeCatalog } from '../../../requests/scope-catalog.ts'
import { decideScope } from '../../../requests/scope-decision.ts'
import { scopeError } from '../../../requests/scope-refusal.ts'
import { chooseTokenProfile, type TokenRequester } from '../token-profile.ts'
import { findDelegation } from './delegation.ts'
import { readResources, readScope, ruleScope } from './grant.ts'

/**
 * Client Credentials Grant. RFC 6749 §4.4.
 *
 *  §4.4    The client must be confidential.
 *  §4.4.2  `scope` is optional. The default is the registered scope, or else the scopes that any machine may have. Scopes that
 *          the client may not have are dropped (§3.3).
 *  §4.4.3  There is no refresh token.
 *
 * Registration gives no authority (decision 0006), so the API must give the scope to machines. If the client acts for an
 * organization, the organization must also have installed the client with that scope (decision 0005).
 *
 * @throws OAuthError unauthorized_client, invalid_scope, invalid_target, invalid_request, invalid_client
 */
export async function clientCredentials(
  context: Context,
  requester: TokenRequester,
  form: Parameters,
): Promise<IssuedToken> {
  const { client, network } = requester
  if (!isConfidential(client)) throw unauthorizedClient('client_public')
  // Taken before the first read, so that a revocation during this request also covers this token (threats.md INT-06).
  const now = context.clockCheck.now()
  const delegation = await findDelegation(context, client, form, now)
  const catalog = scopeCatalogOf(context, await context.apis())
  const { organizationId, userId, scope: installed } = delegation
  const request = { resources: chooseResources(catalog, form), scope: readScope(form) }
  const decision = decideScope(catalog, { kind: 'machine', client, installed }, request)
  if (decision.kind === 'refused')
    throw scopeError(context, { clientId: client.id, userId, organizationId }, decision.refusal, form.get('scope'))
  const { resources } = decision
  const ruling =
    userId === undefined || hasNoRules(context, organizationId)
      ? undefined
      : // A level that a rule demands is not met, because no user signed in.
        await ruleScope(context, { ...decision, client, userId, organizationId }, NEVER_MET, form)
  const { scope } = ruling ?? decision
  // A JWT is not stored. Introspection reads the client's record to decide whether it is active.
  const target = { scope, resources, organizationId, userId }
  const response = issueClientToken(context, client, target, {
    profile: chooseTokenProfile(context, catalog, resources, requester),
    now,
    network,
  })
  if (client.usedAt === undefined) {
    const [used] = await Promise.all([context.store.useClient({ id: client.id, now }), response])
    if (used === 'unknown') throw invalidClient('client_unknown', false)
  }
  return ruling === undefined ? await response : { ...(await response), leftOut: ruling.leftOut }
}

function chooseResources(catalog: ScopeCatalog, form: Parameters): readonly Resource[] {
  const requested = readResources(form)
  const found = findResources(catalog, requested)
  if (found !== undefined) return found
  const msg = describeUnknown(catalog, requested)
  throw invalidTarget('resource_unknown', [unacceptable('body', 'resource', msg, requested.join(' '))], {
    explanation: msg,
  })
}
