import type { Context } from '../../ports/context.ts'
import type { CookieChanges, Reply } from '../../ports/message.ts'
import type { ReturnPath } from '../../ports/pages/pages.ts'
import type { AuthorizationRecord } from '../../ports/records/authorization.ts'
import { answerParameters, answerUri, type AuthorizationAnswer } from '../../protocol/authorization/response.ts'
import { formTarget } from './client-view.ts'

/** What a response depends on, of the request. */
export type ResponseTarget = Pick<AuthorizationRecord, 'redirectUri' | 'responseMode' | 'state'>

/** Sends the browser to the client with the authorization response. RFC 6749 §4.1.2, OAuth 2.0 Form Post Response Mode §2. */
export function respond(
  context: Context,
  target: ResponseTarget,
  answer: AuthorizationAnswer,
  cookies: CookieChanges,
): Reply {
  const path = returnPath(context, target, answer)
  if (path.kind === 'link') return { kind: 'redirect', location: path.uri, cookies }
  const page = { kind: 'form-post', action: path.action, fields: path.fields } as const
  return { kind: 'page', status: 200, page, formTarget: formTarget(target.redirectUri), cookies }
}

/** The way back to the client with the authorization response, for a page that the user leaves by a click. */
export function returnPath(
  { issuer }: Context,
  { redirectUri, responseMode, state }: ResponseTarget,
  answer: AuthorizationAnswer,
): ReturnPath {
  return responseMode === 'form_post'
    ? { kind: 'form', action: redirectUri, fields: answerParameters(answer, state, issuer) }
    : { kind: 'link', uri: answerUri(redirectUri, answer, state, issuer) }
}
