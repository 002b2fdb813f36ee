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
 * The cookies of an issuer. The path of an issuer is part of the name, because several issuers of a host would overwrite each other's
 * cookies, whose path is `/`.
 *
 * The values are credentials, whose characters need neither quoting nor escaping.
 */
export function cookieJar(issuer: string, sessionLifetimeSeconds: number): CookieJar {
  const url = new URL(issuer)
  const isSecure = url.protocol === 'https:'
  // RFC 6265 §4.1.1: a name has no slash and no colon. The path of an issuer has neither tilde nor plus (config.ts).
  const path = url.pathname.replace(/\/$/, '').replaceAll('/', '~').replaceAll(':', '+')
  const names = { browser: cookieName(url, 'browser') + path, session: cookieName(url, 'session') + path }
  const attributes = `Path=/; HttpOnly;${isSecure ? ' Secure;' : ''} SameSite=Lax`
  const setCookie = (name: string, value: string, maxAge: number): string =>
    `${name}=${value}; Max-Age=${maxAge}; ${attributes}`
  return {
    read({ headers: { cookie = '' } }) {
      const pairs = cookie.split(';').map((pair) => pair.trim())
      const find = (name: string): readonly string[] =>
        pairs.filter((pair) => pair.startsWith(`${name}=`)).map((pair) => pair.slice(name.length + 1))
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

/**
 * The name of a cookie of an origin. All ports of a host share its cookies (RFC 6265 §8.5), so a port is part of the name. For https the name
 * has the `__Host-` prefix (RFC 6265bis §4.1.3.2), so no other host can set the cookie; on a loopback http origin browsers reject it.
 */
export function cookieName({ protocol, port }: Pick<URL, 'protocol' | 'port'>, purpose: string): string {
  if (protocol !== 'https:') return `grantor-${purpose}-${port === '' ? '80' : port}`
  return `__Host-grantor-${purpose}${port === '' ? '' : `-${port}`}`
}
