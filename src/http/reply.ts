import type { ServerResponse } from 'node:http'
import type { CookieChanges, Reply } from '../ports/message.ts'
import type { Language } from '../base/language.ts'
import type { ErrorPage, ErrorProblem, Page } from '../ports/pages/pages.ts'
import { StoreUnavailable } from '../ports/store.ts'
import { OAuthError, unavailable } from '../protocol/errors.ts'
import type { LanguageLinks } from '../web/layout.ts'
import type { Renderer } from '../web/render.ts'
import { encodingOf, PreparedResponse } from './prepared-response.ts'
import type { CookieJar } from './session.ts'

/** The response to write, and the id of the request, which the response repeats. */
export interface Target {
  readonly response: ServerResponse
  readonly requestId: string
  /** No page of another site keeps the window in which it opened this page (`opener` of an endpoint). */
  readonly isOpenerCut: boolean
  /** What links to the same page in other languages need. undefined: the answer is to a POST, or to an address that opens no page again. */
  readonly links: LanguageLinks | undefined
}

/** Writes answers and refusals as HTTP responses. `cors`: whether scripts of any origin may read them. */
export interface Replies {
  readonly send: (target: Target, answer: Reply, language: Language, cors: boolean) => void
  readonly sendPreflight: (target: Target, allow: string) => undefined
  readonly sendError: (target: Target, error: OAuthError, cors: boolean) => void
  readonly sendErrorPage: (target: Target, error: OAuthError, language: Language) => void
}

export const REQUEST_ID_HEADER = 'X-Request-Id'

/** real-clients.md: browser-based clients call some endpoints from any origin, without credentials. */
const ANY_ORIGIN = { 'Access-Control-Allow-Origin': '*' } as const
const CORS_HEADERS = {
  ...ANY_ORIGIN,
  'Access-Control-Expose-Headers': `Retry-After, WWW-Authenticate, RateLimit, RateLimit-Policy, DPoP-Nonce, ${REQUEST_ID_HEADER}`,
} as const
const PREFLIGHT_HEADERS = {
  ...CORS_HEADERS,
  'Access-Control-Allow-Headers': 'Authorization, Content-Type, DPoP, MCP-Protocol-Version, traceparent, tracestate',
  'Access-Control-Max-Age': '86400',
}
/** RFC 6749 §5.1. */
const NO_STORE = { 'Cache-Control': 'no-store', Pragma: 'no-cache' } as const
/** Fetch §3.7: pages of other hosts of the same site, whose requests have the cookies, cannot load the page as a resource. */
const SAME_ORIGIN = { 'Cross-Origin-Resource-Policy': 'same-origin' } as const
const STORE_RETRY_SECONDS = 1

