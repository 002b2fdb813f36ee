import type { AppRedirects } from './app-redirect.ts'
import type { Brand } from '../../base/brand.ts'
import { findHostFault, findPathFault, readUri, writtenHost, type ReadUri } from './canonical-uri.ts'
import { isLoopbackHost, leadsToThisComputer } from './loopback.ts'

/** A redirect URI to which an authorization response may be sent. The registered and the presented URI are compared byte for byte. */
export type RedirectUri = Brand<string, 'RedirectUri'>

/** The result of checking a redirect URI at registration (decision 0005). */
export type RedirectUriVerdict =
  | { readonly kind: 'usable' }
  /** Well-formed, but of an app that the settings do not allow. Registered if another URI is usable; refused at the authorization endpoint. */
  | { readonly kind: 'dormant' }
  /** The whole registration is refused. */
  | { readonly kind: 'refused'; readonly reason: string }

/** The settings that the check depends on. */
export interface RedirectUriPolicy {
  /** The private-use URIs that are allowed although their scheme has no dot. */
  readonly apps: AppRedirects
  /** The server's own address. A code that is sent there would end up in its logs. */
  readonly own: Pick<URL, 'host' | 'hostname' | 'port' | 'protocol'>
}

/** Schemes that browsers execute, resolve locally or wrap around another scheme. No setting can allow them. */
const BROWSER_SCHEMES: ReadonlySet<string> = new Set(
  'about blob chrome chrome-extension content data file filesystem ftp intent jar javascript mailto mhtml moz-extension ms-its resource sms tel vbscript view-source ws wss x-javascript'.split(
    ' ',
  ),
)
/** Query parameters that the authorization response adds. RFC 6749 §4.1.2, RFC 9207 §2. */
const RESPONSE_PARAMETERS = ['code', 'state', 'iss', 'error', 'error_description', 'error_uri', 'response']

/**
 * Checks a redirect URI at registration. RFC 6749 §3.1.2, RFC 8252 §7 and §8, RFC 9700 §4.1.3. Stricter than the RFCs where
 * two parsers could disagree.
 */
export function checkRedirectUri(text: string, policy: RedirectUriPolicy): RedirectUriVerdict {
  const reading = readUri(text)
  if (reading.kind === 'refused') return reading
  if (text.includes('*')) return refused('has a wildcard; register each URI')
  const { scheme, url } = reading
  if (BROWSER_SCHEMES.has(scheme)) return refused('has a scheme that browsers execute or handle themselves')
  const fault = findPathFault(reading)
  if (fault !== undefined) return refused(fault)
  if (url.search !== '' && RESPONSE_PARAMETERS.some((name) => url.searchParams.has(name))) {
    return refused('has a query parameter that the authorization response sets')
  }
  if (scheme === 'https' || scheme === 'http') return checkWeb(text, reading, policy)
  return scheme.includes('.') || policy.apps.allows(text) ? { kind: 'usable' } : { kind: 'dormant' }
}

/** The redirect URIs of a registration that a client cannot use, because the settings do not allow their apps. */
export function findDormant(uris: readonly string[], policy: RedirectUriPolicy): readonly string[] {
  // Only a private-use scheme needs to be allowed, and a check takes microseconds.
  return uris.filter((uri) => isPrivateUse(uri) && checkRedirectUri(uri, policy).kind === 'dormant')
}

/**
 * Whether a presented redirect URI equals a registered one, byte for byte. The exception: a loopback redirect may have any
 * port (RFC 8252 §7.3). That includes `localhost`, which clients use in the same way.
 */
export function redirectUriMatches(registered: string, presented: string): boolean {
  if (registered === presented) return true
  const left = splitLoopback(registered)
  const right = splitLoopback(presented)
  return left !== undefined && right !== undefined && left.host === right.host && left.rest === right.rest
}

/** Whether browsers execute or handle a scheme themselves, so that no app can use it. */
export function isBrowserScheme(scheme: string): boolean {
  return ['http', 'https'].includes(scheme.toLowerCase()) || BROWSER_SCHEMES.has(scheme.toLowerCase())
}

/**
 * Whether the redirect stays on the user's machine, where any program may listen (RFC 8252 §8.6). The scheme makes no
 * difference: a certificate for `localhost` proves nothing about the program.
 */
export function isLoopback(uri: string): boolean {
  return !isPrivateUse(uri) && leadsToThisComputer(new URL(uri).hostname)
}

/** Removes the port of a loopback redirect, which is not part of the registration (RFC 8252 §7.3). Other URIs are returned unchanged. */
export function withoutLoopbackPort(uri: string): string {
  const split = splitLoopback(uri)
  return split === undefined ? uri : `http://${split.host}${split.rest}`
}

/** Whether a redirect has a private-use scheme, which any installed app may claim (RFC 8252 §8.6). */
export function isPrivateUse(uri: string): boolean {
  return !uri.startsWith('https:') && !uri.startsWith('http:')
}

/**
 * The host of a redirect URI that leads to another computer, with its port; undefined for loopback and apps, whose redirects any
 * program on the user's computer could receive (RFC 8252 §8.6).
 */
export function webHost(uri: string): string | undefined {
  if (isPrivateUse(uri)) return undefined
  const { host, hostname } = writtenHost(uri)
  return leadsToThisComputer(hostname) ? undefined : host
}

/** The destination that the consent page shows and a rate limit counts by: the host with its port, or the scheme of an app. */
export function redirectHost(uri: string): string {
  const url = new URL(uri)
  return isPrivateUse(uri) ? url.protocol : url.host
}

function checkWeb(text: string, reading: ReadUri, policy: RedirectUriPolicy): RedirectUriVerdict {
  const fault = findHostFault(reading)
  if (fault !== undefined) return refused(fault)
  const { url } = reading
  if (leadsHere(url, policy.own)) return refused('leads to this server itself')
  if (url.protocol === 'http:' && !isLoopbackHost(url.hostname)) {
    return refused('uses http, which is allowed for 127.0.0.1, [::1] and localhost only')
  }
  if (url.protocol === 'http:' || url.href === text || url.href === withRootPath(text)) return { kind: 'usable' }
  return refused('is not in its canonical form')
}

/** Whether a URL has the server's own origin. All names of the local computer count as the same host. */
function leadsHere(url: URL, own: RedirectUriPolicy['own']): boolean {
  if (url.protocol !== own.protocol) return false
  if (url.host === own.host) return true
  return url.port === own.port && isLoopbackHost(own.hostname) && leadsToThisComputer(url.hostname)
}

/** The URL parser writes the empty path of `https://app.example?x=1` and `https://app.example` as `/`. */
function withRootPath(text: string): string {
  return text.replace(/^(https:\/\/[^/?]+)(?=\?|$)/, '$1/')
}

function splitLoopback(uri: string): { host: string; rest: string } | undefined {
  const match = /^http:\/\/(127\.0\.0\.1|\[::1\]|localhost)(?::[0-9]{1,5})?([/?].*)?$/.exec(uri)
  return match === null ? undefined : { host: match[1] ?? '', rest: match[2] ?? '' }
}

function refused(reason: string): RedirectUriVerdict {
  return { kind: 'refused', reason }
}
