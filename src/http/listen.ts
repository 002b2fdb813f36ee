import { once } from 'node:events'
import type { Server as HttpServer } from 'node:http'
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net'
import { setImmediate } from 'node:timers/promises'

/** A server that listens, and its end. */
export interface Listening {
  readonly address: string
  /** Accepts nothing more, lets what is under way finish, and closes. */
  readonly close: () => Promise<void>
}

/** Connections that wait to be accepted. The kernel drops those beyond it, and a client asks again a second later. */
const BACKLOG = 4096
/** How often connections that became idle are closed: a kept-alive one would hold up the end for its whole timeout. */
const IDLE_CHECK_MS = 50
/** A stop waits this long for requests under way. Then it cuts them, or one slow caller could hold it up for a minute. */
const STOP_PATIENCE_MS = 5000
/** And this long for the first byte on a new connection: browsers open some that they may never need. */
const FIRST_BYTE_MS = 1000

/**
 * Listens; for `localhost` on 127.0.0.1 and ::1, whatever the name resolves to on this machine, because browsers try both
 * and another process on one of them would get what is meant for us.
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

function trackConnections(server: HttpServer): ReadonlySet<Socket> {
  const open = new Set<Socket>()
  server.on('connection', (socket) => {
    open.add(socket)
    socket.once('close', () => open.delete(socket))
  })
  return open
}

/**
 * Resolves right after the event loop has accepted and read what had arrived. An idle connection that is closed then loses
 * a request only if it arrives within microseconds; HTTP/1.1 knows nothing better (RFC 9112 §9.6).
 */
async function everythingRead(): Promise<void> {
  // The first ends this turn of the event loop; the second stands behind a whole look at all connections.
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

/** Its connections are handed to the one HTTP server. undefined on a machine without IPv6. */
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
