import type { Context } from '../../ports/context.ts'
import type { Reply, Request } from '../../ports/message.ts'
import { errorPage } from '../error-page.ts'
import { addressOf, PATHS } from '../paths.ts'

/** Characters of a URI. RFC 9110 §4.1 recommends that servers and proxies support 8,000, and many support no more. */
const ADDRESS_LIMIT = 8000

/**
 * Authorization endpoint by POST. RFC 6749 §3.1.
 *
 * Redirects the browser to the same request by GET. A POST from another site's page carries no SameSite=Lax cookies. Without
 * them the user would appear to be signed out, and a new browser cookie would replace the existing one (threats.md AUTH-25).
 * The GET carries the cookies.
 */
export async function authorizeByPost({ issuer }: Pick<Context, 'issuer'>, { query, body }: Request): Promise<Reply> {
  // Encoded again, because a body may contain characters that a header may not.
  const location = `${addressOf(issuer, PATHS.authorize)}?${new URLSearchParams(body).toString()}`
  if (query.names.length > 0 || location.length > ADDRESS_LIMIT) return errorPage('request-malformed')
  return { kind: 'redirect', location }
}
