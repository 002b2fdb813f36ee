import type { Context } from '../../ports/context.ts'
import type { Reply, Request } from '../../ports/message.ts'
import type { ApiRecord } from '../../ports/records/api.ts'
import { invalidRequest, OAuthError } from '../../protocol/errors.ts'
import { PROOF_ALGORITHMS } from '../../protocol/token/dpop-proof.ts'
import { missing, unacceptable } from '../../base/validation.ts'
import { advertisedScopes, findApi, scopeCatalogOf } from '../../requests/scope-catalog.ts'

/** Seconds that the document may be cached, as for the server metadata. */
const MAX_AGE_SECONDS = 300

/**
 * Protected resource metadata of a declared API. RFC 9728 §2.
 *
 * Clients request this document from the API (§3.1), so the API must serve a copy of it (docs/mcp.md).
 *
 * @throws OAuthError invalid_request, invalid_target
 */
export async function describeResource(context: Context, { query }: Request): Promise<Reply> {
  const requested = query.get('resource')
  if (requested === undefined) throw invalidRequest('parameter_missing', { problems: [missing('query', 'resource')] })
  const api = findApi(scopeCatalogOf(context, await context.describedApis()), requested)
  if (api !== undefined)
    return { kind: 'json', status: 200, body: describe(api, context.issuer), maxAgeSeconds: MAX_AGE_SECONDS }
  const problems = [unacceptable('query', 'resource', 'No API is declared for this resource.', requested)]
  throw new OAuthError('invalid_target', 'resource_unknown', { status: 404, problems })
}

/** Clients that know DPoP send a proof without being asked. */
const DPOP_REQUIRED = {
  dpop_bound_access_tokens_required: true,
  dpop_signing_alg_values_supported: PROOF_ALGORITHMS,
} as const

function describe(api: ApiRecord, issuer: string): object {
  const { resource, name, tokens } = api
  const scopes = advertisedScopes(api)
  return {
    resource,
    authorization_servers: [issuer],
    ...(scopes.length === 0 ? {} : { scopes_supported: scopes }),
    bearer_methods_supported: ['header'],
    ...(tokens.binding === 'dpop' ? DPOP_REQUIRED : {}),
    ...(name === undefined ? {} : { resource_name: name }),
  }
}
