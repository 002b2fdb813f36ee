import type {} from '@fastify/cookie'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { CookieChanges, Cookies } from '../ports/message.ts'

/** The names and attributes of our cookies; they differ with the issuer only. */
export interface CookieJar {
  readonly read: (request: FastifyRequest) => Cookies
  readonly write: (reply: FastifyReply, changes: CookieChanges) => void
}

/** A browser stays recognised for this long, so that its owner is not locked out by somebody who guesses. */
const BROWSER_LIFETIME_SECONDS = 180 * 24 * 60 * 60

/**
 * Cookies of an issuer. Over https with the `__Host-` prefix (RFC 6265bis §4.1.3.2), which no other host can set. On a
 * loopback http issuer browsers refuse that prefix, and ports share cookies, so the name has the port in it.
 */
export function cookieJar(issuer: string, sessionLifetimeSeconds: number): CookieJar {
  const url = new URL(issuer)
  const isSecure = url.protocol === 'https:'
  const nameOf = (purpose: string): string =>
    isSecure ? `__Host-grantor-${purpose}` : `grantor-${purpose}-${url.port === '' ? '80' : url.port}`
  const names = { browser: nameOf('browser'), session: nameOf('session') }
  const attributes = { path: '/', httpOnly: true, secure: isSecure, sameSite: 'lax' } as const
  return {
    read: ({ cookies }) => ({ browser: cookies[names.browser], session: cookies[names.session] }),
    write(reply, { browser, session }) {
      if (browser !== undefined)
        reply.setCookie(names.browser, browser.token, { ...attributes, maxAge: BROWSER_LIFETIME_SECONDS })
      if (session === 'end') reply.clearCookie(names.session, attributes)
      else if (session !== undefined)
        reply.setCookie(names.session, session.token, { ...attributes, maxAge: sessionLifetimeSeconds })
    },
  }
}
