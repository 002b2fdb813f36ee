import { MAXIMA } from '../base/maxima.ts'
import type { Context } from '../ports/context.ts'
import type { Reply, Request } from '../ports/message.ts'
import { addressOf } from '../protocol/uri/server-address.ts'
import { errorPage } from './error-page.ts'

/**
 * Returns the endpoint that accepts by POST what another one with this path accepts by GET. RFC 6749 §3.1, OpenID Connect
 * RP-Initiated Logout 1.0 §2.
 *
 * It redirects the browser to the same request by GET. A POST from another site's page carries no SameSite=Lax cookies. Without
 * them the user would appear to be signed out, and a new browser cookie would replace the existing one (threats.md AUTH-25).
 * The GET carries the cookies.
 */
export function postAsGet(path: string) {
  return async ({ issuer }: Context, { query, body }: Request): Promise<Reply> => {
    // Encoded again, because a body may contain characters that a header may not.
    const location = `${addressOf(issuer, path)}?${new URLSearchParams(body).toString()}`
    if (query.names.length > 0 || location.length > MAXIMA.address.most) return errorPage('post_too_large')
    return { kind: 'redirect', location }
  }
}
