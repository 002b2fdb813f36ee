import type { Context } from '../../ports/context.ts'
import type { TokenResponse } from '../../protocol/access-token.ts'
import { defaultScope } from '../../protocol/client-metadata.ts'
import { invalidClient, invalidScope, invalidTarget, unauthorizedClient } from '../../protocol/errors.ts'
import type { Parameters } from '../../protocol/message.ts'
import type { Resource } from '../../protocol/resource.ts'
import { intersect, isWithin, narrow, parseScope, type Scope } from '../../protocol/scope.ts'
import { unacceptable } from '../../protocol/validation.ts'
import type { AuthenticatedClient } from '../authenticate-client.ts'
import { issueClientToken } from '../issue-tokens.ts'
import { allowsScope, findOffers, findResource, refusedTokens, type Offers } from '../offers.ts'
import { findTerms } from '../token-terms.ts'
import { findMandate, type Mandate } from './find-mandate.ts'
import { readResource } from './grant.ts'

/**
 * Client Credentials Grant. RFC 6749 §4.4.
 *
 *  §4.4    Confidential clients only.
 *  §4.4.2  `scope` may be named; without it the client gets what it registered, as far as a machine may have it.
 *  §4.4.3  No refresh token.
 *
 * Registering gives no authority (decisions.md D6): a scope must be one that its API gives to machines. For an organization
 * it must be one that the organization installed the client with, too (decisions.md D4).
 *
 * @throws OAuthError unauthorized_client, invalid_scope, invalid_target, invalid_request, invalid_client
 */
export async function clientCredentials(
  context: Context,
  client: AuthenticatedClient,
  form: Parameters,
): Promise<TokenResponse> {
  if (client.secretHash === undefined) throw unauthorizedClient('client_public')
  // From before anything is looked at, so that what ends meanwhile ends this token too (threats.md INT-06).
  const now = context.clock()
  const mandate = await findMandate(context, client, form, now)
  const offers = await findOffers(context)
  const resources = chooseResources(offers, form)
  const scope = chooseScope(offers, client, mandate, resources, form)
  const { organizationId, userId } = mandate
  // A JWT is not stored: it says what it is, and the client's row keeps it alive.
  const aim = { scope, resources, organizationId, userId }
  const response = issueClientToken(context, client, aim, { terms: findTerms(context, offers, resources), now })
  if (client.usedAt !== undefined) return response
  const [used] = await Promise.all([context.store.useClient({ id: client.id, now }), response])
  if (used === 'unknown') throw invalidClient('client_unknown', false)
  return response
}

function chooseResources(offers: Offers, form: Parameters): readonly Resource[] {
  const asked = readResource(form)
  if (asked === undefined) return []
  const found = findResource(offers, asked)
  if (found !== undefined) return [found]
  throw invalidTarget('resource_unknown', [
    unacceptable('body', 'resource', 'No tokens are issued for this here.', asked),
  ])
}

function chooseScope(
  offers: Offers,
  client: AuthenticatedClient,
  mandate: Mandate,
  resources: readonly Resource[],
  form: Parameters,
): Scope {
  const asker = { kind: 'machine', client } as const
  const text = form.get('scope')
  const within = mandate.scope
  if (text === undefined) {
    const scope = narrow(defaultScope(client.metadata), (token) => allowsScope(offers, token, resources, asker))
    return within === undefined ? scope : intersect(scope, within)
  }
  const scope = parseScope(text)
  if (scope === undefined) {
    throw invalidScope('scope_malformed', [unacceptable('body', 'scope', 'This is not a scope.', text)])
  }
  const registered = client.metadata.scope
  const isRegistered = registered === undefined || isWithin(scope, registered)
  const isInstalled = within === undefined || isWithin(scope, within)
  if (isRegistered && isInstalled && refusedTokens(offers, scope, resources, asker).length === 0) return scope
  throw invalidScope('scope_not_allowed', [unacceptable('body', 'scope', 'This client may not have this scope.', text)])
}
