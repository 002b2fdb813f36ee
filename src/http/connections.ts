import type { IncomingMessage as Message, Server, ServerResponse as Response } from 'node:http'
import type { Socket } from 'node:net'
import { FORWARDED_ADDRESS_IGNORED } from '../ports/observers.ts'
import type { ConnectionLimits } from './connection-limits.ts'
import { LOOPBACK, networkOf } from './network.ts'
import { IncomingMessage, ServerResponse } from './node-http.ts'
import type { Proxies } from './proxies.ts'
import { openShares, openSiteShares } from './shares.ts'

/** Limits connections and the requests on them, and finds the network of each request. */
export interface Connections {
  /** The server's class of responses. It counts the unanswered requests. */
  readonly Response: typeof ServerResponse
  /** The server's class of requests. It counts the chunks and bytes of each body. */
  readonly Message: typeof IncomingMessage
  /** Applies the limits to the connections of a server. */
  readonly watch: (server: Server) => void
  /** The network that a request counts against: that of the connection, or of the address that a trusted proxy gave. */
  readonly networkOf: (message: Message) => string
  /** Whether the connection was closed because it exceeded a limit. None of its requests is processed then. */
  readonly isHungUp: (message: Message) => boolean
  /**
   * From here to `endRequest` the request counts even when its connection is closed, because a waiting request holds memory.
   */
  readonly beginRequest: (response: Response) => void
  readonly endRequest: (response: Response) => void
}

/** The state is kept on the socket itself: a WeakMap is slower, and each garbage collection makes it slower still. */
const STATE = Symbol('connection state')

type CountedSocket = Socket & { [STATE]?: ConnectionState }

interface ConnectionState {
  readonly network: string
  /** A trusted proxy connects for many callers. Its connections have no share; the requests of its callers have. */
  readonly isProxy: boolean
  /** The peer is a program on this machine, and not a trusted proxy. */
  readonly isLoopback: boolean
  unanswered: number
  /** The unanswered requests that are not being processed: their responses are not sent completely. */
  idle: number
  isHungUp: boolean
  isClosed: boolean
}

/**
 * Unanswered requests on one connection. RFC 9112 §9.3.2 allows pipelining, but released clients wait for each answer. Node.js
 * reads 64 KiB at once, which is some hundred requests, and a request takes a hundred times its bytes in memory.
 */
export const PIPELINE_LIMIT = 32
/**
 * Chunks of one body. Released clients send up to three. Each chunk costs Node.js a microsecond and hundreds of bytes,
 * however small it is. A body with a Content-Length arrives in one piece per packet, which is not counted.
 */
const CHUNK_LIMIT = 512
/** Bytes that are read of a body. A too large body is discarded up to here, so that the client reads the answer. */
const READ_LIMIT = 512 * 1024
/** llhttp's return value for a change of protocol: the parser stops after this request. */
const STOP_PARSING = 2

