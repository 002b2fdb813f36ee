import type { IncomingMessage, ServerResponse } from 'node:http'
import { errorPage, homePage } from '../endpoints/error-page.ts'
import type { Endpoint } from '../endpoints/endpoint.ts'
import { PATHS } from '../endpoints/paths.ts'
import type { Context } from '../ports/context.ts'
import type { Reply, Request } from '../ports/message.ts'
import type { Page } from '../ports/pages/pages.ts'
import { invalidRequest, type OAuthError } from '../protocol/errors.ts'
import { problem } from '../base/validation.ts'
import type { Language } from '../base/language.ts'
import { discardBody, readBody } from './body.ts'
import type { Connections } from './connections.ts'
import type { Gate } from './gate.ts'
import type { Proxies } from './proxies.ts'
import { logReply, observe, type Answering, type Reporting } from './outcome-line.ts'
import { languageLinks, pageLanguage, sentParameters } from './page-language.ts'
import { toOAuthError, type Replies, type Target } from './reply.ts'
import {
  checkHeaders,
  cutsOpener,
  prefersPage,
  readRequest,
  requireNavigation,
  siteOf,
  tooLargeFor,
} from './request.ts'
import { homeAddress, isHome, wrongMethod, type Route } from './routes.ts'
import type { CookieJar } from './session.ts'
import type { Scheduler } from './scheduler.ts'

export interface Serving extends Reporting {
  readonly context: Context
  readonly findRoute: (target: string) => Route | undefined
  readonly replies: Replies
  readonly jar: CookieJar
  readonly gate: Gate
  readonly proxies: Proxies
  readonly connections: Connections
  readonly scheduler: Scheduler
  readonly nextRequestId: () => string
}

/** A request that is being processed. Its route and endpoint are set as soon as they are found. */
interface Exchange extends Target, Answering {
  route: Route | undefined
  endpoint: Endpoint | undefined
  isOpenerCut: boolean
  links: Target['links']
}

const PATH_PROBLEM = problem(
  ['path'],
  'value_error',
  `There is nothing at this path. See ${PATHS.oauthMetadata}.`,
  null,
  {},
)

/** Serves one request. This is the public listener's only `catch`: every error that is thrown becomes an answer here. */
export async function serve(serving: Serving, message: IncomingMessage, response: ServerResponse): Promise<void> {
  const { connections, gate, scheduler } = serving
  if (connections.isHungUp(message)) return
  const network = connections.networkOf(message)
  const startedAt = performance.now()
  const requestId = serving.nextRequestId()
  const exchange: Exchange = {
    message,
    response,
    requestId,
    network,
    startedAt,
    route: undefined,
    endpoint: undefined,
    isOpenerCut: false,
    links: undefined,
  }
  closeIfStopping(serving, response)
  connections.beginRequest(response)
  try {
    const admitted = admit(serving, exchange)
    if (typeof admitted === 'function') {
      discardBody(message)
      await scheduler.endOfTurn(network)
      return connections.isHungUp(message) ? undefined : admitted()
    }
    let body: Buffer | undefined
    if (admitted.accepts === undefined) discardBody(message)
    else {
      gate.beginBody(network)
      try {
        body = await readBody(message, tooLargeFor(admitted))
      } finally {
        gate.endBody(network)
      }
    }
    await run(serving, exchange, admitted, body)
  } catch (cause) {
    discardBody(message)
    // A refusal waits for its network's share of a turn, so that a flood of refusals does not delay other networks.
    await scheduler.endOfTurn(network)
    refuse(serving, exchange, cause)
  } finally {
    connections.endRequest(response)
  }
}

/** Runs the endpoint. The request counts as in progress only now, with its body, so slow callers do not use up the limit. */
async function run(serving: Serving, exchange: Exchange, endpoint: Endpoint, body: Buffer | undefined): Promise<void> {
  const { connections, context, gate, jar, replies, scheduler } = serving
  const { message, network, response } = exchange
  gate.enter(network, endpoint)
  try {
    // The requests of a batch take each step together, so that all use the code and data in the processor's caches.
    await (endpoint.priority === 'high' ? scheduler.endOfTurn(network) : scheduler.batch(network))
    if (connections.isHungUp(message)) return
    if (endpoint.audience === 'page' && 'budgets' in endpoint) requireNavigation(message, context.issuer)
    const { issuer } = context
    const request = readRequest(exchange, body, endpoint, {
      jar,
      issuer,
      isCallerKnown: connections.knowsCaller(message),
    })
    const work = (): Promise<Reply> => endpoint.run(context, request)
    const reply = await (endpoint.audience === 'page'
      ? context.inRequest(exchange.requestId, () => context.inTime(work))
      : context.inTime(work))
    closeIfStopping(serving, response)
    exchange.links = linksOf(serving, exchange, endpoint, reply)
    replies.send(exchange, reply, languageOf(serving, reply, request, message), endpoint.cors === true)
    logReply(serving, exchange, endpoint, reply)
  } finally {
    gate.leave(network)
  }
}

/**
 * Pages with which a request ends: their address does not show them again, or it is of a refusal, of which a page repeats nothing unless the
 * endpoint says what (`reopenedWith`).
 */
const ENDS: ReadonlySet<Page['kind']> = new Set(['error', 'return', 'form-post', 'leave'])

