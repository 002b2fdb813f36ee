import type { Context } from '../../ports/context.ts'
import type { Request } from '../../ports/message.ts'
import type { ApiRecord } from '../../ports/records/api.ts'
import { readCredentials } from '../../protocol/client/authentication.ts'
import { invalidClient } from '../../protocol/errors.ts'
import { matchesCredential } from '../../protocol/secrets.ts'
import { loadScopeCatalog } from '../../requests/scope-catalog.ts'
import { authenticateClient, countFailure, type AuthenticatedClient } from './authenticate-client.ts'

declare const proven: unique symbol

/** Only `authenticateCaller` returns this type, so a function that requires it cannot skip authentication. */
export type AuthenticatedApi = ApiRecord & { readonly [proven]: true }

/** The caller of an endpoint that APIs call, too. */
export type Caller =
  | { readonly kind: 'api'; readonly api: AuthenticatedApi }
  | { readonly kind: 'client'; readonly client: AuthenticatedClient }

/**
 * Authenticates an API or a client. RFC 7662 §2.1, RFC 8693 §2.1. An API presents the id and secret of its credentials in the same way as
 * a client, because the libraries of resource servers support that.
 *
 * @throws OAuthError invalid_client, invalid_request, temporarily_unavailable
 */
export async function authenticateCaller(context: Context, request: Request): Promise<Caller> {
  const { id, secret, usedBasic } = readCredentials(request.authorization, request.params)
  if (!id.startsWith('gap_')) return { kind: 'client', client: await authenticateClient(context, request) }
  const api = (await loadScopeCatalog(context)).apis.find(({ credentials }) => credentials?.id === id)
  const isRight = matchesCredential(context.secrets, 'api-secret', secret, api?.credentials?.secretHash)
  if (api === undefined || !isRight) {
    countFailure(context, request.network)
    const refusal = invalidClient('api_credentials_wrong', usedBasic)
    // The log names credentials only if they exist.
    if (api !== undefined) refusal.credential = id
    throw refusal
  }
  return { kind: 'api', api: api as AuthenticatedApi }
}
