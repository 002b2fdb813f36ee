import type { IncomingHttpHeaders } from 'node:http'
import type { Context } from '../../../ports/context.ts'
import { after, type EpochMs } from '../../../base/brand.ts'
import { isFromFuture } from '../../../base/clock.ts'
import { parseJson } from '../../../base/json.ts'
import { CONSOLE_PATH } from '../../../protocol/client/console.ts'
import { parseGrantId, type GrantId } from '../../../protocol/ids.ts'

/** From the sign-in on. */
const SESSION_MS = 12 * 60 * 60 * 1000
/** Without a request. */
const IDLE_MS = 30 * 60 * 1000
/** The cookie is renewed when it is older. */
const RENEWAL_MS = 5 * 60 * 1000
const BEGIN_SECONDS = 10 * 60

/** What a session of the console is: the grant of a sign-in, and when the browser was seen. */
export interface ConsoleSession {
  readonly grantId: GrantId
  readonly signedInAt: EpochMs
  readonly seenAt: EpochMs
}

/**
 * The cookies of the console, which browsers send to no other path. `SameSite=Lax`: after the sign-in, a strict cookie would not be sent,
 * and the browser would sign in again and again.
 */
export interface ConsoleCookies {
  /** undefined: none, not made by this server, or too old. */
  readonly readSession: (headers: IncomingHttpHeaders) => ConsoleSession | undefined
  readonly writeSession: (session: ConsoleSession) => string
  readonly endSession: () => string
  /** Whether the browser was seen so long ago that the cookie is written again. */
  readonly isDue: (session: ConsoleSession) => boolean
  /** A value that binds a sign-in to the browser. */
  readonly readBrowser: (headers: IncomingHttpHeaders) => string | undefined
  readonly writeBrowser: (key: string) => string
}

export function consoleCookies({ clock, secrets }: Pick<Context, 'clock' | 'secrets'>, origin: string): ConsoleCookies {
  const { protocol, port } = new URL(origin)
  const isSecure = protocol === 'https:'
  // All ports of a loopback host share cookies.
  const nameOf = (purpose: string): string =>
    isSecure ? `__Secure-grantor-${purpose}` : `grantor-${purpose}-${port === '' ? '80' : port}`
  const names = { session: nameOf('console'), browser: nameOf('console-begin') }
  const attributes = `Path=${CONSOLE_PATH}; HttpOnly;${isSecure ? ' Secure;' : ''} SameSite=Lax`
  const read = ({ cookie = '' }: IncomingHttpHeaders, name: string): string | undefined =>
    cookie
      .split(';')
      .map((pair) => pair.trim())
      .find((pair) => pair.startsWith(`${name}=`))
      ?.slice(name.length + 1)
  const write = (name: string, value: string, seconds: number): string =>
    `${name}=${value}; Max-Age=${seconds}; ${attributes}`

  return {
    readSession(headers) {
      const [payload = '', mac = ''] = read(headers, names.session)?.split('.', 2) ?? []
      if (!secrets.digestMatches('console', ['session', payload], mac)) return undefined
      const [id, signedInAt, seenAt] = parseJson(Buffer.from(payload, 'base64url').toString()) as [
        string,
        EpochMs,
        EpochMs,
      ]
      const grantId = parseGrantId(id)
      const now = clock()
      if (grantId === undefined || isFromFuture(signedInAt, now) || isFromFuture(seenAt, now)) return undefined
      if (now >= after(signedInAt, SESSION_MS) || now >= after(seenAt, IDLE_MS)) return undefined
      return { grantId, signedInAt, seenAt }
    },
    writeSession({ grantId, signedInAt, seenAt }) {
      const payload = Buffer.from(JSON.stringify([grantId, signedInAt, seenAt])).toString('base64url')
      const value = `${payload}.${secrets.digest('console', ['session', payload])}`
      return write(names.session, value, SESSION_MS / 1000)
    },
    endSession: () => write(names.session, '', 0),
    isDue: ({ seenAt }) => clock() >= after(seenAt, RENEWAL_MS),
    readBrowser(headers) {
      const key = read(headers, names.browser)
      return key !== undefined && /^[\w-]{22}$/.test(key) ? key : undefined
    },
    writeBrowser: (key) => write(names.browser, key, BEGIN_SECONDS),
  }
}
