import type { Context } from '../../ports/context.ts'
import type { Request } from '../../ports/message.ts'
import type { ApiRecord } from '../../ports/records/api.ts'
import { isConfidential, readCredentials } from '../../protocol/client/authentication.ts'
import { invalidClient, OAuthError } from '../../protocol/errors.ts'
import { matchesCredential } from '../../protocol/secrets.ts'
import { authenticateClient, countFailure, type AuthenticatedClient } from '../token/authenticate-client.ts'

/** The caller of the introspection endpoint. */
export type IntrospectionCaller =
  | { readonly kind: 'api'; readonly api: ApiRecord }
  | { readonly kind: 'client'; readonly client: AuthenticatedClient }

/**
 * Authenticates the caller of the introspection endpoint. RFC 7662 §2.1.
 *
 * An API presents the id and secret of its credentials in the same way as a client, because resource servers support that. A
 * public client cannot authenticate, so it may not introspect tokens (threats.md INT-02).
 *
 * @throws OAuthError invalid_client, invalid_request, unauthorized_client, temporarily_unavailable
 */
export async function authenticateCaller(context: Context, request: Request): Promise<IntrospectionCaller> {
  const { id, secret, usedBasic } = readCredentials(request.authorization, request.params)
  if (!id.startsWith('gap_')) {
    const client = await authenticateClient(context, request)
    if (!isConfidential(client)) throw new OAuthError('unauthorized_client', 'client_public', { status: 403 })
    return { kind: 'client', client }
  }
  const api = (await context.apis()).find(({ credentials }) => credentials?.id === id)
  const isRight = matchesCredential(context.secrets, 'api-secret', secret, api?.credentials?.secretHash)
  if (api === undefined || !isRight) {
    countFailure(context, request.network)
    const refusal = invalidClient('api_credentials_wrong', usedBasic)
    // The log names credentials only if they exist.
    if (api !== undefined) refusal.credential = id
    throw refusal
  }
  return { kind: 'api', api }
}
