import { createServer, type Server } from 'node:net'
import type { FastifyInstance } from 'fastify'

/** A server that listens, and its end. */
export interface Listening {
  readonly address: string
  /** Accepts nothing more, lets what is under way finish, and closes. */
  readonly close: () => Promise<void>
}

/** How often connections that became idle are closed: a kept-alive one would hold up the end for its whole timeout. */
const IDLE_CHECK_MS = 50

/**
 * Listens; for `localhost` on 127.0.0.1 and ::1, whatever the name resolves to on this machine, because browsers try both
 * and another process on one of them would get what is meant for us.
 *
 * Throws the system's error when an address is in use.
 */
export async function listen(
  app: FastifyInstance,
  { host, port }: { readonly host: string; readonly port: number },
): Promise<Listening> {
  const address = await app.listen({ host: host === 'localhost' ? '127.0.0.1' : host, port })
  const twin = host === 'localhost' ? await listenOnIpv6Loopback(app, port) : undefined
  return {
    address,
    async close() {
      const timer = setInterval(() => app.server.closeIdleConnections(), IDLE_CHECK_MS)
      const twinClosed = twin === undefined ? undefined : new Promise((resolve) => twin.close(resolve))
      try {
        await Promise.all([twinClosed, app.close()])
      } finally {
        clearInterval(timer)
      }
    },
  }
}

/** Its connections are handed to the one HTTP server. undefined on a machine without IPv6. */
async function listenOnIpv6Loopback(app: FastifyInstance, port: number): Promise<Server | undefined> {
  const twin = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => app.server.emit('connection', socket))
  try {
    await new Promise<void>((resolve, reject) => {
      twin.once('error', reject).listen({ host: '::1', port, ipv6Only: true }, resolve)
    })
    return twin
  } catch (cause) {
    if (['EADDRNOTAVAIL', 'EAFNOSUPPORT'].includes((cause as NodeJS.ErrnoException).code ?? '')) return undefined
    await app.close()
    throw cause
  }
}
