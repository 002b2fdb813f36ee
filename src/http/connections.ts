import type { IncomingMessage as Message, Server, ServerResponse as Response } from 'node:http'
import type { Socket } from 'node:net'
import type { ConnectionLimits } from './connection-limits.ts'
import { networkOf } from './network.ts'
import { IncomingMessage, ServerResponse } from './node-http.ts'
import type { Proxies } from './proxies.ts'
import { openShares, openSiteShares } from './shares.ts'

/** Bounds what connections may hold, and knows from which network each comes. */
export interface Connections {
  /** For the server to make its responses of: this is where unanswered requests are counted. */
  readonly Response: typeof ServerResponse
  /** For the server to make its requests of: this is where the pieces of bodies are counted. */
  readonly Message: typeof IncomingMessage
  /** Begins to bound the connections of a server. */
  readonly watch: (server: Server) => void
  /** The network that a request is counted by: of the connection, or of the address that a trusted proxy forwarded. */
  readonly networkOf: (message: Message) => string
  /** Whether the connection asked for too much and was closed: nothing that it asked for is done. */
  readonly isHungUp: (message: Message) => boolean
  /** A request counts until `endRequest` also when its connection is closed before, because what waits for its turn takes memory. */
  readonly beginRequest: (response: Response) => void
  readonly endRequest: (response: Response) => void
}

/** On the socket itself: a WeakMap of them takes longer, and longer again with each garbage collection. */
const LINE = Symbol('line')

type CountedSocket = Socket & { [LINE]?: Line }

interface Line {
  readonly network: string
  /** A proxy's connections stand for many callers; their requests have limits, and its connections have not. */
  readonly isProxy: boolean
  unanswered: number
  /** Those of them that nothing works on: their responses are not sent yet. */
  idle: number
  isHungUp: boolean
  isClosed: boolean
}

/**
 * Requests without an answer on one connection. Released clients wait for each answer (RFC 9112 §9.3.2 allows them not to);
 * Node.js reads 64 KiB at once, which is some hundred requests, and each takes a hundred times its bytes.
 */
export const PIPELINE_LIMIT = 32
/**
 * Chunks of one body. Released clients send up to three. Each chunk that Node.js reads takes a microsecond and hundreds of
 * bytes, however small it is. Pieces of a body with a Content-Length come one with each packet, and are not counted.
 */
const CHUNK_LIMIT = 512
/** Bytes of one body that are read, to be passed over where it is too large, so that the client reads the answer. */
const READ_LIMIT = 512 * 1024
/** llhttp: what follows is another protocol, so the parser stops here. */
const STOP_PARSING = 2

/** Opens the count of connections and of requests without an answer, for one listener (threats.md NET-14, NET-17, NET-18). */
export function openConnections(proxies: Proxies, limits: ConnectionLimits): Connections {
  const open = openSiteShares()
  const unanswered = openShares()
  let server: Server | undefined

  /** The share does not hold for proxies, but the limit does: there are only so many files. */
  function hasRoom({ network, isProxy }: Line, shares: typeof open, limit: number): boolean {
    return isProxy ? shares.total() < limit : shares.hasRoom(network, limit)
  }

  function openLine(socket: CountedSocket): Line {
    const address = socket.remoteAddress ?? ''
    const isProxy = proxies.isTrusted(address)
    const line = { network: networkOf(address), isProxy, unanswered: 0, idle: 0, isHungUp: false, isClosed: false }
    socket[LINE] = line
    return line
  }

  function accept(socket: Socket): void {
    const line = openLine(socket)
    if (!hasRoom(line, open, limits.connections)) return hangUp(line, socket)
    open.add(line.network)
    socket.once('close', () => {
      line.isClosed = true
      open.remove(line.network, 1)
      unanswered.remove(line.network, line.idle)
    })
  }

  function begin(socket: CountedSocket): Line {
    const line = lineOf(socket)
    if (line.unanswered >= PIPELINE_LIMIT || !hasRoom(line, unanswered, limits.unanswered)) hangUp(line, socket)
    line.unanswered += 1
    line.idle += 1
    unanswered.add(line.network)
    return line
  }

  function hangUp(line: Line, socket: Socket): void {
    if (line.isHungUp) return
    line.isHungUp = true
    stopParsing(socket)
    // A reset: what the caller did not read would stay in the kernel's memory for minutes.
    socket.resetAndDestroy()
    server?.emit('drop')
  }

  class CountedResponse extends ServerResponse {
    private readonly line: Line
    private isUnderWay = false
    private isDetached = false

    constructor(...parameters: ConstructorParameters<typeof ServerResponse>) {
      super(...parameters)
      this.line = begin(this.req.socket)
    }

    beginRequest(): void {
      this.isUnderWay = true
      this.line.idle -= 1
    }

    endRequest(): void {
      const { line } = this
      this.isUnderWay = false
      if (this.isDetached || line.isClosed) unanswered.remove(line.network, 1)
      else line.idle += 1
    }

    /** Node.js calls this when the response was sent, and not where the connection was closed before. */
    override detachSocket(socket: Socket): void {
      super.detachSocket(socket)
      const { line } = this
      line.unanswered -= 1
      if (line.isClosed) return
      this.isDetached = true
      if (this.isUnderWay) return
      line.idle -= 1
      unanswered.remove(line.network, 1)
    }
  }

  class BoundedMessage extends IncomingMessage {
    private chunks = 0
    private bytes = 0

    /** Called by the parser with each piece of the body, before anything is kept, and with null at its end. */
    override push(piece: Buffer | null): boolean {
      if (piece === null) return super.push(null)
      this.chunks += 1
      this.bytes += piece.length
      if (this.bytes <= READ_LIMIT && (this.chunks <= CHUNK_LIMIT || !isChunked(this))) return super.push(piece)
      hangUp(lineOf(this.socket), this.socket)
      return false
    }
  }

  function lineOf(socket: CountedSocket): Line {
    return socket[LINE] ?? openLine(socket)
  }

  return {
    Response: CountedResponse as typeof ServerResponse,
    Message: BoundedMessage,
    watch(watched) {
      server = watched.on('connection', accept)
    },
    networkOf(message) {
      const { [LINE]: line }: CountedSocket = message.socket
      return line === undefined || line.isProxy ? networkOf(proxies.callerOf(message)) : line.network
    },
    beginRequest: (response) => response instanceof CountedResponse && response.beginRequest(),
    endRequest: (response) => response instanceof CountedResponse && response.endRequest(),
    isHungUp: ({ socket }: { readonly socket: CountedSocket }) => socket[LINE]?.isHungUp === true,
  }
}

function isChunked({ headers }: Message): boolean {
  return headers['transfer-encoding'] !== undefined
}

/**
 * What was read already is parsed to its end, even of a socket that is destroyed, and each request of it kept until the loop
 * has read all sockets: gigabytes of some hundred connections. Node.js has no official way to stop that.
 */
function stopParsing(socket: Socket & { readonly parser?: { onIncoming: unknown } | null }): void {
  const { parser } = socket
  if (parser !== undefined && parser !== null) parser.onIncoming = () => STOP_PARSING
}
