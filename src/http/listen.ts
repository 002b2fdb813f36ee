import { once } from 'node:events'
import type { Server as HttpServer } from 'node:http'
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net'
import { setImmediate } from 'node:timers/promises'

/** A server that listens. */
export interface Listening {
  readonly address: string
  /** Stops accepting connections, completes the requests in progress, and closes. */
  readonly close: () => Promise<void>
}

/**
 * Connections that wait to be accepted. The kernel drops connections beyond the limit; the client retries after a second.
 */
const BACKLOG = 4096
/**
 * How often idle connections are closed during a stop. A kept-alive connection would delay the stop for its whole timeout.
 */
const IDLE_CHECK_MS = 50
/** How long a stop waits for requests in progress. Without a limit one slow caller could delay it for a minute. */
export const STOP_PATIENCE_MS = 5000
/** How long a stop waits for the first byte on a new connection. Browsers open connections that they may never use. */
const FIRST_BYTE_MS = 1000

/**
 * Listens on the address. For `localhost` it listens on both 127.0.0.1 and ::1, whatever the name resolves to: browsers try
 * both, and another process that listens on one of them would get requests for this server.
 *
 * Throws the system's error when an address is in use.
 */
export async function listen(
  server: HttpServer,
  { host, port }: { readonly host: string; readonly port: number },
): Promise<Listening> {
  const open = trackConnections(server)
  server.listen({ host: host === 'localhost' ? '127.0.0.1' : host, port, backlog: BACKLOG })
  await once(server, 'listening')
  const twin = host === 'localhost' ? await listenOnIpv6Loopback(server, port) : undefined
  return {
    address: addressOf(server),
    async close() {
      await everythingRead()
      const ends = Promise.all([closed(server), twin === undefined ? undefined : closed(twin)])
      const idle = setInterval(() => void everythingRead().then(() => server.closeIdleConnections()), IDLE_CHECK_MS)
      const silent = setTimeout(() => void everythingRead().then(() => closeSilent(open)), FIRST_BYTE_MS)
      const cut = setTimeout(() => server.closeAllConnections(), STOP_PATIENCE_MS)
      try {
        await ends
      } finally {
        clearInterval(idle)
        clearTimeout(silent)
        clearTimeout(cut)
      }
    },
  }
}

/** Throws the system's error when the address is in use, before there is a server. Of `localhost` 127.0.0.1 is asked. */
export async function requireFree({ host, port }: { readonly host: string; readonly port: number }): Promise<void> {
  const probe = createServer().listen({ host: host === 'localhost' ? '127.0.0.1' : host, port })
  await once(probe, 'listening')
  await closed(probe)
}

function trackConnections(server: HttpServer): ReadonlySet<Socket> {
  const open = new Set<Socket>()
  server.on('connection', (socket) => {
    open.add(socket)
    socket.once('close', () => open.delete(socket))
  })
  return open
}

/**
 * Resolves after the event loop has accepted all waiting connections and read their data. When an idle connection is closed
 * after that, a request is lost only if it arrives within microseconds. HTTP/1.1 offers nothing better (RFC 9112 §9.6).
 */
async function everythingRead(): Promise<void> {
  // The first ends this turn of the event loop. The second comes after a turn that has polled all connections.
  await setImmediate()
  await setImmediate()
}

function closeSilent(open: ReadonlySet<Socket>): void {
  for (const socket of open) if (socket.bytesRead === 0) socket.destroy()
}

function addressOf(server: HttpServer): string {
  const { address, family, port } = server.address() as AddressInfo
  return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`
}

function closed(server: Server): Promise<unknown> {
  return new Promise((resolve) => server.close(resolve))
}

/** Listens on ::1 and passes the connections to the HTTP server. undefined on a machine without IPv6. */
async function listenOnIpv6Loopback(http: HttpServer, port: number): Promise<Server | undefined> {
  const twin = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => http.emit('connection', socket))
  try {
    twin.listen({ host: '::1', port, ipv6Only: true, backlog: BACKLOG })
    await once(twin, 'listening')
    return twin
  } catch (cause) {
    if (['EADDRNOTAVAIL', 'EAFNOSUPPORT'].includes((cause as NodeJS.ErrnoException).code ?? '')) return undefined
    await closed(http)
    throw cause
  }
}
