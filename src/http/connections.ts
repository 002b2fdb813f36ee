import type { IncomingMessage as Message, Server, ServerResponse as Response } from 'node:http'
import type { Socket } from 'node:net'
import { FORWARDED_ADDRESS_IGNORED, FORWARDED_ADDRESS_MISSING } from '../ports/observers.ts'
import type { BodyReader, Handing } from './body.ts'
import type { ConnectionLimits } from './connection-limits.ts'
import { LOOPBACK, networkOf } from './network.ts'
import { IncomingMessage, type ServerResponse } from './node-http.ts'
import { PreparedResponse } from './prepared-response.ts'
import type { Proxies, Sender } from './proxies.ts'
import { openShares, openSiteShares } from '../base/shares.ts'
import { hasRoom, openUnanswered, type UnansweredRequest } from './unanswered.ts'
import { MAXIMA } from '../base/maxima.ts'

/** Limits connections and the requests on them, and finds the network of each request. */
export interface Connections {
  /** The server's class of responses. It counts the unanswered requests. */
  readonly Response: typeof ServerResponse
  /** The server's class of requests. It counts the chunks and bytes of each body. */
  readonly Message: typeof IncomingMessage
  /** Applies the limits to the connections of a server. */
  readonly watch: (server: Server) => void
  /**
   * The same for a request of another program's server: its connection is not counted, and neither are its requests for other paths.
   * false: it exceeds a limit. Its connection is closed then, and the request is not processed.
   */
  readonly admit: (message: Message, response: Response) => boolean
  /**
   * Counts a request whose connection is not known. Returns the function that ends the count; undefined: its network has too many.
   */
  readonly enter: (message: Sender) => (() => void) | undefined
  /** The network that a request counts against: that of the connection, or of the address that a trusted proxy gave. */
  readonly networkOf: (message: Message) => string
  /**
   * Whether that network is the caller's own. It is not where a trusted proxy names none but trusted addresses, or another peer names one, or is on this machine
   * while the issuer is for others: it may be a proxy, and all its callers would be in one network.
   */
  readonly knowsCaller: (message: Message) => boolean
  /** Whether the connection was closed because it exceeded a limit. None of its requests is processed then. */
  readonly isHungUp: (message: Message) => boolean
  /**
   * From here to `endRequest` the request counts even when its connection is closed, because a waiting request holds memory.
   */
  readonly beginRequest: (response: Response) => void
  readonly endRequest: (response: Response) => void
}

/** Where a response has its count. */
const REQUEST = Symbol('unanswered request')
type MaybeCounted = Response & { readonly [REQUEST]?: UnansweredRequest }

/**
 * Chunks of one body. Released clients send up to three. Each chunk costs Node.js a microsecond and hundreds of bytes,
 * however small it is. A body with a Content-Length arrives in one piece per packet, which is not counted.
 */
const CHUNK_LIMIT = MAXIMA.bodyChunks.most
/** Bytes that are read of a body. A too large body is discarded up to here, so that the client reads the answer. */
const READ_LIMIT = MAXIMA.bodyRead.most
/**
 * Opens the limits on connections and unanswered requests of one listener (threats.md NET-14, NET-17, NET-18). `isForOthers`: its callers are
 * on other machines, so that what calls from this one is a proxy.
 */
export function openConnections(proxies: Proxies, limits: ConnectionLimits, isForOthers = false): Connections {
  const open = openSiteShares()
  const foreign = openShares()
  let server: Server | undefined
  const requests = openUnanswered(proxies, limits.unanswered, () => server?.emit('drop'))
  const { hangUp } = requests
  const isHungUp = (socket: Socket): boolean => requests.find(socket)?.isHungUp === true

  function accept(socket: Socket): void {
    const connection = requests.of(socket)
    const { network } = connection
    if (!hasRoom(connection, open, limits.connections)) return hangUp(connection, socket)
    open.add(network)
    socket.once('close', () => open.remove(network, 1))
  }

  class CountedResponse extends PreparedResponse {
    readonly [REQUEST]: UnansweredRequest

    constructor(...parameters: ConstructorParameters<typeof ServerResponse>) {
      super(...parameters)
      this[REQUEST] = requests.begin(this.req.socket)
    }

    /** Node.js calls this when the response is sent, but not when the connection was closed before that. */
    override detachSocket(socket: Socket): void {
      super.detachSocket(socket)
      this[REQUEST].leave()
    }
  }

  class BoundedMessage extends IncomingMessage implements Handing {
    private chunks = 0
    private bytes = 0
    private reader: BodyReader | undefined

    handTo(reader: BodyReader): boolean {
      if (this.chunks > 0 || this.complete) return false
      this.reader = reader
      return true
    }

    /** Node.js calls this when the response is sent, to discard what was not read. A body with a reader is not in the stream. */
    override resume(): this {
      return this.reader === undefined ? super.resume() : this
    }

    /** The parser calls this with each piece of the body, before Node.js keeps it, and with null at the end of the body. */
    override push(piece: Buffer | null): boolean {
      const { reader } = this
      if (piece === null) {
        if (reader === undefined) return super.push(null)
        reader.end()
        return false
      }
      this.chunks += 1
      this.bytes += piece.length
      if (this.bytes <= READ_LIMIT && (this.chunks <= CHUNK_LIMIT || !isChunked(this))) {
        if (reader === undefined) return super.push(piece)
        if (reader.take(piece)) return true
        // As a stream, no more is read at once than Node.js buffers, so that the answer is sent before the limit closes the connection.
        this.reader = undefined
        this.resume()
        return false
      }
      hangUp(requests.of(this.socket), this.socket)
      return false
    }
  }

  return {
    Response: CountedResponse as typeof ServerResponse,
    Message: BoundedMessage,
    watch(watched) {
      server = watched.on('connection', accept)
    },
    admit({ socket }, response) {
      // No event would end the count of a request whose connection is closed already.
      if (!socket.destroyed) {
        const request = requests.begin(socket)
        Object.assign(response, { [REQUEST]: request })
        response.once('finish', () => request.leave())
      }
      return !isHungUp(socket)
    },
    enter(message) {
      const network = networkOf(proxies.callerOf(message))
      if (!foreign.hasRoom(network, limits.foreign)) return undefined
      foreign.add(network)
      return () => foreign.remove(network, 1)
    },
    networkOf(message) {
      const connection = requests.find(message.socket)
      if (connection?.isLoopback === true && message.headers['x-forwarded-for'] !== undefined) {
        server?.emit(FORWARDED_ADDRESS_IGNORED)
      }
      return connection === undefined || connection.isProxy ? networkOf(proxies.callerOf(message)) : connection.network
    },
    knowsCaller(message) {
      const { socket, headers } = message
      const isProxy = requests.find(socket)?.isProxy ?? proxies.isTrusted(socket.remoteAddress ?? '')
      if (isProxy) {
        const isNamed = proxies.namesCaller(message)
        if (!isNamed && message.method === 'POST') server?.emit(FORWARDED_ADDRESS_MISSING)
        return isNamed
      }
      if (isForOthers && LOOPBACK.test(socket.remoteAddress ?? '')) return false
      return headers['x-forwarded-for'] === undefined
    },
    beginRequest: (response: MaybeCounted) => response[REQUEST]?.beginWork(),
    endRequest: (response: MaybeCounted) => response[REQUEST]?.endWork(),
    isHungUp: ({ socket }) => isHungUp(socket),
  }
}

function isChunked({ headers }: Message): boolean {
  return headers['transfer-encoding'] !== undefined
}
