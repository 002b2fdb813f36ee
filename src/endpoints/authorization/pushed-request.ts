import assert from 'node:assert/strict'
import type { Context } from '../../ports/context.ts'
import type { Reply, Request } from '../../ports/message.ts'
import { shortenLocales } from '../../base/preferences.ts'
import { pushedTokenIn, readKept } from '../../protocol/authorization/pushed-request.ts'
import { parseClientIdentifier } from '../../protocol/client/identifier.ts'
import type { PushedRequestId } from '../../protocol/ids.ts'
import { errorPage } from '../error-page.ts'

/** A request to the authorization endpoint, with the parameters that the client pushed, if it did. */
export interface OpenedRequest {
  readonly request: Request
  readonly pushedRequestId: PushedRequestId | undefined
}

/**
 * Replaces the parameters of a request by those that the client pushed under its `request_uri`. RFC 9126 §4.
 *
 * Of the address only `client_id` counts. A request that cannot be opened is an error page: a redirect URI of the address is not one
 * that the client pushed. Opening does not use the request up, because browsers reload pages and previews open links; the
 * approval does (`approve`).
 */
export async function openPushedRequest(context: Context, request: Request): Promise<OpenedRequest | Reply> {
  const { params } = request
  const token = pushedTokenIn(params.get('request_uri'))
  if (token === undefined) return { request, pushedRequestId: undefined }
  if (params.repeated.includes('client_id') || params.repeated.includes('request_uri'))
    return errorPage('parameter_repeated')
  const clientId = params.get('client_id')
  if (clientId === undefined) return errorPage('client_id_missing')
  const id = context.secrets.verify('pushed-request', token)?.id as PushedRequestId | undefined
  const pushed = id === undefined ? undefined : await context.store.findPushedRequest(id)
  if (pushed === undefined) return errorPage('pushed_request_expired')
  const known = { client: pushed.clientId }
  if (parseClientIdentifier(clientId)?.id !== pushed.clientId) return errorPage('pushed_request_of_another', known)
  const kept = readKept(pushed.parameters, clientId)
  assert(kept, 'The push has read them the same way.')
  const uiLocales = shortenLocales(kept.get('ui_locales'))
  if (pushed.usedBy !== undefined) return { ...errorPage('pushed_request_approved', known), uiLocales }
  if (pushed.expiresAt <= context.clockCheck.now()) return errorPage('pushed_request_expired', known)
  return {
    request: { ...request, params: kept, uiLocales },
    pushedRequestId: pushed.id,
  }
}
