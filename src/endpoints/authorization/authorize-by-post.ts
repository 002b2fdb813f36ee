import type { Context } from '../../ports/context.ts'
import type { Reply, Request } from '../../ports/message.ts'
import { errorPage } from '../error-page.ts'
import { addressOf, PATHS } from '../paths.ts'

/** Characters of an address. RFC 9110 §4.1 asks every server and proxy to take 8,000, and many take no more. */
const ADDRESS_LIMIT = 8000

/**
 * Authorization endpoint by POST. RFC 6749 §3.1.
 *
 * The browser is sent to the same request by GET, whatever the request is. A POST from the page of another site comes without
 * our SameSite=Lax cookies, so the person would seem signed out, and a new browser cookie would replace the one that the browser
 * has (threats.md AUTH-25). The GET comes with them.
 */
export async function authorizeByPost({ issuer }: Pick<Context, 'issuer'>, { query, body }: Request): Promise<Reply> {
  // Encoded again, because a body may have characters that a header may not.
  const location = `${addressOf(issuer, PATHS.authorize)}?${new URLSearchParams(body).toString()}`
  if (query.names.length > 0 || location.length > ADDRESS_LIMIT) return errorPage('request-malformed')
  return { kind: 'redirect', location }
}
