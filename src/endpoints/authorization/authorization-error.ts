import type { Context } from '../../ports/context.ts'
import type { CookieChanges, Reply } from '../../ports/message.ts'
import type { AuthorizationRecord } from '../../ports/records/authorization.ts'
import type { ClientRecord } from '../../ports/records/client.ts'
import { AUTHORIZATION_FAULTS, type AuthorizationFault } from '../../protocol/authorization-request.ts'
import { answerUri, type AuthorizationErrorCode } from '../../protocol/authorization-response.ts'
import type { UserId } from '../../protocol/ids.ts'
import type { RedirectUri } from '../../protocol/redirect-uri.ts'
import { viewClient } from './client-view.ts'
import { identityStart } from './remembered-consent.ts'
import { errorPage } from '../error-page.ts'
import { reportScope, type ScopeRefusal } from '../token/scope-refusal.ts'

/** A request of a client and a redirect URI that are known good. RFC 6749 §4.1.2.1 lets errors go there. */
export interface Trusted {
  readonly client: ClientRecord
  readonly redirectUri: RedirectUri
  readonly state: string | undefined
}

/** What is told to the client, and what to the log. */
export interface Fault {
  readonly error: AuthorizationErrorCode
  readonly reason: AuthorizationFault
  /** Where the request is refused because of its scopes. */
  readonly refusal?: ScopeRefusal
}

/** One answer for an organization that is not the person's and for one that does not exist (threats.md AUTH-22). */
export const NOT_A_MEMBER: Fault = { error: 'access_denied', reason: 'organization_of_others' }

/** decisions.md D8: by redirect for clients that somebody vouches for, by a page that names the host for all others. */
export async function refuse(
  context: Context,
  { client, redirectUri, state }: Trusted,
  userId: UserId | undefined,
  { error, reason, refusal }: Fault,
  cookies: CookieChanges = {},
): Promise<Reply> {
  const description = refusal?.description ?? AUTHORIZATION_FAULTS[reason]
  if (refusal !== undefined) reportScope(context, { clientId: client.id, userId, organizationId: undefined }, refusal)
  const event = { event: 'authorization.refused', client: client.id, reason, description }
  const location = answerUri(redirectUri, { kind: 'error', error, description }, state, context.issuer)
  const isVouchedFor =
    client.verifiedAt !== undefined ||
    context.settings.redirectErrors ||
    (userId !== undefined && (await context.store.hasConsented(userId, client.id, identityStart(client))))
  if (isVouchedFor) return { kind: 'redirect', location, cookies, event }
  const view = viewClient(client, redirectUri, context.clock())
  return {
    kind: 'page',
    status: 400,
    page: { kind: 'return', problem: error, description, client: view, returnUri: location },
    cookies,
    event,
  }
}

/** Ends an authorization that waited for the person, and refuses it. */
export async function refuseStarted(
  context: Context,
  { authorization, client }: { readonly authorization: AuthorizationRecord; readonly client: ClientRecord },
  userId: UserId,
  fault: Fault,
  cookies: CookieChanges = {},
): Promise<Reply> {
  const outcome = await context.store.denyAuthorization({
    id: authorization.id,
    now: context.clock(),
    about: { clientId: client.id, userId },
  })
  if (outcome !== 'denied') return errorPage(outcome === 'decided' ? 'already-completed' : 'expired')
  return refuse(context, { ...authorization, client }, userId, fault, cookies)
}
