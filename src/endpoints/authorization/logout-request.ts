import type { Context } from '../../ports/context.ts'
import { evaluateClient, type AllowedClient } from '../../clients/evaluate-client.ts'
import { readState } from '../../protocol/authorization/request.ts'
import { withParameters } from '../../protocol/authorization/response.ts'
import { parseClientIdentifier } from '../../protocol/client/identifier.ts'
import type { IdTokenHint } from '../../protocol/openid/id-token.ts'
import type { Parameters } from '../../base/message.ts'
import { checkRedirectUri, redirectUriMatches } from '../../protocol/uri/redirect-uri.ts'
import { sameText } from '../../protocol/secrets.ts'
import { readIdTokenHint, sessionIdFor } from '../openid/id-token.ts'
import type { SignedIn } from './session.ts'

/** The parameters that decide, which the page that asks for confirmation repeats. Others, such as `logout_hint`, are ignored. */
export const LOGOUT_PARAMETERS = ['id_token_hint', 'client_id', 'post_logout_redirect_uri', 'state'] as const

/** A logout request. OpenID Connect RP-Initiated Logout 1.0 §2. */
export interface LogoutRequest {
  /** The client that requests it; undefined: unknown, disabled or blocked. */
  readonly requester: AllowedClient | undefined
  /** An ID token that this server issued to the requester, also one that has expired. undefined: none. */
  readonly hint: IdTokenHint | undefined
  /** Where the browser may return: a registered URI of the requester, with the `state`. */
  readonly returnUri: string | undefined
  /** The request names a URI to return to that the requester did not register. */
  readonly isUriUnknown: boolean
}

/** The page of this server, where users sign out without a client. */
export const NO_REQUESTER: LogoutRequest = {
  requester: undefined,
  hint: undefined,
  returnUri: undefined,
  isUriUnknown: false,
}

/** Reads a logout request. `malformed`: a parameter is repeated or too long, or the ID token is of another client. */
export async function readLogoutRequest(context: Context, params: Parameters): Promise<LogoutRequest | 'malformed'> {
  const state = readState(params)
  if (params.repeated.length > 0 || state !== params.get('state')) return 'malformed'
  const sent = params.get('id_token_hint')
  const hint = sent === undefined ? undefined : await readIdTokenHint(context, sent)
  const clientId = params.get('client_id')
  if (hint !== undefined && clientId !== undefined && hint.audience !== clientId) return 'malformed'
  const presented = params.get('post_logout_redirect_uri')
  const requester = await findRequester(context, hint?.audience ?? clientId ?? '', presented)
  const registered = presented !== undefined && isRegistered(context, requester, presented) ? presented : undefined
  return {
    requester,
    hint: requester === undefined ? undefined : hint,
    returnUri: registered === undefined ? undefined : withParameters(registered, state === undefined ? {} : { state }),
    isUriUnknown: registered !== presented,
  }
}

/** Whether the ID token is of the session of this browser, or of an earlier one that it continues. */
export function isOfSession(
  { secrets }: Context,
  { hint, requester }: LogoutRequest,
  { session, user }: SignedIn,
): boolean {
  if (hint === undefined || requester === undefined || hint.userId !== user.id) return false
  return sameText(hint.sessionId, sessionIdFor({ secrets }, session.rootId, requester.client.id))
}

/** A metadata document is not fetched: nothing new starts. */
async function findRequester(
  context: Context,
  identifier: string,
  redirectUri: string | undefined,
): Promise<AllowedClient | undefined> {
  const id = parseClientIdentifier(identifier)?.id
  const client = id === undefined ? undefined : await context.store.findClient(id)
  if (client === undefined || client.disabledAt !== undefined) return undefined
  const question = {
    phase: 'use',
    redirectUri: isRegisteredFor(client, redirectUri) ? redirectUri : undefined,
  } as const
  const allowed = await evaluateClient(context, client, question)
  return 'kind' in allowed ? undefined : allowed
}

type Registered = Pick<AllowedClient['client'], 'metadata'>

/** RP-Initiated Logout 1.0 §3: the URI is compared byte for byte; a loopback URI may have any port, as a redirect URI may. */
function isRegisteredFor({ metadata }: Registered, uri: string | undefined): boolean {
  return uri !== undefined && (metadata.post_logout_redirect_uris ?? []).some((one) => redirectUriMatches(one, uri))
}

function isRegistered(context: Context, requester: AllowedClient | undefined, uri: string): boolean {
  if (requester === undefined || !isRegisteredFor(requester.client, uri)) return false
  // Checked again, as a redirect URI is at the authorization endpoint.
  return checkRedirectUri(uri, context.settings.redirects).kind === 'usable'
}
