import type { IncomingHttpHeaders } from 'node:http'
import type { Context } from '../../../ports/context.ts'
import { after, type EpochMs } from '../../../base/brand.ts'
import { isFromFuture } from '../../../base/clock.ts'
import { parseJson } from '../../../base/json.ts'
import { CONSOLE_PATH } from '../../../protocol/client/console.ts'
import { parseGrantId, type GrantId } from '../../../protocol/ids.ts'
import { cookieName } from '../../session.ts'

/** From the sign-in on. */
const SESSION_MS = 12 * 60 * 60 * 1000
/** Without a request. */
const IDLE_MS = 30 * 60 * 1000
/** The cookie is renewed when it is older. */
const RENEWAL_MS = 5 * 60 * 1000
const BEGIN_SECONDS = 10 * 60
/** A session that has ended is remembered as long: the next sign-in asks again, whatever session the issuer has. */
const KEPT_SECONDS = 30 * 24 * 60 * 60
/** The value after a sign-out, which is no session. */
const SIGNED_OUT = 'out'

/** What a session of the console is: the grant of a sign-in, and when the browser was seen. */
export interface ConsoleSession {
  readonly grantId: GrantId
  readonly signedInAt: EpochMs
  readonly seenAt: EpochMs
}

/** What the cookies of a request say of a session. */
export type FoundSession =
  | { readonly kind: 'session'; readonly session: ConsoleSession }
  /** The browser had one: it is too old, was ended, or was not made by this server. */
  | { readonly kind: 'ended' }
  /** Sessions of different sign-ins: another program of the host, or a sibling of it, has set one of them. */
  | { readonly kind: 'several' }
  | { readonly kind: 'none' }

/**
 * The cookies of the console, which browsers send to no other host, and without TLS to no other path. Others can set cookies of the same
 * name for a longer path or a domain above, so each that comes is tried (threats.md CON-30). `SameSite=Lax`: after the sign-in, a strict cookie would not be sent,
 * and the browser would sign in again and again.
 */
export interface ConsoleCookies {
  readonly readSession: (headers: IncomingHttpHeaders) => FoundSession
  readonly writeSession: (session: ConsoleSession) => string
  readonly endSession: () => string
  /** Whether the browser was seen so long ago that the cookie is written again. */
  readonly isDue: (session: ConsoleSession) => boolean
  /** Values that bind a sign-in to the browser. */
  readonly readBrowsers: (headers: IncomingHttpHeaders) => readonly string[]
  readonly writeBrowser: (key: string) => string
}

export function consoleCookies({ clock, secrets }: Pick<Context, 'clock' | 'secrets'>, origin: string): ConsoleCookies {
  const url = new URL(origin)
  const isSecure = url.protocol === 'https:'
  const names = { session: cookieName(url, 'console'), browser: cookieName(url, 'console-begin') }
  const attributes = `Path=${isSecure ? '/; Secure' : CONSOLE_PATH}; HttpOnly; SameSite=Lax`
  const read = ({ cookie = '' }: IncomingHttpHeaders, name: string): readonly string[] =>
    cookie.split(';').flatMap((pair) => {
      const text = pair.trim()
      return text.startsWith(`${name}=`) ? [text.slice(name.length + 1)] : []
    })
  const write = (name: string, value: string, seconds: number): string =>
    `${name}=${value}; Max-Age=${seconds}; ${attributes}`

  function open(value: string): ConsoleSession | undefined {
    const [payload = '', mac = ''] = value.split('.', 2)
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
  }

  return {
    readSession(headers) {
      const values = read(headers, names.session)
      const [session, ...others] = values.flatMap((value) => open(value) ?? [])
      if (session === undefined) return { kind: values.length === 0 ? 'none' : 'ended' }
      return others.some(({ grantId }) => grantId !== session.grantId)
        ? { kind: 'several' }
        : { kind: 'session', session }
    },
    writeSession({ grantId, signedInAt, seenAt }) {
      const payload = Buffer.from(JSON.stringify([grantId, signedInAt, seenAt])).toString('base64url')
      const value = `${payload}.${secrets.digest('console', ['session', payload])}`
      return write(names.session, value, KEPT_SECONDS)
    },
    endSession: () => write(names.session, SIGNED_OUT, KEPT_SECONDS),
    isDue: ({ seenAt }) => clock() >= after(seenAt, RENEWAL_MS),
    readBrowsers: (headers) => read(headers, names.browser).filter((key) => /^[\w-]{22}$/.test(key)),
    writeBrowser: (key) => write(names.browser, key, BEGIN_SECONDS),
  }
}
