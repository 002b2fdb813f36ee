import { isLoopbackHost } from './loopback.ts'
import { MAXIMA } from '../../base/maxima.ts'

/** A URI that every parser reads alike, as far as its text shows. */
export type UriReading =
  | ReadUri
  /** `reason` is the end of a sentence that begins with the URI. */
  | { readonly kind: 'refused'; readonly reason: string }

/** The parts of a URI as it is written (RFC 3986 §3), and as the URL parser reads them. */
export interface ReadUri {
  readonly kind: 'read'
  readonly scheme: string
  /** '' where there is none. */
  readonly authority: string
  readonly path: string
  readonly url: URL
}

/** The most characters of a URI that a client sends. */
const LENGTH_LIMIT = MAXIMA.uri.most
/** Scheme, authority and path of a URI without a fragment. RFC 3986 appendix B. */
const PARTS = /^([a-z][a-z0-9+.-]*):(?:\/\/([^/?]*))?([^?]*)/

/** Parses an absolute URI. RFC 3986 §3. Refuses texts that two parsers could split differently. */
export function readUri(text: string): UriReading {
  if (text.length > LENGTH_LIMIT) return refused(`is longer than ${LENGTH_LIMIT} characters`)
  if (!/^[\x21-\x7e]+$/.test(text)) return refused('has a space, a control character or a character outside ASCII')
  if (/[\\"<>^`{|}]/.test(text)) return refused('has a character that must be percent-encoded')
  if (text.includes('#')) return refused('has a fragment')
  if (/%(?![0-9A-Fa-f]{2})/.test(text)) return refused('has a broken percent-escape')
  const parts = PARTS.exec(text)
  const url = parts === null ? null : URL.parse(text)
  if (parts === null || url === null) return refused('is not an absolute URI with a lower-case scheme')
  const [, scheme = '', authority = '', path = ''] = parts
  return { kind: 'read', scheme, authority, path, url }
}

/** Returns why the user information or the path of a URI is not acceptable, as `reason` above; undefined if both are. */
export function findPathFault({ authority, path, url }: ReadUri): string | undefined {
  if (url.username !== '' || url.password !== '' || authority.includes('@')) return 'has a user name or password'
  return AMBIGUOUS_PATH.test(path) ? 'has a path that two servers could read differently' : undefined
}

/** Returns why the host or the port of a web address is not acceptable, as `reason` above; undefined if both are. */
export function findHostFault({ authority, url }: ReadUri): string | undefined {
  const written = withoutPort(authority)
  // The URL parser rewrites other spellings of a host (0x7f.1, 2130706433, upper case). Only the spelling that the parser does
  // not change is accepted. The parser does not remove a dot at the end, which could hide the server's own host name.
  if (authority === '' || written !== url.hostname || written.endsWith('.'))
    return 'has a host that is not in its canonical form'
  if (authority !== url.host && authority !== `${url.host}:80`) return 'has a port that is not in its canonical form'
  // The parser accepts `; , ' $` and similar characters in a host. They are delimiters of other grammars, such as the CSP header.
  if (!/^([a-z0-9._-]+|\[[0-9a-f:]+\])$/.test(url.hostname))
    return 'has a host with characters other than letters, digits, dots, hyphens and underscores'
  return isReservedAddress(url.hostname) ? 'has a reserved address as its host' : undefined
}

/**
 * The host of a URI as it is written, and with its port: `URL.hostname` and `URL.host` of an https URI in which `findHostFault` finds nothing, without
 * parsing it again.
 */
export function writtenHost(text: string): { readonly host: string; readonly hostname: string } {
  const host = PARTS.exec(text)?.[2] ?? ''
  return { host, hostname: withoutPort(host) }
}

function withoutPort(authority: string): string {
  return authority.replace(/:[0-9]{1,5}$/, '')
}

/**
 * RFC 1122 §3.2.1.3: 0.0.0.0/8 is not a valid destination, but systems connect it to the local computer. IPv6 addresses that
 * begin with zeros are reserved (RFC 4291 §2.4): the unspecified address, and IPv4 addresses in IPv6 notation. The exception
 * is the loopback address `[::1]`.
 */
function isReservedAddress(host: string): boolean {
  return /^0\.[0-9.]+$/.test(host) || (host.startsWith('[::') && !isLoopbackHost(host))
}

/** A percent-encoded delimiter or control character, a parameter, an empty first segment, or a dot segment (RFC 3986 §3.3, §5.2.4). */
const AMBIGUOUS_PATH = /%(?:2f|5c|2e|25|3b|00|0a|0d|09)|;|^\/\/|(?:^|\/)\.\.?(?:\/|$)/i

function refused(reason: string): UriReading {
  return { kind: 'refused', reason }
}

/** Characters of a refused URI that the log and an error page show. */
const DESCRIBED_CHARACTERS = 200

/**
 * What is hidden in a host or a path: credentials, which begin with a type prefix (secrets.ts) and a time-ordered id, JWTs, which begin
 * with `{"` in base64url, what is before an `@`, such as the user information of a URI in the path, an encoded query or fragment, and
 * parameters of a segment, such as `;jsessionid=`.
 */
const SECRETS = /g[a-z]{2}_[0-9a-f]{12}|eyJ|[^/]@|[?#;=]/i

/**
 * Returns what the log, an error page and an `error_description` show of a URI that a caller sent: its scheme, host, port and path, in
 * the characters of RFC 6749 §4.1.2.1. Never the user information, the query or the fragment, which may have secrets, nor a part of the
 * host or path that looks like a secret. Of a URI that is not hierarchical (`mailto:`, `blob:`) only the scheme, because the rest has no
 * parts. undefined: it is no absolute URI.
 */
export function describeUri(text: string): string | undefined {
  const url = URL.parse(text)
  if (url === null) return undefined
  const { protocol, host, pathname } = url
  const slashes = url.href.startsWith(`${protocol}//`) ? '//' : ''
  const isHierarchical = pathname === '' || pathname.startsWith('/')
  const parts = isHierarchical ? `${host}${pathname}`.split('/').map(hideSecret).join('/') : ''
  return `${protocol}${slashes}${parts}`
    .replaceAll(/[^\x21\x23-\x5b\x5d-\x7e]/gu, encodeURIComponent)
    .slice(0, DESCRIBED_CHARACTERS)
}

/** A part that was percent-encoded twice is hidden too, because decoding it once shows nothing. */
function hideSecret(part: string): string {
  const decoded = part.replaceAll(/%([0-7][0-9a-f])/gi, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  )
  return SECRETS.test(decoded) || /%[0-7][0-9a-f]/i.test(decoded) ? '***' : part
}

/** The same in a sentence, which says so where the URI was sent in another spelling: it would look like a registered or declared one. */
export function describeSentUri(text: string): string | undefined {
  const shown = describeUri(text)
  return shown === undefined || shown === text
    ? shown
    : `${shown} (written differently, or with parts that are not shown)`
}
