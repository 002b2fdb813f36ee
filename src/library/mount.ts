import type { IncomingMessage, ServerResponse } from 'node:http'
import { errorPage } from '../endpoints/error-page.ts'
import type { Connections } from '../http/connections.ts'
import { isEncrypted } from '../http/gate.ts'
import { STOP_PATIENCE_MS } from '../http/listen.ts'
import { cookieJar } from '../http/session.ts'
import { addressOf } from '../protocol/uri/server-address.ts'
import type { Log } from '../server/log.ts'
import type { Node } from '../server/node.ts'
import type { GrantorTasks } from '../../generated/api-types.d.ts'
import { CollectedResponse, ForeignMessage } from './exchange.ts'
import { answerForHost, HOST_SIGN_IN_PATH, readHostSignIn, type HostRequest, type People } from './people.ts'

/** Serves a request. `original`: the request as the host has it. */
export type Serve = (message: IncomingMessage, response: ServerResponse, original: HostRequest) => Promise<void>

/** The listener of a node in the server of a host. */
export interface Mount {
  /** If a function of the host fails, the person gets a page that says so. Rejects if not even the page can be written. */
  readonly serve: Serve
  readonly handler: (message: IncomingMessage, response: ServerResponse, next?: (cause?: unknown) => void) => void
  readonly handles: (target: string) => boolean
  /** Counts a request that has no connection, as `Connections.enter` does. */
  readonly enter: Connections['enter']
  /** Counts other work of the host as under way, and returns it. */
  readonly track: <Answer>(work: Promise<Answer>) => Promise<Answer>
  /** Resolves when nothing is under way, or after some seconds. */
  readonly finished: () => Promise<void>
}

export interface MountOptions {
  readonly node: Pick<Node, 'listener' | 'context'>
  readonly people: People | undefined
  readonly tasks: GrantorTasks
  readonly logger: Pick<Log, 'error'>
  readonly isOver: () => boolean
}

/** The redirects have credentials in their address. */
const REDIRECT_HEADERS = { 'Cache-Control': 'no-store', 'Referrer-Policy': 'no-referrer' } as const

