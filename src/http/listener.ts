import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Context } from '../ports/context.ts'
import type { Reply } from '../ports/message.ts'
import type { RequestObserver } from '../ports/observers.ts'
import type { Branding } from '../ports/pages/pages.ts'
import { PATHS } from '../endpoints/paths.ts'
import { addressOf } from '../protocol/uri/server-address.ts'
import { createRenderer } from '../web/render.ts'
import { connectionLimits } from './connection-limits.ts'
import { openConnections, type Connections } from './connections.ts'
import { openGate } from './gate.ts'
import { pageLanguage } from './page-language.ts'
import { openProxies } from './proxies.ts'
import { openReplies } from './reply.ts'
import { openRequestIds } from './request-ids.ts'
import { openRoutes, type Route } from './routes.ts'
import { EACH_TURN, openScheduler, type Scheduler } from './scheduler.ts'
import type { LogOutcome } from './outcome-line.ts'
import { serve, type Serving } from './serve.ts'
import { cookieJar } from './session.ts'

export interface ListenerOptions {
  readonly context: Context
  readonly branding: Branding
  /** Networks in CIDR notation whose `X-Forwarded-*` headers are trusted. Empty: no such header is trusted. */
  readonly trustedProxies: readonly string[]
  readonly log: LogOutcome
  readonly observer: RequestObserver
  /** The server that calls the listener is that of a host, which has other paths too. */
  readonly isMounted: boolean
}

/** The endpoints as a listener of requests, which an HTTP server calls. */
export interface Listener {
  /** Serves one request. Never rejects. */
  readonly answer: (message: IncomingMessage, response: ServerResponse) => Promise<void>
  /** Whether the issuer allows plain HTTP, or TLS protected the request. */
  readonly isSecure: (message: IncomingMessage) => boolean
  /** Answers a request that is not for an endpoint with a page. Returns the id of the request, which the page shows. */
  readonly show: (message: IncomingMessage, response: ServerResponse, page: Reply) => string
  /** Returns the route of a request's target; undefined for an unknown path. @throws OAuthError when the target is malformed */
  readonly findRoute: (target: string) => Route | undefined
  readonly connections: Connections
  readonly scheduler: Scheduler
}

/** Opens the listener of the endpoints. */
export function openListener(options: ListenerOptions): Listener {
  const { context, branding, trustedProxies, log, observer, isMounted } = options
  const jar = cookieJar(context.issuer, context.settings.lifetimes.session)
  const proxies = openProxies(trustedProxies, () => context.record({ event: 'forwarded-address.unreadable' }))
  const serving: Serving = {
    connections: openConnections(proxies, connectionLimits('public'), !context.settings.isLoopbackIssuer),
    context,
    jar,
    log,
    observer,
    proxies,
    scheduler: openScheduler(EACH_TURN),
    nextRequestId: openRequestIds(context.random),
    findRoute: openRoutes(context, isMounted),
    replies: openReplies(createRenderer(branding, picturePath(context.issuer)), jar, context.issuer),
    gate: openGate({ issuer: context.issuer, proxies, hasStoreGoneBack: context.hasStoreGoneBack }),
  }
  // When even the refusal fails, the connection is closed.
  const answer = (message: IncomingMessage, response: ServerResponse): Promise<void> =>
    serve(serving, message, response).catch(() => void response.destroy())
  const { around } = observer
  const { connections, findRoute, scheduler } = serving
  return {
    connections,
    findRoute,
    scheduler,
    isSecure: serving.gate.isSecure,
    show(message, response, page) {
      const requestId = serving.nextRequestId()
      const target = { response, requestId, isOpenerCut: false, links: undefined }
      serving.replies.send(target, page, pageLanguage(message, jar), false)
      return requestId
    },
    answer:
      around === undefined
        ? answer
        : (message, response) => {
            const { method, headers, url = '' } = message
            if (PROBES.test(url)) return answer(message, response)
            return around({ method, traceparent: headers['traceparent'] }, () => answer(message, response))
          },
  }
}

/** Requests of proxies and orchestrators, several a second, which would be a tenth of all spans. */
const PROBES = /\/health\/(?:alive|ready)$/

/** Before the names of pictures. A path, because pages of a loopback issuer may be requested under another name. */
function picturePath(issuer: string): string {
  return new URL(addressOf(issuer, PATHS.picture.replace('{picture}', ''))).pathname
}
