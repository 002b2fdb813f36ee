import assert from 'node:assert/strict'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { ENDPOINTS, type Endpoint } from '../endpoints/index.ts'
import { PATHS } from '../endpoints/paths.ts'
import type { Context, OutcomeEvent } from '../ports/context.ts'
import type { Reply } from '../ports/message.ts'
import { invalidRequest, OAuthError, unavailable } from '../protocol/errors.ts'
import { problem } from '../protocol/validation.ts'
import { chooseLanguage } from '../web/language.ts'
import { checkHeaders, readRequest, shapeError } from './request.ts'
import { CORS_HEADERS, toOAuthError, type Replies } from './reply.ts'
import type { CookieJar } from './session.ts'
import type { Gate } from './gate.ts'

/** One line of the log per answered request. */
export type LogOutcome = (
  line: OutcomeEvent & { endpoint: string; status: number; ms: number },
  cause?: unknown,
) => void

export interface Serving {
  readonly context: Context
  readonly replies: Replies
  readonly jar: CookieJar
  readonly gate: Gate
  readonly log: LogOutcome
}

const PATH_PROBLEM = problem(
  ['path'],
  'value_error',
  `There is nothing at this path. See ${PATHS.oauthMetadata}.`,
  null,
  {},
)
const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE'] as const
const PREFLIGHT_HEADERS = {
  ...CORS_HEADERS,
  'Access-Control-Allow-Headers': 'Authorization, Content-Type, MCP-Protocol-Version',
  'Access-Control-Max-Age': '86400',
}

/** Mounts every row for that audience below the issuer's path, and 405 for the methods it does not have. */
export function mountEndpoints(app: FastifyInstance, serving: Serving, audience: Endpoint['audience']): void {
  const base = basePath(serving.context.issuer)
  const byPath = Map.groupBy(
    ENDPOINTS.filter((row) => row.audience === audience),
    ({ path }) => path,
  )
  for (const [path, rows] of byPath) {
    for (const url of urlsOf(path, base)) {
      for (const endpoint of rows) mount(app, serving, endpoint, url)
      mountRefusal(app, rows, url)
    }
  }
}

/** The path of the issuer, without a slash at its end. */
function basePath(issuer: string): string {
  return new URL(issuer).pathname.replace(/\/$/, '')
}

/** RFC 8414 §3.1: the well-known part stands before the issuer's path; many clients append it instead. */
function urlsOf(path: string, base: string): readonly string[] {
  if (base === '') return [path]
  const isMetadata = path === PATHS.oauthMetadata || path === PATHS.openidMetadata
  const isHealth = path === PATHS.alive || path === PATHS.ready
  return [base + path, ...(isMetadata ? [path + base] : []), ...(isHealth ? [path] : [])]
}

function mount(app: FastifyInstance, serving: Serving, endpoint: Endpoint, url: string): void {
  app.route({
    method: endpoint.method,
    url,
    config: { endpoint, cors: endpoint.cors === true },
    onRequest(request, _reply, done) {
      request.startedAt = performance.now()
      serving.gate.check(request, endpoint)
      checkHeaders(request, endpoint)
      done()
    },
    handler: (request, reply) => answer(serving, endpoint, request, reply),
  })
}

/** RFC 9110 §15.5.6, and the answer to a preflight where scripts may call. */
function mountRefusal(app: FastifyInstance, rows: readonly Endpoint[], url: string): void {
  const allowed = rows.flatMap(({ method }) => (method === 'GET' ? ['GET', 'HEAD'] : [method]))
  const cors = rows.some((row) => row.cors === true)
  const others = METHODS.filter((method) => !allowed.includes(method))
  const allow = [...allowed, ...(cors ? ['OPTIONS'] : [])].join(', ')
  app.route({
    method: others,
    url,
    config: { cors },
    // Before a body is read: whatever it is, the method is wrong.
    async onRequest(request, reply) {
      request.startedAt = performance.now()
      if (!cors || request.method !== 'OPTIONS') {
        const problems = [
          problem(['method'], 'literal_error', 'This path has other methods.', request.method, { expected: allowed }),
        ]
        throw invalidRequest('method_wrong', { status: 405, headers: { Allow: allow }, problems })
      }
      const headers = { ...PREFLIGHT_HEADERS, 'Access-Control-Allow-Methods': allow, Allow: allow }
      return reply.code(204).headers(headers).send()
    },
    handler: () => assert.fail('The hook answers every request.'),
  })
}

