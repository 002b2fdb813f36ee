import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import type { Endpoint } from '../endpoints/endpoint.ts'
import type { Cookies, Request } from '../ports/message.ts'
import { parseAgent } from '../base/agent.ts'
import { invalidRequest, OAuthError, type RefusalOptions } from '../protocol/errors.ts'
import { isMediaType, NO_PARAMETERS, parseForm, type Parameters } from '../base/message.ts'
import { parsePreferences, shortenLocales } from '../base/preferences.ts'
import { problem, type Problem } from '../base/validation.ts'
import { decodeBody } from './body.ts'
import type { Answering } from './outcome-line.ts'
import { pageLanguage } from './page-language.ts'
import { isOtherSite, payingNetwork, UNREADABLE_NETWORK } from './network.ts'
import type { CookieJar } from './session.ts'
import { MAXIMA } from '../base/maxima.ts'

const HEADER_LIMIT = MAXIMA.headerFields.most
/** The values of `Sec-Fetch-Dest` of a frame. Fetch Metadata Request Headers §2.1: scripts cannot set the header. */
const FRAMES: ReadonlySet<string> = new Set(['iframe', 'frame'])
const NO_COOKIES: Cookies = { browser: [], session: [] }
/** The media ranges that a JSON answer satisfies. */
const JSON_RANGES: ReadonlySet<string> = new Set(['application/json', 'application/*', '*/*'])

/**
 * Checks the headers before the body is read: their number, at most one Host, Content-Type and Authorization (RFC 9112 §3.2),
 * the media type and the encoding of the body.
 *
 * @throws OAuthError invalid_request, invalid_client_metadata
 */
export function checkHeaders(message: IncomingMessage, endpoint: Pick<Endpoint, 'accepts' | 'isBodyOptional'>): void {
  const { rawHeaders, headers } = message
  if (rawHeaders.length > HEADER_LIMIT * 2) throw invalidRequest('headers_too_many', { status: 431 })
  if (countHeader(message, 'host') > 1) throw invalidRequest('parameter_malformed')
  if (countHeader(message, 'authorization') > 1) throw invalidRequest('two_client_authentications')
  const { accepts } = endpoint
  if (accepts === undefined) return
  if (headers['content-type'] === undefined && endpoint.isBodyOptional === true) return
  const wrong = findMediaTypeProblem(message, accepts)
  if (wrong !== undefined) throw shapeError(endpoint, 415, { problems: [wrong] })
  const encoding = findEncoding(headers)
  if (encoding !== undefined) throw shapeError(endpoint, 415, encoding)
}

/** Why the body has another type than it must; undefined if it has that type. A type that is sent twice is invalid (RFC 9110 §5.3). */
export function findMediaTypeProblem(
  message: Pick<IncomingMessage, 'rawHeaders' | 'headers'>,
  expected: string,
): Problem | undefined {
  const sent = message.headers['content-type']
  if (countHeader(message, 'content-type') === 1 && isMediaType(sent, expected)) return undefined
  return problem(['header', 'content-type'], 'media_type', `The content type must be ${expected}.`, sent, { expected })
}

/** How often a header was sent. `headers` has the first or the last of some. */
function countHeader({ rawHeaders }: Pick<IncomingMessage, 'rawHeaders'>, name: string): number {
  let count = 0
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const sent = rawHeaders[index]
    if (sent?.length === name.length && sent.toLowerCase() === name) count += 1
  }
  return count
}

/** The refusal of a compressed body, which names the accepted encoding (RFC 9110 §15.5.16); undefined for other bodies. */
export function findEncoding({ 'content-encoding': sent }: IncomingHttpHeaders): RefusalOptions | undefined {
  if (sent === undefined || sent.toLowerCase() === 'identity') return undefined
  const expected = ['identity']
  const msg = 'The body must not be compressed.'
  const problems = [problem(['header', 'content-encoding'], 'literal_error', msg, sent, { expected })]
  return { problems, headers: { 'Accept-Encoding': 'identity' } }
}

/** Returns a function that makes the endpoint's refusal of a body that is too large. */
export function tooLargeFor(endpoint: Endpoint): (problems: OAuthError['problems']) => OAuthError {
  return (problems) => shapeError(endpoint, 413, { problems })
}

/** The refusal of a malformed body, with the error code that the endpoint's RFC defines. */
function shapeError(endpoint: Pick<Endpoint, 'accepts'>, status: 413 | 415 | 422, options: RefusalOptions): OAuthError {
  const isRegistration = endpoint.accepts === 'application/json'
  if (status === 422) return new OAuthError('invalid_client_metadata', 'json_malformed', { ...options, status })
  if (isRegistration) {
    const reason = status === 415 ? 'metadata_media_type' : 'metadata_too_large'
    return new OAuthError('invalid_client_metadata', reason, { ...options, status })
  }
  return invalidRequest(status === 415 ? 'media_type_wrong' : 'body_too_large', { ...options, status })
}

/**
 * The request as the endpoint reads it. `body` is undefined for an endpoint that takes no body.
 *
 * @throws OAuthError invalid_request, invalid_client_metadata
 */
