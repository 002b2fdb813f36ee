import type { IncomingMessage } from 'node:http'
import type { CookieChanges, Cookies } from '../ports/message.ts'

/** Reads and writes the server's cookies. Their names and attributes depend only on the issuer. */
export interface CookieJar {
  readonly read: (message: IncomingMessage) => Cookies
  /** The values of `Set-Cookie` headers. RFC 6265 §4.1. */
  readonly write: (changes: CookieChanges) => readonly string[]
}

/** How long a browser stays recognised. Its user can sign in while an attacker who guesses the password is locked out. */
const BROWSER_LIFETIME_SECONDS = 180 * 24 * 60 * 60

/**
 * The cookies of an issuer. For https their names have the `__Host-` prefix (RFC 6265bis §4.1.3.2), so no other host can set
 * them. For a loopback http issuer browsers reject that prefix, and all ports share cookies, so the name contains the port. The path of
 * an issuer is part of the name, because several issuers of a host would overwrite each other's cookies, whose path is `/`.
 *
 * The values are credentials, whose characters need neither quoting nor escaping.
 */
export function cookieJar(issuer: string, sessionLifetimeSeconds: number): CookieJar {
  const url = new URL(issuer)
  const isSecure = url.protocol === 'https:'
  // RFC 6265 §4.1.1: a name has no slash and no colon. The path of an issuer has neither tilde nor plus (config.ts).
  const path = url.pathname.replace(/\/$/, '').replaceAll('/', '~').replaceAll(':', '+')
  const nameOf = (purpose: string): string =>
    (isSecure ? `__Host-grantor-${purpose}` : `grantor-${purpose}-${url.port === '' ? '80' : url.port}`) + path
  const names = { browser: nameOf('browser'), session: nameOf('session') }
  const attributes = `Path=/; HttpOnly;${isSecure ? ' Secure;' : ''} SameSite=Lax`
  const setCookie = (name: string, value: string, maxAge: number): string =>
    `${name}=${value}; Max-Age=${maxAge}; ${attributes}`
  return {
    read({ headers: { cookie = '' } }) {
      const pairs = cookie.split(';').map((pair) => pair.trim())
      const find = (name: string): string | undefined =>
        pairs.find((pair) => pair.startsWith(`${name}=`))?.slice(name.length + 1)
      return { browser: find(names.browser), session: find(names.session) }
    },
    write({ browser, session }) {
      return [
        ...(browser === undefined ? [] : [setCookie(names.browser, browser.token, BROWSER_LIFETIME_SECONDS)]),
        ...(session === undefined ? [] : [sessionCookie(session)]),
      ]
    },
  }

  function sessionCookie(session: NonNullable<CookieChanges['session']>): string {
    return session === 'end'
      ? setCookie(names.session, '', 0)
      : setCookie(names.session, session.token, sessionLifetimeSeconds)
  }
}
