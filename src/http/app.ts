import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Context } from '../ports/context.ts'
import { FORWARDED_ADDRESS_IGNORED, type RequestObserver } from '../ports/observers.ts'
import type { Branding } from '../ports/pages.ts'
import { createRenderer } from '../web/render.ts'
import { refuseBytes } from './broken-request.ts'
import { connectionLimits } from './connection-limits.ts'
import { openConnections } from './connections.ts'
import { openGate } from './gate.ts'
import { createServer } from './node-http.ts'
import { openProxies } from './proxies.ts'
import { openReplies } from './reply.ts'
import { openRequestIds } from './request-ids.ts'
import { openRoutes } from './routes.ts'
import { serve, type LogOutcome, type Serving } from './serve.ts'
import { cookieJar } from './session.ts'
import { openScheduler } from './scheduler.ts'

export interface AppOptions {
  readonly context: Context
  readonly branding: Branding
  /** Networks in CIDR notation whose `X-Forwarded-*` headers are trusted. Empty: no such header is trusted. */
  readonly trustedProxies: readonly string[]
  readonly log: LogOutcome
  readonly observer: RequestObserver
}

/** How long a slow request may hold a connection (threats.md NET-03). */
export const TIMEOUTS = {
  requestTimeout: 30_000,
  headersTimeout: 30_000,
  keepAliveTimeout: 65_000,
  connectionsCheckingInterval: 5_000,
}
/** How long a connection may transfer no data. */
export const SILENCE_TIMEOUT_MS = 60_000

/** Creates the HTTP server of the endpoints. It does not listen yet. */
export function createApp({ context, branding, trustedProxies, log, observer }: AppOptions): Server {
  const jar = cookieJar(context.issuer, context.settings.lifetimes.session)
  const proxies = openProxies(trustedProxies, () => context.record({ event: 'forwarded-address.unreadable' }))
  const connections = openConnections(proxies, connectionLimits('public'))
  const serving: Serving = {
    connections,
    context,
    jar,
    log,
    observer,
    proxies,
    scheduler: openScheduler(),
    nextRequestId: openRequestIds(context.random),
    findRoute: openRoutes(context),
    replies: openReplies(createRenderer(branding), jar, context.issuer),
    gate: openGate({ issuer: context.issuer, proxies }),
  }
  // optimizeEmptyRequests: Node.js emits no end event for a request without a body, which makes the request cheaper.
  const { Message, Response } = connections
  const options = { ...TIMEOUTS, optimizeEmptyRequests: true, IncomingMessage: Message, ServerResponse: Response }
  // When even the refusal fails, the connection is closed.
  const answer = (message: IncomingMessage, response: ServerResponse): Promise<void> =>
    serve(serving, message, response).catch(() => void response.destroy())
  const { around } = observer
  const listener =
    around === undefined
      ? answer
      : (message: IncomingMessage, response: ServerResponse): Promise<void> => {
          const { method, headers } = message
          return around({ method, traceparent: headers['traceparent'] }, () => answer(message, response))
        }
  const server = createServer(options, (message, response) => void listener(message, response))
  connections.watch(server)
  server.once(FORWARDED_ADDRESS_IGNORED, () => context.record({ event: 'forwarded-address.ignored' }))
  return server
    .on('connection', serving.scheduler.accepted)
    .on('clientError', refuseBytes)
    .setTimeout(SILENCE_TIMEOUT_MS)
}