export function openReplies(renderer: Renderer, jar: CookieJar, issuer: string): Replies {
  const common = {
    'X-Content-Type-Options': 'nosniff',
    ...(issuer.startsWith('https:') ? { 'Strict-Transport-Security': 'max-age=31536000' } : {}),
  }
  const plainHeaders = flatten({ ...common, 'Content-Type': 'application/json' })
  const jsonHeaders = [plainHeaders, [...plainHeaders, ...flatten(CORS_HEADERS)]] as const
  const secretHeaders = [
    prepare([...jsonHeaders[0], ...flatten(NO_STORE)]),
    prepare([...jsonHeaders[1], ...flatten(NO_STORE)]),
  ] as const
  /** For requests without Origin, which no script of another origin sends. These answers are not cached, so no script receives one later. */
  const plainSecretHeaders = prepare([...plainHeaders, ...flatten(ANY_ORIGIN), ...flatten(NO_STORE)])
  const emptyHeaders = [{}, CORS_HEADERS].map((more) => flatten({ ...common, ...more, ...NO_STORE }))
  const redirectHeaders = flatten({ ...common, ...NO_STORE, 'Referrer-Policy': 'no-referrer' })
  const pageHeaders = [
    ...redirectHeaders,
    ...flatten({ 'Content-Type': 'text/html; charset=utf-8', 'X-Frame-Options': 'DENY', ...SAME_ORIGIN }),
  ]

  const pictureHeaders = flatten({
    ...common,
    ...SAME_ORIGIN,
    'Content-Security-Policy': "default-src 'none'; style-src 'unsafe-inline'; sandbox",
  })

  function sendPage(
    target: Target,
    answer: Extract<Reply, { kind: 'page' }>,
    language: Language,
    more: readonly string[],
  ): void {
    const { status, page, formTarget, retryAfterSeconds, cookies } = answer
    const { requestId, links } = target
    const policy = contentSecurityPolicy(renderer, page, formTarget)
    write(target, status, renderer.render(page, language, requestId, links), pageHeaders, [
      'Content-Security-Policy',
      policy,
      ...openerPolicy(target),
      ...more,
      ...retryAfter(retryAfterSeconds),
      ...cookieHeaders(withChoice(target, language, cookies)),
    ])
  }

  /** A picture is a document of its own in a browser that opens its address: no script of an SVG runs, and it loads nothing (threats.md UI-18). */
  function sendPicture(target: Target, name: string | undefined): void {
    const { mediaType, body } = renderer.picture
    target.response.writeHead(200, [
      ...pictureHeaders,
      'Content-Type',
      mediaType,
      'Cache-Control',
      name === renderer.pictureName ? 'public, max-age=31536000, immutable' : 'public, max-age=3600',
      REQUEST_ID_HEADER,
      target.requestId,
      'Content-Length',
      String(body.length),
    ])
    target.response.end(body)
  }

  function cookieHeaders(changes: CookieChanges | undefined): readonly string[] {
    return changes === undefined ? [] : jar.write(changes).flatMap((value) => ['Set-Cookie', value])
  }

  return {
    send(target, answer, language, cors) {
      switch (answer.kind) {
        case 'json': {
          const { maxAgeSeconds, status, body } = answer
          if (maxAgeSeconds === undefined) {
            const isPlain = cors && target.response.req.headers.origin === undefined
            const headers = isPlain ? plainSecretHeaders : secretHeaders[cors ? 1 : 0]
            return writeJson(target, status, body, headers, [])
          }
          return write(target, status, publicText(body), jsonHeaders[Number(cors)], [
            'Cache-Control',
            `public, max-age=${maxAgeSeconds}`,
          ])
        }
        case 'download':
          return write(target, 200, JSON.stringify(answer.body, undefined, 2), secretHeaders[0].list, [
            'Content-Disposition',
            `attachment; filename="${answer.filename}"`,
            ...flatten(SAME_ORIGIN),
          ])
        case 'empty':
          return writeEmpty(target, answer.status, emptyHeaders[Number(cors)])
        case 'redirect':
          return write(target, 303, '', redirectHeaders, [
            'Location',
            answer.location,
            ...openerPolicy(target),
            ...cookieHeaders(withChoice(target, language, answer.cookies)),
          ])
        case 'page':
          return sendPage(target, answer, language, [])
        case 'picture':
          return sendPicture(target, answer.name)
      }
    },
    sendPreflight(target, allow) {
      const headers = { ...PREFLIGHT_HEADERS, 'Access-Control-Allow-Methods': allow, Allow: allow }
      return writeEmpty(target, 204, flatten(headers))
    },
    sendError(target, error, cors) {
      const { retryAfterSeconds, status, headers } = error
      const more = [...flatten(headers), ...retryAfter(retryAfterSeconds)]
      writeJson(target, status, errorBody(error), secretHeaders[cors ? 1 : 0], more)
    },
    sendErrorPage(target, error, language) {
      const { status, headers, retryAfterSeconds } = error
      const page = pageOf(error)
      const retry = retryAfterSeconds === undefined ? {} : { retryAfterSeconds }
      sendPage(target, { kind: 'page', status, page, ...retry }, language, flatten(headers))
    },
  }
}

/** The cookies of an answer, with the language if the reader chose it by the link that the answer is to. */
function withChoice(
  { links }: Target,
  language: Language,
  cookies: CookieChanges | undefined,
): CookieChanges | undefined {
  return links?.isChosen === true ? { ...cookies, language } : cookies
}

/** A cacheable document is the same object for many requests, so its text is made once. */
function publicText(body: object): string {
  const text = publicTexts.get(body) ?? JSON.stringify(body)
  publicTexts.set(body, text)
  return text
}

const publicTexts = new WeakMap<object, string>()

