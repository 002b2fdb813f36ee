import type { Context } from '../../ports/context.ts'
import type { Reply, Request } from '../../ports/message.ts'
import { viewDestination } from '../../clients/destination.ts'
import type { Parameters } from '../../base/message.ts'
import { addressOf } from '../../protocol/uri/server-address.ts'
import { errorPage } from '../error-page.ts'
import { PATHS } from '../paths.ts'
import { formTarget } from './client-view.ts'
import { isCrossSite } from './interaction.ts'
import {
  isOfSession,
  LOGOUT_PARAMETERS,
  NO_REQUESTER,
  readLogoutRequest,
  type LogoutRequest,
} from './logout-request.ts'
import { endOf, findToEnd, viewAccount, type SignedIn } from './session.ts'

/** Shows a page that asks for confirmation: a link on another site must not sign the user out (threats.md UI-15). */
export async function showSignOut(context: Context, request: Request): Promise<Reply> {
  return askToSignOut(context, request.params, NO_REQUESTER, await findToEnd(context, request.cookies))
}

/**
 * End session endpoint. OpenID Connect RP-Initiated Logout 1.0 §2.
 *
 *  §2  With an ID token of the session of this browser the user is signed out at once. Any other site can send the browser here,
 *      so the user confirms every other request.
 *  §3  The browser returns to a registered URI alone, with the `state`.
 *  §4  A request with a fault is answered by a page, because no address is known to be safe.
 */
export async function endSession(context: Context, request: Request): Promise<Reply> {
  const logout = await readLogoutRequest(context, request.params)
  if (logout === 'malformed') return errorPage('logout_malformed')
  const signedIn = await findToEnd(context, request.cookies)
  const isComplete = logout.hint !== undefined && !logout.isUriUnknown
  if (isComplete && (signedIn === undefined || isOfSession(context, logout, signedIn))) {
    return end(context, logout, signedIn)
  }
  return askToSignOut(context, request.params, logout, signedIn)
}

/** Ends the session of a user who confirmed that. */
export async function signOut(context: Context, request: Request): Promise<Reply> {
  if (isCrossSite(request)) return errorPage('form_of_another_site')
  const signedIn = await findToEnd(context, request.cookies)
  if (signedIn !== undefined) {
    const csrf = request.params.get('csrf') ?? ''
    if (!context.secrets.digestMatches('csrf', csrfParts(signedIn), csrf))
      return errorPage('form_token_wrong', { user: signedIn.user.id })
  }
  const logout = await readLogoutRequest(context, request.params)
  return logout === 'malformed' ? errorPage('logout_malformed') : end(context, logout, signedIn)
}

function askToSignOut(
  context: Context,
  params: Parameters,
  logout: LogoutRequest,
  signedIn: SignedIn | undefined,
): Reply {
  const csrf = signedIn === undefined ? '' : context.secrets.digest('csrf', csrfParts(signedIn))
  const repeated =
    logout === NO_REQUESTER ? [] : LOGOUT_PARAMETERS.map((name) => [name, params.get(name) ?? ''] as const)
  const page = {
    kind: 'sign-out',
    action: addressOf(context.issuer, PATHS.signOut),
    hidden: { csrf, ...Object.fromEntries(repeated.filter(([, value]) => value !== '')) },
    account: signedIn === undefined ? undefined : viewAccount(signedIn.user),
  } as const
  const applicationUrl = context.settings.delegate?.signOutUrl
  const returnUri = redirectUriOf(context, logout, signedIn)
  const targets = [
    ...(applicationUrl === undefined ? [] : [new URL(applicationUrl).origin]),
    ...(returnUri === undefined ? [] : [formTarget(returnUri)]),
  ]
  return { kind: 'page', status: 200, page, ...(targets.length === 0 ? {} : { formTarget: targets.join(' ') }) }
}

/**
 * Ends the session in the store and removes its cookie. The browser then goes to the operator's application, which ends its own
 * session and returns to the client (docs/delegated-sign-in.md), or to the client at once.
 */
async function end(context: Context, logout: LogoutRequest, signedIn: SignedIn | undefined): Promise<Reply> {
  if (signedIn !== undefined) await context.store.endSession(endOf(context, signedIn))
  const event = { event: 'session.ended', client: logout.requester?.client.id, user: signedIn?.user.id } as const
  const ended = { cookies: { session: 'end' }, event } as const
  const returnUri = redirectUriOf(context, logout, signedIn)
  const applicationUrl = context.settings.delegate?.signOutUrl
  if (applicationUrl !== undefined) {
    const location = new URL(applicationUrl)
    if (returnUri !== undefined) location.searchParams.set('return_to', returnUri)
    return { kind: 'redirect', location: location.href, ...ended }
  }
  if (returnUri !== undefined) return { kind: 'redirect', location: returnUri, ...ended }
  const { returnUri: uri } = logout
  const back = uri === undefined ? undefined : { uri, destination: viewDestination(uri) }
  return { kind: 'page', status: 200, page: { kind: 'signed-out', back }, ...ended }
}

/**
 * Where the browser is redirected; undefined: the page has a link instead, if the browser may return. Without an ID token of this
 * session, an unverified client gets no redirect: anyone can register one, and the server would be an open redirector.
 */
function redirectUriOf(context: Context, logout: LogoutRequest, signedIn: SignedIn | undefined): string | undefined {
  const { hint, requester, returnUri } = logout
  if (hint === undefined) return undefined
  const isKnown = requester?.rights.mayReceiveErrors === true
  return isKnown || (signedIn !== undefined && isOfSession(context, logout, signedIn)) ? returnUri : undefined
}

function csrfParts({ session }: SignedIn): readonly string[] {
  return ['sign-out', session.id]
}