async function answer(
  serving: Serving,
  endpoint: Endpoint,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { context, replies, jar, log } = serving
  const home = homeAddress(context, endpoint, request)
  if (home !== undefined) return replies.send(reply, { kind: 'redirect', location: home }, 'en', false)
  const wanted = readRequest(request, endpoint, jar.read)
  const result = await endpoint.run(context, wanted)
  replies.send(reply, result, wanted.language, endpoint.cors === true)
  const event = result.event?.event ?? `${endpoint.name}.answered`
  log({ ...result.event, event, endpoint: endpoint.name, status: statusOf(result), ms: elapsed(request) })
  return reply
}

function statusOf(result: Reply): number {
  return result.kind === 'redirect' ? 303 : result.status
}

/** decisions.md D9: a page on this computer under another of its names would lose its cookies on the way. */
function homeAddress({ issuer, settings }: Context, endpoint: Endpoint, request: FastifyRequest): string | undefined {
  if (!settings.isLoopbackIssuer || endpoint.audience !== 'page' || endpoint.method !== 'GET') return undefined
  const { host, origin } = new URL(issuer)
  if (request.host === host) return undefined
  // RFC 9112 §3.2.2: a request for a proxy names a host too; only its path is ours to repeat.
  return origin + request.url.replace(/^https?:\/\/[^/]*/i, '')
}

/** THE ONLY CATCH: whatever is thrown anywhere becomes an answer here, in the form that the endpoint's callers read. */
export function refuse(serving: Serving, request: FastifyRequest, reply: FastifyReply, cause: unknown): FastifyReply {
  const { endpoint, cors } = request.routeOptions.config
  const error = fromFramework(cause, endpoint) ?? toOAuthError(cause)
  const { client, slug: reason, status } = error
  const line = { event: 'request.refused', endpoint: endpoint?.name ?? 'none', reason, status, ms: elapsed(request) }
  serving.log({ ...line, client }, status >= 500 ? cause : undefined)
  if (endpoint?.audience !== 'page') return serving.replies.sendError(reply, error, cors === true)
  const language = chooseLanguage(undefined, request.headers['accept-language'])
  return serving.replies.sendErrorPage(reply, error, language)
}

/**
 * RFC 9110 §15.5.5, as JSON for everybody: nobody is led to an unknown path by us. Scripts may read it, because clients in
 * browsers try several addresses of metadata and must see that one is not there.
 */
export function refuseUnknownPath({ replies }: Serving, reply: FastifyReply): FastifyReply {
  return replies.sendError(reply, invalidRequest('path_unknown', { status: 404, problems: [PATH_PROBLEM] }), true)
}

/** What Fastify refuses by itself, in our words. */
function fromFramework(cause: unknown, endpoint: Endpoint | undefined): OAuthError | undefined {
  if (cause instanceof OAuthError || !(cause instanceof Error) || !('code' in cause)) return undefined
  switch (cause.code) {
    case 'FST_ERR_CTP_BODY_TOO_LARGE': {
      const ctx = { max_bytes: BODY_LIMIT }
      return shapeError(endpoint, 413, [problem(['body'], 'too_large', 'The body is too large.', null, ctx)])
    }
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
      return invalidRequest('media_type_wrong', { status: 415 })
    // The caller hung up in the middle of the body.
    case 'ECONNRESET':
    case 'FST_ERR_CTP_INVALID_CONTENT_LENGTH':
    case 'FST_ERR_BAD_URL':
      return invalidRequest('parameter_malformed')
    case 'FST_ERR_HANDLER_TIMEOUT':
      return unavailable('store_unavailable', 1)
    default:
      return undefined
  }
}

/** Bytes. The largest registration that any known client sends is a tenth of it. */
export const BODY_LIMIT = 16 * 1024

/** Milliseconds, to a hundredth. */
function elapsed({ startedAt }: FastifyRequest): number {
  return startedAt === 0 ? 0 : Math.round((performance.now() - startedAt) * 100) / 100
}

declare module 'fastify' {
  interface FastifyRequest {
    /** On the clock of `performance`; 0 for requests that matched no endpoint. */
    startedAt: number
  }
  interface FastifyContextConfig {
    readonly endpoint?: Endpoint
    /** Whether scripts of any origin may read the answers, refusals included. */
    readonly cors?: boolean
  }
}
