import type { FastifyReply } from 'fastify'
import type { Reply } from '../ports/message.ts'
import type { ErrorProblem, Language } from '../ports/pages.ts'
import { StoreUnavailable } from '../ports/store.ts'
import { OAuthError, unavailable } from '../protocol/errors.ts'
import type { Renderer } from '../web/render.ts'
import type { CookieJar } from './session.ts'

/** Turns answers and refusals into bytes. `cors`: whether scripts of any origin may read them. */
export interface Replies {
  readonly send: (reply: FastifyReply, answer: Reply, language: Language, cors: boolean) => FastifyReply
  readonly sendError: (reply: FastifyReply, error: OAuthError, cors: boolean) => FastifyReply
  readonly sendErrorPage: (reply: FastifyReply, error: OAuthError, language: Language) => FastifyReply
}

/** clients.md: browser-based clients call these from any origin, without credentials. */
export const CORS_HEADERS = {
  'Access-Control-Allow-Origin': '*',
  'Access-Control-Expose-Headers': 'Retry-After, WWW-Authenticate, RateLimit, RateLimit-Policy',
} as const
/** RFC 6749 §5.1. */
const NO_STORE = { 'Cache-Control': 'no-store', Pragma: 'no-cache' } as const
const STORE_RETRY_SECONDS = 1

export function openReplies(renderer: Renderer, jar: CookieJar, issuer: string): Replies {
  const common = {
    'X-Content-Type-Options': 'nosniff',
    ...(issuer.startsWith('https:') ? { 'Strict-Transport-Security': 'max-age=31536000' } : {}),
  }
  const plainHeaders = flatten({ ...common, 'Content-Type': 'application/json' })
  const jsonHeaders = [plainHeaders, [...plainHeaders, ...flatten(CORS_HEADERS)]] as const
  const secretHeaders = jsonHeaders.map((headers) => [...headers, ...flatten(NO_STORE)])
  const redirectHeaders = { ...common, ...NO_STORE, 'Referrer-Policy': 'no-referrer' }
  const pageHeaders = { ...redirectHeaders, 'Content-Type': 'text/html; charset=utf-8', 'X-Frame-Options': 'DENY' }

  function sendPage(reply: FastifyReply, answer: Extract<Reply, { kind: 'page' }>, language: Language): FastifyReply {
    const { status, page, formTarget, retryAfterSeconds, cookies } = answer
    if (cookies !== undefined) jar.write(reply, cookies)
    if (retryAfterSeconds !== undefined) reply.header('Retry-After', String(retryAfterSeconds))
    const policy = contentSecurityPolicy(renderer.styleSource, formTarget)
    return reply
      .code(status)
      .headers({ ...pageHeaders, 'Content-Security-Policy': policy })
      .send(renderer.render(page, language))
  }

  return {
    send(reply, answer, language, cors) {
      switch (answer.kind) {
        case 'json': {
          const { maxAgeSeconds, status, body } = answer
          if (maxAgeSeconds === undefined) return sendJson(reply, status, body, secretHeaders[Number(cors)], [])
          const caching = ['Cache-Control', `public, max-age=${maxAgeSeconds}`]
          return sendJson(reply, status, body, jsonHeaders[Number(cors)], caching)
        }
        case 'redirect':
          if (answer.cookies !== undefined) jar.write(reply, answer.cookies)
          return reply
            .code(303)
            .headers({ ...redirectHeaders, Location: answer.location })
            .send()
        case 'page':
          return sendPage(reply, answer, language)
      }
    },
    sendError(reply, error, cors) {
      const { code, description, problems, retryAfterSeconds } = error
      const body = {
        error: code,
        error_description: description,
        ...(problems.length === 0 ? {} : { detail: problems }),
      }
      const retry = retryAfterSeconds === undefined ? [] : ['Retry-After', String(retryAfterSeconds)]
      return sendJson(reply, error.status, body, secretHeaders[Number(cors)], [...flatten(error.headers), ...retry])
    },
    sendErrorPage(reply, error, language) {
      const { status, retryAfterSeconds } = error
      const page = { kind: 'error', problem: pageProblem(error) } as const
      const retry = retryAfterSeconds === undefined ? {} : { retryAfterSeconds }
      return sendPage(reply, { kind: 'page', status, page, ...retry }, language)
    },
  }
}

/** Past Fastify's serializers and hooks, which have nothing to do here: the headers are the same for every answer. */
function sendJson(
  reply: FastifyReply,
  status: number,
  body: object,
  headers: readonly string[] | undefined,
  more: readonly string[],
): FastifyReply {
  const text = JSON.stringify(body)
  reply.hijack()
  reply.raw.writeHead(status, [...(headers ?? []), ...more, 'Content-Length', String(Buffer.byteLength(text))])
  reply.raw.end(text)
  return reply
}

/** Name, value, name, value …: the form that Node writes without looking at it again. */
function flatten(headers: Readonly<Record<string, string>>): readonly string[] {
  return Object.entries(headers).flat()
}

/** What a thrown thing means to the caller. Anything unforeseen is a server_error and says nothing of its cause. */
export function toOAuthError(cause: unknown): OAuthError {
  if (cause instanceof OAuthError) return cause
  if (cause instanceof StoreUnavailable) return unavailable('store_unavailable', STORE_RETRY_SECONDS)
  return new OAuthError('server_error', 'bug')
}

function pageProblem({ code, status }: OAuthError): ErrorProblem {
  if (status === 404) return 'not-found'
  if (status === 429) return 'too-many-requests'
  if (code === 'temporarily_unavailable') return 'unavailable'
  return code === 'server_error' ? 'server-error' : 'request-malformed'
}

/** threats.md AUTH-18, UI-17. The form's last redirect is checked too, so it must be allowed (decisions.md D8). */
function contentSecurityPolicy(styleSource: string, formTarget: string | undefined): string {
  const target = formTarget === undefined ? '' : ` ${formTarget}`
  return `default-src 'none'; style-src ${styleSource}; form-action 'self'${target}; base-uri 'none'; frame-ancestors 'none'`
}