export function readRequest(
  { message, requestId, network }: Pick<Answering, 'message' | 'requestId' | 'network'>,
  body: Buffer | undefined,
  endpoint: Endpoint,
  { jar, issuer, isCallerKnown }: ReadingNeeds,
): Request {
  const { headers, url = '' } = message
  const isPage = endpoint.audience === 'page'
  const text = body === undefined ? '' : readText(body, headers, endpoint)
  const query = readQuery(url, endpoint)
  const params =
    endpoint.method === 'GET' ? query : endpoint.accepts === 'application/json' ? NO_PARAMETERS : readForm(text, 'body')
  const uiLocales = shortenLocales(query.get('ui_locales') ?? params.get('ui_locales'))
  const site = isPage ? siteOf(headers, issuer) : scriptSiteOf(headers)
  return {
    id: requestId,
    method: message.method === 'HEAD' ? 'HEAD' : endpoint.method,
    params,
    query,
    body: text,
    name: endpoint.path.endsWith('}') ? lastSegment(url) : undefined,
    authorization: headers.authorization,
    dpop: isPage ? undefined : headers['dpop']?.toString(),
    cookies: isPage ? jar.read(message) : NO_COOKIES,
    network: isPage && headers['sec-fetch-dest'] === 'document' ? network : payingNetwork(network, site),
    callerNetwork: isCallerKnown && network !== UNREADABLE_NETWORK ? network : undefined,
    origin: headers.origin,
    agent: isPage ? parseAgent(headers['user-agent']) : undefined,
    fetchSite: isPage || endpoint.cors !== true ? site : undefined,
    isInFrame: isPage && FRAMES.has(headers['sec-fetch-dest'] ?? ''),
    uiLocales,
    language: isPage ? pageLanguage(message, jar, uiLocales) : 'en',
  }
}

interface ReadingNeeds {
  readonly jar: CookieJar
  readonly issuer: string
  /** As `knowsCaller` of the connections returns it. */
  readonly isCallerKnown: boolean
}

/**
 * Which site's page sent the request: `Sec-Fetch-Site`, or what the `Origin` of a browser without it shows. The pages of this server send
 * the origin `null`, because they have `Referrer-Policy: no-referrer` (decision 0022).
 */
export function siteOf({ origin, 'sec-fetch-site': site }: IncomingHttpHeaders, issuer: string): string | undefined {
  const isOther = origin !== undefined && origin !== 'null' && origin !== new URL(issuer).origin
  return isOther ? 'cross-site' : site
}

/** The same for an endpoint that no page calls, of this server or another: each `Origin` is a browser's. */
export function scriptSiteOf({ origin, 'sec-fetch-site': site }: IncomingHttpHeaders): string | undefined {
  return origin === undefined ? site : 'cross-site'
}

/** Whether a page has no opener (`opener` of the endpoint). It must not depend on who is signed in, so only the address says it. */
export function cutsOpener({ opener }: Endpoint, { url = '' }: IncomingMessage): boolean {
  return opener === 'cut' || (opener === 'cut-for-account' && new URLSearchParams(url.split('?')[1]).has('page'))
}

/** What loads a page: a window, or a frame, such as a hidden one for `prompt=none`. Fetch Metadata §2.1. */
const LOADS_PAGES: ReadonlySet<string | undefined> = new Set([undefined, 'document', ...FRAMES])

/**
 * Refuses a request that a page of another site makes a browser send without opening the address: for an image, by a script, or in advance
 * (threats.md BND-07). Browsers without Sec-Fetch-Dest, and programs, are not refused.
 *
 * @throws OAuthError invalid_request
 */
export function requireNavigation({ headers }: Pick<IncomingMessage, 'headers'>, issuer: string): void {
  const isInAdvance = headers['sec-purpose']?.toString().startsWith('prefetch') === true
  const isLoaded = LOADS_PAGES.has(headers['sec-fetch-dest']?.toString()) && !isInAdvance
  if (isOtherSite(siteOf(headers, issuer)) && !isLoaded) throw invalidRequest('not_a_navigation')
}

function lastSegment(url: string): string {
  const path = url.split(/[?#]/, 1)[0] ?? ''
  return path.slice(path.lastIndexOf('/') + 1)
}

function readText(body: Buffer, headers: IncomingHttpHeaders, endpoint: Endpoint): string {
  const text = decodeBody(body, headers)
  if (text !== undefined) return text
  if (endpoint.accepts !== 'application/json') throw malformedForm('body')
  throw shapeError(endpoint, 422, { problems: [problem(['body'], 'json_invalid', 'The body is not UTF-8.', null, {})] })
}

/** Published documents and registrations take no query parameters, so a malformed query is ignored there (MET-07). */
function readQuery(url: string, { audience, accepts, query }: Endpoint): Parameters {
  const mark = url.indexOf('?')
  const isIgnored = audience === 'json' && accepts !== 'application/x-www-form-urlencoded' && query !== true
  return mark === -1 || isIgnored ? NO_PARAMETERS : readForm(url.slice(mark + 1), 'query')
}

/**
 * Whether the caller wants a page. Browsers that navigate rank HTML above every range that includes JSON (RFC 9110 §12.5.1).
 * Scripts in browsers, and all clients, accept JSON or anything, or send no Accept header.
 */
export function prefersPage({ method, headers: { accept } }: Pick<IncomingMessage, 'method' | 'headers'>): boolean {
  if (accept === undefined || (method !== 'GET' && method !== 'HEAD')) return false
  return parsePreferences(accept).find((range) => range === 'text/html' || JSON_RANGES.has(range)) === 'text/html'
}

function readForm(text: string, part: 'body' | 'query'): Parameters {
  const form = parseForm(text)
  if (form === undefined) throw malformedForm(part)
  return form
}

function malformedForm(part: 'body' | 'query'): OAuthError {
  const msg = 'This is not application/x-www-form-urlencoded.'
  return invalidRequest('form_malformed', { problems: [problem([part], 'form_invalid', msg, null, {})] })
}