/** Opens the limits on connections and unanswered requests of one listener (threats.md NET-14, NET-17, NET-18). */
export function openConnections(proxies: Proxies, limits: ConnectionLimits): Connections {
  const open = openSiteShares()
  const unanswered = openShares()
  let server: Server | undefined

  /**
   * A proxy has no share, but the total limit holds for it too, because the process can open only a limited number of files.
   */
  function hasRoom({ network, isProxy }: ConnectionState, shares: typeof open, limit: number): boolean {
    return isProxy ? shares.total() < limit : shares.hasRoom(network, limit)
  }

  function openState(socket: CountedSocket): ConnectionState {
    const address = socket.remoteAddress ?? ''
    const isProxy = proxies.isTrusted(address)
    const state = {
      network: networkOf(address),
      isProxy,
      isLoopback: !isProxy && LOOPBACK.test(address),
      unanswered: 0,
      idle: 0,
      isHungUp: false,
      isClosed: false,
    }
    socket[STATE] = state
    return state
  }

  function accept(socket: Socket): void {
    const state = openState(socket)
    if (!hasRoom(state, open, limits.connections)) return hangUp(state, socket)
    open.add(state.network)
    socket.once('close', () => {
      state.isClosed = true
      open.remove(state.network, 1)
      unanswered.remove(state.network, state.idle)
    })
  }

  function begin(socket: CountedSocket): ConnectionState {
    const state = stateOf(socket)
    if (state.unanswered >= PIPELINE_LIMIT || !hasRoom(state, unanswered, limits.unanswered)) hangUp(state, socket)
    state.unanswered += 1
    state.idle += 1
    unanswered.add(state.network)
    return state
  }

  function hangUp(state: ConnectionState, socket: Socket): void {
    if (state.isHungUp) return
    state.isHungUp = true
    stopParsing(socket)
    // With a reset the kernel discards at once what the caller has not read. Otherwise it would keep that for minutes.
    socket.resetAndDestroy()
    server?.emit('drop')
  }

  class CountedResponse extends ServerResponse {
    private readonly state: ConnectionState
    private isUnderWay = false
    private isDetached = false

    constructor(...parameters: ConstructorParameters<typeof ServerResponse>) {
      super(...parameters)
      this.state = begin(this.req.socket)
    }

    beginRequest(): void {
      this.isUnderWay = true
      this.state.idle -= 1
    }

    endRequest(): void {
      const { state } = this
      this.isUnderWay = false
      if (this.isDetached || state.isClosed) unanswered.remove(state.network, 1)
      else state.idle += 1
    }

    /** Node.js calls this when the response is sent, but not when the connection was closed before that. */
    override detachSocket(socket: Socket): void {
      super.detachSocket(socket)
      const { state } = this
      state.unanswered -= 1
      if (state.isClosed) return
      this.isDetached = true
      if (this.isUnderWay) return
      state.idle -= 1
      unanswered.remove(state.network, 1)
    }
  }

  class BoundedMessage extends IncomingMessage {
    private chunks = 0
    private bytes = 0

    /** The parser calls this with each piece of the body, before Node.js keeps it, and with null at the end of the body. */
    override push(piece: Buffer | null): boolean {
      if (piece === null) return super.push(null)
      this.chunks += 1
      this.bytes += piece.length
      if (this.bytes <= READ_LIMIT && (this.chunks <= CHUNK_LIMIT || !isChunked(this))) return super.push(piece)
      hangUp(stateOf(this.socket), this.socket)
      return false
    }
  }

  function stateOf(socket: CountedSocket): ConnectionState {
    return socket[STATE] ?? openState(socket)
  }

  return {
    Response: CountedResponse as typeof ServerResponse,
    Message: BoundedMessage,
    watch(watched) {
      server = watched.on('connection', accept)
    },
    networkOf(message) {
      const { [STATE]: state }: CountedSocket = message.socket
      if (state?.isLoopback === true && message.headers['x-forwarded-for'] !== undefined) {
        server?.emit(FORWARDED_ADDRESS_IGNORED)
      }
      return state === undefined || state.isProxy ? networkOf(proxies.callerOf(message)) : state.network
    },
    beginRequest: (response) => response instanceof CountedResponse && response.beginRequest(),
    endRequest: (response) => response instanceof CountedResponse && response.endRequest(),
    isHungUp: ({ socket }: { readonly socket: CountedSocket }) => socket[STATE]?.isHungUp === true,
  }
}

function isChunked({ headers }: Message): boolean {
  return headers['transfer-encoding'] !== undefined
}

/**
 * Stops the parser of a connection. Otherwise Node.js parses all the data that it has read, even of a destroyed socket, and
 * keeps each request until the loop has read all sockets: some hundred connections would take gigabytes. Node.js has no
 * official way to stop it.
 */
function stopParsing(socket: Socket & { readonly parser?: { onIncoming: unknown } | null }): void {
  const { parser } = socket
  if (parser !== undefined && parser !== null) parser.onIncoming = () => STOP_PARSING
}
