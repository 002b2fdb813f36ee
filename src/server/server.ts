import { existsSync } from 'node:fs'
import type { Server as HttpServer } from 'node:http'
import { setFlagsFromString } from 'node:v8'
import type { Config } from '../config/config.ts'
import { createApp } from '../http/app.ts'
import { listen, requireFree, type Listening } from '../http/listen.ts'
import { openNode, type Node } from './node.ts'
import type { ServerEndReason } from './store.ts'
import { openPlatform, type Platform } from './platform.ts'

/** A server, not listening yet: a node with an HTTP server of its own. */
export interface Server extends Pick<Node, 'admin' | 'context' | 'drain' | 'sample'> {
  readonly http: HttpServer
  /** Starts the background work and listens. Returns the address. */
  readonly start: () => Promise<string>
  /** Stops accepting connections, completes requests in flight, then closes the store. */
  readonly close: () => Promise<void>
}

/** Opens the store and creates the server. `scrapeAll` returns the metrics of all workers when this process is one of several. */
export async function openServer(
  config: Config,
  platform: Platform = openPlatform(config),
  scrapeAll?: () => Promise<string>,
): Promise<Server> {
  const { flush } = platform.logger
  const onServerEnd = (reason: ServerEndReason): void => {
    if (reason === 'closed') process.kill(process.pid, 'SIGTERM')
    // The process ends at once, without serving the requests that are in flight.
    else void flush().finally(() => process.exit(1))
  }
  const node = await openNode(config, platform, { scrapeAll, onServerEnd, isMounted: false })
  const { admin, context, drain, listener, sample, telemetry } = node
  const http = createApp(listener, context)
  telemetry.metrics.countConnections(http)
  const listening: Listening[] = []
  return {
    http,
    admin,
    context,
    sample,
    drain,
    async start() {
      node.start()
      const main = await listen(http, config)
      listening.push(main)
      await node.listenForAdmin()
      return main.address
    },
    close: () => node.close(listening),
  }
}

/** A first start that fails because of a port leaves no store behind, which commands of the same folder would take for that of the server. */
export async function requireFreePorts({ admin, database, host, port }: Config): Promise<void> {
  if (database.kind === 'postgres' || existsSync(database.path)) return
  await requireFree({ host, port })
  if (admin?.isChosen === true) await requireFree(admin)
}

/**
 * From now on V8 allocates every object among the young ones. Otherwise it allocates some objects of requests among the old ones: the lines of
 * Node.js that register a listener serve connections, which live long, and V8 optimizes them for those. Such an object keeps the rest of its
 * request, 4 KB, until the old objects are collected. That takes 10 µs of each request (docs/performance.md).
 *
 * A server that has started calls this. V8 compiles again what it kept under other options, so what a start loads would be compiled each time
 * that a command ran in between.
 */
export function allocateYoung(): void {
  setFlagsFromString('--no-allocation-site-pretenuring')
}