export function mountListener({ node, people, tasks, logger, isOver }: MountOptions): Mount {
  const { context, listener } = node
  const { connections } = listener
  const underWay = new Set<Promise<unknown>>()
  const jar = cookieJar(context.issuer, context.settings.lifetimes.session)
  const signInPath = new URL(addressOf(context.issuer, HOST_SIGN_IN_PATH)).pathname

  function handles(target: string): boolean {
    if (people !== undefined && target.split('?', 1)[0] === signInPath) return true
    try {
      return listener.findRoute(target) !== undefined
    } catch {
      // A malformed target is not Grantor's.
      return false
    }
  }

  /** Rejects if a function of the host fails. */
  async function attempt(message: IncomingMessage, response: ServerResponse, original: HostRequest): Promise<void> {
    const refuse = (): void => void response.writeHead(503, ['Retry-After', '1', 'Content-Length', '0']).end()
    if (isOver()) return refuse()
    const [path] = (message.url ?? '').split('?', 1)
    // Over plain HTTP the path is one that does not exist.
    const isSignIn =
      people !== undefined && path === signInPath && message.method === 'GET' && listener.isSecure(message)
    if (!isSignIn) return track(listener.answer(message, response))
    if (context.hasStoreGoneBack()) return refuse()
    connections.beginRequest(response)
    try {
      await track(signIn(people, message, response, original))
    } finally {
      connections.endRequest(response)
    }
  }

  async function track<Answer>(work: Promise<Answer>): Promise<Answer> {
    underWay.add(work)
    try {
      return await work
    } finally {
      underWay.delete(work)
    }
  }

  async function signIn(
    host: People,
    message: IncomingMessage,
    response: ServerResponse,
    original: HostRequest,
  ): Promise<void> {
    const [, query] = (message.url ?? '').split('?', 2)
    const from = { request: original, cookies: jar.read(message) }
    const location = await answerForHost({ people: host, tasks, context }, from, readHostSignIn(query))
    response.writeHead(303, [
      ...Object.entries({ ...REDIRECT_HEADERS, Location: location }).flat(),
      'Content-Length',
      '0',
    ])
    response.end()
  }

  function serveOrReject(message: IncomingMessage, response: ServerResponse, original: HostRequest): Promise<void> {
    return attempt(message, response, original).catch((cause: unknown) => {
      logger.error({ event: 'host-sign-in.failed', err: cause })
      throw cause
    })
  }

  function serve(message: IncomingMessage, response: ServerResponse, original: HostRequest): Promise<void> {
    return attempt(message, response, original).catch((cause: unknown) => {
      const requestId = listener.show(message, response, errorPage('host_sign_in_failed'))
      logger.error({ event: 'host-sign-in.failed', request_id: requestId, err: cause })
    })
  }

  /**
   * HTTP/2 has other messages, so such a request is answered as one of Fetch is. A connection has many requests at a time, so above a
   * limit not the connection is closed, but the stream refused (RFC 9113 §8.7): the client may send the request again.
   */
  async function serveHttp2(use: Serve, message: IncomingMessage, response: ServerResponse): Promise<void> {
    const { stream } = message as unknown as { readonly stream: Http2Stream }
    const leave = connections.enter(message)
    if (leave === undefined) return refuseStream(stream, message)
    const { promise: closed, resolve: close } = Promise.withResolvers<void>()
    if (stream.destroyed) close()
    else stream.once('close', close)
    const answered = answerHttp2(use, message, response)
    void Promise.allSettled([answered, closed]).then(leave)
    return answered
  }

  async function answerHttp2(use: Serve, message: IncomingMessage, response: ServerResponse): Promise<void> {
    const { [':authority']: authority, ...sent } = message.headers
    const headers = Object.entries({ host: String(authority ?? ''), ...sent })
      .filter(([name]) => !name.startsWith(':'))
      .map(([name, value]) => [name, String(value)] as const)
    const hasBody = message.method !== 'GET' && message.method !== 'HEAD'
    const foreign = new ForeignMessage({
      method: message.method ?? '',
      target: message.url ?? '',
      headers,
      body: hasBody ? message : undefined,
      isRead: hasBody && message.readableDidRead,
      address: message.socket.remoteAddress ?? '',
      isEncrypted: isEncrypted(message),
    })
    const collected = new CollectedResponse(foreign)
    await use(foreign, collected, message)
    const { status, headers: answered, body } = await collected.answer
    response.writeHead(status, answered.flat()).end(body)
  }

  return {
    serve,
    handles,
    enter: connections.enter,
    track,
    handler(message, response, next) {
      // Express takes the prefix of a mount off the address.
      const target = 'originalUrl' in message ? String(message.originalUrl) : (message.url ?? '')
      if (next !== undefined && !handles(target)) return next()
      message.url = target
      const use = next === undefined ? serve : serveOrReject
      const isHttp2 = message.httpVersionMajor > 1
      if (!isHttp2 && !connections.admit(message, response)) return
      const served = isHttp2 ? serveHttp2(use, message, response) : use(message, response, message)
      served.catch(next ?? (() => void response.destroy()))
    },
    async finished() {
      const limit = Promise.withResolvers<void>()
      const timer = setTimeout(limit.resolve, STOP_PATIENCE_MS)
      await Promise.race([Promise.allSettled(underWay), limit.promise])
      clearTimeout(timer)
    },
  }
}

/** The members of a stream of `node:http2` that are used. */
interface Http2Stream {
  readonly destroyed: boolean
  readonly once: (event: 'close', listener: () => void) => unknown
  readonly close: (code: number) => void
}

/** REFUSED_STREAM: RFC 9113 §7. */
const REFUSED_STREAM = 0x7

function refuseStream(stream: Http2Stream, message: IncomingMessage): void {
  // Node.js reports the code to the message as an error, which would end the process of the host.
  message.on('error', () => undefined)
  stream.close(REFUSED_STREAM)
}
