import type { IncomingMessage } from 'node:http'
import type { CookieChanges, Cookies } from '../ports/message.ts'

/** Reads and writes the server's cookies. Their names and attributes depend only on the issuer. */
export interface CookieJar {
  readonly read: (message: Pick<IncomingMessage, 'headers'>) => Cookies
  /** The languages that the browser keeps for its reader: as it sends them, so possibly none that there is. */
  readonly readLanguages: (message: Pick<IncomingMessage, 'headers'>) => readonly string[]
  /** The values of `Set-Cookie` headers. RFC 6265 §4.1. */
  readonly write: (changes: CookieChanges) => readonly string[]
}

/** How long a browser stays recognised. Its user can sign in while an attacker who guesses the password is locked out. */
const BROWSER_LIFETIME_SECONDS = 180 * 24 * 60 * 60
/** How long a browser keeps the language that its reader chose. */
const LANGUAGE_LIFETIME_SECONDS = 365 * 24 * 60 * 60

/**
 * The cookies of an issuer. The path of an issuer is part of the name, because several issuers of a host would overwrite each other's
 * cookies, whose path is `/`.
 *
 * The values are credentials and a language, whose characters need neither quoting nor escaping.
 */
export function cookieJar(issuer: string, sessionLifetimeSeconds: number): CookieJar {
  const url = new URL(issuer)
  const isSecure = url.protocol === 'https:'
  // RFC 6265 §4.1.1: a name has no slash and no colon. The path of an issuer has neither tilde nor plus (config.ts).
  const path = url.pathname.replace(/\/$/, '').replaceAll('/', '~').replaceAll(':', '+')
  const nameOf = (purpose: string): string => cookieName(url, purpose) + path
  const names = { browser: nameOf('browser'), session: nameOf('session'), language: nameOf('language') }
  const attributes = `Path=/; HttpOnly;${isSecure ? ' Secure;' : ''} SameSite=Lax`
  const setCookie = (name: string, value: string, maxAge: number): string =>
    `${name}=${value}; Max-Age=${maxAge}; ${attributes}`
  return {
    read({ headers: { cookie } }) {
      const find = finder(cookie)
      return { browser: find(names.browser), session: find(names.session) }
    },
    readLanguages: ({ headers: { cookie } }) => finder(cookie)(names.language),
    write({ browser, session, language }) {
      return [
        ...(browser === undefined ? [] : [setCookie(names.browser, browser.token, BROWSER_LIFETIME_SECONDS)]),
        ...(session === undefined ? [] : [sessionCookie(session)]),
        ...(language === undefined ? [] : [setCookie(names.language, language, LANGUAGE_LIFETIME_SECONDS)]),
      ]
    },
  }

  function sessionCookie(session: NonNullable<CookieChanges['session']>): string {
    return session === 'end'
      ? setCookie(names.session, '', 0)
      : setCookie(names.session, session.token, sessionLifetimeSeconds)
  }
}

/** Returns a function that finds the values of the cookies with a name. */
function finder(cookie = ''): (name: string) => readonly string[] {
  const pairs = cookie.split(';').map((pair) => pair.trim())
  return (name) => pairs.filter((pair) => pair.startsWith(`${name}=`)).map((pair) => pair.slice(name.length + 1))
}

/**
 * The name of a cookie of an origin. All ports of a host share its cookies (RFC 6265 §8.5), so a port is part of the name. For https the name
 * has the `__Host-` prefix (RFC 6265bis §4.1.3.2), so no other host can set the cookie; on a loopback http origin browsers reject it.
 */
export function cookieName({ protocol, port }: Pick<URL, 'protocol' | 'port'>, purpose: string): string {
  if (protocol !== 'https:') return `grantor-${purpose}-${port === '' ? '80' : port}`
  return `__Host-grantor-${purpose}${port === '' ? '' : `-${port}`}`
}
