import type { Socket } from 'node:net'
import { LOOPBACK, networkOf } from './network.ts'
import type { Proxies } from './proxies.ts'
import { openShares, type Shares } from '../base/shares.ts'

/** A connection, and how many of its requests are unanswered. */
export interface Connection {
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

/** The count of one request. */
export interface UnansweredRequest {
  /**
   * From here to `endWork` the request counts even when its connection is closed, because a request that is being processed holds memory.
   */
  readonly beginWork: () => void
  readonly endWork: () => void
  /** To be called when the response is sent. */
  readonly leave: () => void
}

/** Counts the unanswered requests of one listener, for each connection and for each network (threats.md NET-14). */
export interface Unanswered {
  readonly of: (socket: Socket) => Connection
  /** undefined: the socket is not one whose requests are counted. */
  readonly find: (socket: Socket) => Connection | undefined
  /** Counts a request from here on. Above a limit its connection is closed. */
  readonly begin: (socket: Socket) => UnansweredRequest
  readonly hangUp: (connection: Connection, socket: Socket) => void
}

/**
 * Unanswered requests on one connection. RFC 9112 §9.3.2 allows pipelining, but released clients wait for each answer. Node.js
 * reads 64 KiB at once, which is some hundred requests, and a request takes a hundred times its bytes in memory.
 */
export const PIPELINE_LIMIT = 32
/** llhttp's return value for a change of protocol: the parser stops after this request. */
const STOP_PARSING = 2

/** `limit`: the unanswered requests of all networks. `onHungUp`: called when a connection was closed above a limit. */
export function openUnanswered(proxies: Proxies, limit: number, onHungUp: () => void): Unanswered {
  /**
   * The connection is kept on the socket itself: a WeakMap is slower, and each garbage collection makes it slower still. Each listener
   * has a symbol of its own, because several may be in the server of one host.
   */
  const CONNECTION = Symbol('connection')
  type CountedSocket = Socket & { [CONNECTION]?: Connection }
  const shares = openShares()

  function open(socket: CountedSocket): Connection {
    const connection = newConnection(proxies, socket.remoteAddress ?? '')
    socket[CONNECTION] = connection
    socket.once('close', () => {
      connection.isClosed = true
      shares.remove(connection.network, connection.idle)
    })
    return connection
  }

  const of = (socket: CountedSocket): Connection => socket[CONNECTION] ?? open(socket)

  function hangUp(connection: Connection, socket: Socket): void {
    if (connection.isHungUp) return
    connection.isHungUp = true
    stopParsing(socket)
    reset(socket)
    onHungUp()
  }

  class CountedRequest implements UnansweredRequest {
    private readonly connection: Connection
    private isUnderWay = false
    private isSent = false

    constructor(connection: Connection) {
      this.connection = connection
      connection.unanswered += 1
      connection.idle += 1
      shares.add(connection.network)
    }

    beginWork(): void {
      this.isUnderWay = true
      this.connection.idle -= 1
    }

    endWork(): void {
      const { connection } = this
      this.isUnderWay = false
      if (this.isSent || connection.isClosed) shares.remove(connection.network, 1)
      else connection.idle += 1
    }

    leave(): void {
      const { connection } = this
      connection.unanswered -= 1
      if (connection.isClosed) return
      this.isSent = true
      if (this.isUnderWay) return
      connection.idle -= 1
      shares.remove(connection.network, 1)
    }
  }

  return {
    of,
    find: (socket: CountedSocket) => socket[CONNECTION],
    hangUp,
    begin(socket) {
      const connection = of(socket)
      if (connection.unanswered >= PIPELINE_LIMIT || !hasRoom(connection, shares, limit)) hangUp(connection, socket)
      return new CountedRequest(connection)
    },
  }
}

/**
 * Whether one more may be held in the share of the connection's network. A proxy has no share, but the total limit holds for it too,
 * because memory and the number of open files of the process are limited.
 */
export function hasRoom({ network, isProxy }: Connection, shares: Shares, limit: number): boolean {
  return isProxy ? shares.total() < limit : shares.hasRoom(network, limit)
}

function newConnection(proxies: Proxies, address: string): Connection {
  const isProxy = proxies.isTrusted(address)
  return {
    network: networkOf(address),
    isProxy,
    isLoopback: !isProxy && LOOPBACK.test(address),
    unanswered: 0,
    idle: 0,
    isHungUp: false,
    isClosed: false,
  }
}

/**
 * With a reset the kernel discards at once what the caller has not read. Otherwise it would keep that for minutes. A connection of TLS or of
 * a Unix socket, which the server of a host may have, cannot be reset.
 */
function reset(socket: Socket): void {
  const isTcp = !('encrypted' in socket) && socket.remoteAddress !== undefined
  if (isTcp) socket.resetAndDestroy()
  else socket.destroy()
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