function writeEmpty(
  { response, requestId }: Target,
  status: number,
  headers: readonly string[] | undefined,
): undefined {
  response.writeHead(status, [...(headers ?? []), REQUEST_ID_HEADER, requestId]).end()
}

function writeJson(
  target: Target,
  status: number,
  body: object,
  { list, lines }: PreparedHeaders,
  more: readonly string[],
): void {
  const { response, requestId } = target
  const text = JSON.stringify(body)
  if (more.length === 0 && response instanceof PreparedResponse) {
    if (response.sendPrepared(status, `${lines}${REQUEST_ID_HEADER}: ${requestId}\r\n`, text)) return
  }
  write(target, status, text, list, more)
}

function write(
  { response, requestId }: Target,
  status: number,
  text: string,
  headers: readonly string[] | undefined,
  more: readonly string[],
): void {
  const length = Buffer.byteLength(text)
  response.writeHead(status, [
    ...(headers ?? []),
    ...more,
    REQUEST_ID_HEADER,
    requestId,
    'Content-Length',
    String(length),
  ])
  response.end(text, encodingOf(text, length))
}

function retryAfter(seconds: number | undefined): readonly string[] {
  return seconds === undefined ? [] : ['Retry-After', String(seconds)]
}

/** Headers of many answers: as a list, and as the lines of a response. */
interface PreparedHeaders {
  readonly list: readonly string[]
  readonly lines: string
}

function prepare(list: readonly string[]): PreparedHeaders {
  return { list, lines: list.map((text, index) => `${text}${index % 2 === 0 ? ': ' : '\r\n'}`).join('') }
}

/** Name, value, name, value …: the form that Node.js writes without converting it. */
function flatten(headers: Readonly<Record<string, string>>): readonly string[] {
  return Object.entries(headers).flat()
}

/** The body of every refusal (decision 0005). */
export function errorBody({ code, description, problems }: OAuthError): object {
  return { error: code, error_description: description, ...(problems.length === 0 ? {} : { detail: problems }) }
}

/** Milliseconds since a time on the clock of `performance`, to a hundredth. */
export function elapsedMs(startedAt: number): number {
  return Math.round((performance.now() - startedAt) * 100) / 100
}

/** The error that the caller gets. An unexpected error becomes server_error, which does not name its cause. */
export function toOAuthError(cause: unknown): OAuthError {
  if (cause instanceof OAuthError) return cause
  if (cause instanceof StoreUnavailable) return unavailable('store_unavailable', STORE_RETRY_SECONDS)
  return new OAuthError('server_error', 'bug')
}

/** Pages of refusals with the texts of the table, each one object, so that the web layer renders it once. */
const refusalPages = new Map<string, ErrorPage>()

function pageOf(error: OAuthError): ErrorPage {
  const { code, reason, status, description, explanation } = error
  const problem = pageProblem(error)
  const key = `${problem} ${status} ${code} ${reason}`
  const page = refusalPages.get(key) ?? {
    kind: 'error',
    problem,
    notes: { error: code, reason, explanation: description },
  }
  if (explanation === undefined) refusalPages.set(key, page)
  return page
}

function pageProblem({ code, status }: OAuthError): ErrorProblem {
  // A person opened the address of an endpoint without pages.
  if (status === 404 || status === 405) return 'not-found'
  if (status === 429) return 'too-many-requests'
  if (code === 'temporarily_unavailable') return 'unavailable'
  return code === 'server_error' ? 'server-error' : 'request-malformed'
}

/** Also of a redirect: where it leads may have no policy. */
function openerPolicy({ isOpenerCut }: Target): readonly string[] {
  return isOpenerCut ? ['Cross-Origin-Opener-Policy', 'same-origin'] : []
}

/** threats.md AUTH-18, UI-17. Browsers also check the redirect after a form, so it must be allowed (decision 0022). */
function contentSecurityPolicy(renderer: Renderer, page: Page, formTarget: string | undefined): string {
  const target = formTarget === undefined ? '' : ` ${formTarget}`
  const scriptSource = renderer.scriptSource(page)
  const script = scriptSource === undefined ? '' : ` script-src ${scriptSource};`
  return `default-src 'none'; style-src ${renderer.styleSource}; img-src 'self';${script} form-action 'self'${target}; base-uri 'none'; frame-ancestors 'none'`
}