function linksOf(
  { context }: Serving,
  { message }: Exchange,
  { reopenedBy }: Endpoint,
  reply: Reply,
): Exchange['links'] {
  const site = siteOf(message.headers, context.issuer)
  if (reply.kind === 'page' && reply.reopenedWith !== undefined)
    return languageLinks(message, Object.entries(reply.reopenedWith), site)
  // A link to a page in another language is answered with a redirect if the session has ended since.
  const isOfPage = reply.kind === 'redirect' || (reply.kind === 'page' && !ENDS.has(reply.page.kind))
  if (reopenedBy === undefined || !isOfPage) return undefined
  return languageLinks(message, sentParameters(message, reopenedBy), site)
}

function languageOf(
  { jar }: Pick<Serving, 'jar'>,
  reply: Reply,
  { language }: Request,
  message: Exchange['message'],
): Language {
  return reply.kind === 'page' && reply.uiLocales !== undefined ? pageLanguage(message, jar, reply.uiLocales) : language
}

/** Decides what can be decided before the body is read. Returns the endpoint, or a function that sends the answer. */
function admit(serving: Serving, exchange: Exchange): Endpoint | (() => void) {
  const { message, network } = exchange
  const route = serving.findRoute(message.url ?? '')
  if (route === undefined) return () => refuseUnknownPath(serving, exchange)
  exchange.route = route
  const endpoint = route.endpoints.get(message.method ?? '')
  if (endpoint === undefined) return answerOtherMethod(serving, exchange, route)
  exchange.endpoint = endpoint
  exchange.isOpenerCut = cutsOpener(endpoint, message)
  serving.gate.check(message, network, endpoint)
  checkHeaders(message, endpoint)
  const home = homeAddress(serving, endpoint, message)
  if (home === undefined) return endpoint
  return () => {
    serving.replies.send(exchange, { kind: 'redirect', location: home }, 'en', false)
    observe(serving, exchange, { event: 'page.redirected-to-issuer', reason: undefined, status: 303 })
  }
}

/** Rejects a method that the path does not have (RFC 9110 §15.5.6), or returns a function that answers a preflight. */
function answerOtherMethod(serving: Serving, exchange: Exchange, { methods, cors }: Route): () => void {
  const { message } = exchange
  const allow = [...methods, ...(cors ? ['OPTIONS'] : [])].join(', ')
  if (!cors || message.method !== 'OPTIONS') throw wrongMethod(message.method, methods, allow)
  return () => {
    serving.replies.sendPreflight(exchange, allow)
    observe(serving, exchange, { event: 'preflight.answered', reason: undefined, status: 204 })
  }
}

/** Logs an error that was thrown, and answers with a page or JSON, depending on the endpoint. */
function refuse(serving: Serving, exchange: Exchange, cause: unknown): void {
  const { connections, context, jar, replies, log } = serving
  const { message, response, route, endpoint } = exchange
  if (connections.isHungUp(message)) return
  const error = toOAuthError(cause)
  const { client, user, credential, reason, explanation, status } = error
  const event = 'request.refused'
  const ms = observe(serving, exchange, { event, reason, status })
  const line = {
    request_id: exchange.requestId,
    client,
    user,
    credential,
    endpoint: endpoint?.name ?? 'none',
    network:
      status === 429 || reason === 'insecure_transport' || context.settings.logNetworks ? exchange.network : undefined,
    reason,
    description: explanation ?? firstFault(error),
    detail: error.detail,
    status,
    ms,
  }
  // A deliberate refusal is logged without its stack.
  const reported = error === cause ? error.cause : cause
  log({ event, ...line }, status >= 500 ? reported : undefined)
  // Part of the answer may have been sent. The connection is closed so that the client does not take it for a whole answer.
  if (response.headersSent) return void response.destroy()
  closeIfStopping(serving, response)
  const isPage = endpoint === undefined ? prefersPage(message) : endpoint.audience === 'page'
  if (!isPage) replies.sendError(exchange, error, route?.cors ?? true)
  else replies.sendErrorPage(exchange, error, pageLanguage(message, jar))
}

/** The first fault in the metadata of a client. Its sentence has nothing that the caller sent but schemes of URIs. */
function firstFault({ code, problems: [first] }: OAuthError): string | undefined {
  if (code !== 'invalid_redirect_uri' && code !== 'invalid_client_metadata') return undefined
  return first && `${first.loc.slice(1).join('.')}: ${first.msg}`
}

/**
 * RFC 9110 §15.5.5: a page for a person, who may have opened the issuer's address, and JSON for all other callers. Scripts of
 * any origin may read the JSON, because clients in browsers try several metadata addresses and need to see which are missing.
 */
function refuseUnknownPath(serving: Serving, exchange: Exchange): void {
  const { context, jar, replies } = serving
  const { message } = exchange
  const error = invalidRequest('path_unknown', { status: 404, problems: [PATH_PROBLEM] })
  if (prefersPage(message)) {
    const page = isHome(context.issuer, message.url ?? '') ? homePage(context.issuer) : errorPage('path_unknown')
    exchange.links = languageLinks(message, [], siteOf(message.headers, context.issuer))
    replies.send(exchange, page, pageLanguage(message, jar), false)
  } else replies.sendError(exchange, error, true)
  observe(serving, exchange, { event: 'request.refused', reason: error.reason, status: error.status })
}

/** A stopping server closes connections, so that the caller's next request goes to another node (RFC 9112 §9.6). */
function closeIfStopping({ context }: Serving, response: ServerResponse): void {
  if (context.isStopping()) response.setHeader('Connection', 'close')
}
