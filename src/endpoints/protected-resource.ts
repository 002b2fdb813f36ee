import type { Context } from '../ports/context.ts'
import type { Reply, Request } from '../ports/message.ts'
import type { ApiRecord } from '../ports/operator-records.ts'
import { invalidRequest, OAuthError } from '../protocol/errors.ts'
import { sameResource } from '../protocol/resource.ts'
import { missing, unacceptable } from '../protocol/validation.ts'

/** Seconds that a copy may be kept, as of the server's own metadata. */
const MAX_AGE_SECONDS = 300

/**
 * Protected resource metadata of a declared API. RFC 9728 §2.
 *
 * Clients look for it at the API (§3.1), not here: the API serves this document as its own (docs/mcp.md).
 *
 * @throws OAuthError invalid_request, invalid_target
 */
export async function describeResource(
  { apis, issuer }: Pick<Context, 'apis' | 'issuer'>,
  { query }: Request,
): Promise<Reply> {
  const asked = query.get('resource')
  if (asked === undefined) throw invalidRequest('parameter_missing', { problems: [missing('query', 'resource')] })
  const api = (await apis()).find(({ resource }) => sameResource(resource, asked))
  if (api !== undefined)
    return { kind: 'json', status: 200, body: describe(api, issuer), maxAgeSeconds: MAX_AGE_SECONDS }
  const problems = [unacceptable('query', 'resource', 'No API is declared for this here.', asked)]
  throw new OAuthError('invalid_target', 'resource_unknown', { status: 404, problems })
}

function describe({ resource, name, scopes }: ApiRecord, issuer: string): object {
  return {
    resource,
    authorization_servers: [issuer],
    ...(scopes.length === 0 ? {} : { scopes_supported: scopes.map((scope) => scope.name) }),
    bearer_methods_supported: ['header'],
    ...(name === undefined ? {} : { resource_name: name }),
  }
}
