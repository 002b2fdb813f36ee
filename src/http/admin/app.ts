import type { Server } from 'node:http'
import type { Context } from '../../ports/context.ts'
import { isLoopbackHost } from '../../protocol/uri/loopback.ts'
import { SILENCE_TIMEOUT_MS } from '../app.ts'
import { openSlots } from '../../base/slots.ts'
import { refuseBytes } from '../broken-request.ts'
import { connectionLimits, TIMEOUTS } from '../connection-limits.ts'
import { openConnections } from '../connections.ts'
import { openGate } from '../gate.ts'
import { createServer } from '../node-http.ts'
import { openProxies } from '../proxies.ts'
import { openRequestIds } from '../request-ids.ts'
import { EACH_TURN, oneEach, openScheduler } from '../scheduler.ts'
import type { Branding } from '../../ports/pages/pages.ts'
import type { Console, ConsoleOptions } from './console/console.ts'
import { openAdminRoutes, type PlainRoute } from './routes.ts'
import { serveAdmin, type AdminServing, type LogAdminOutcome } from './serve.ts'

export interface AdminAppOptions {
  readonly context: Context
  /** The address to listen on. Only this machine can connect to a loopback address. */
  readonly host: string
  readonly trustedProxies: readonly string[]
  /** The routes that are not tasks. */
  readonly plainRoutes: readonly PlainRoute[]
  readonly log: LogAdminOutcome
  /** Where browsers reach the console, and how it looks; undefined: there is none. */
  readonly console: { readonly origin: string; readonly branding: Branding } | undefined
  /** Milliseconds from the beginning of one page to that of the next one. */
  readonly pageGapMs: number
}

export const OPENAPI_PATH = '/admin/v1/openapi.json'

/** Tasks that read at a time, and that wait. A list of a thousand users takes as long as a hundred tokens (threats.md ADM-12). */
const READS = { total: 2, perHost: 2, waiting: 500 } as const
/** Loading the tasks waits until the server has started, because requests of clients come first. */
const LOAD_AFTER_MS = 1000

/** Creates the HTTP server of the administration, with its own listener (threats.md ADM-01). It does not listen yet. */
export function createAdminApp(options: AdminAppOptions): Server {
  const { context, host, trustedProxies, plainRoutes, log, console, pageGapMs } = options
  const proxies = openProxies(trustedProxies, () => context.record({ event: 'forwarded-address.unreadable' }))
  const findRoute = openLazyRoutes([...plainRoutes, openapiRoute(context.version)])
  const connections = openConnections(proxies, connectionLimits('admin'))
  const serving: AdminServing = {
    connections,
    context,
    log,
    findRoute,
    isLoopback: isLoopbackHost(host),
    gate: openGate({ issuer: context.issuer, proxies, hasStoreGoneBack: context.hasStoreGoneBack }),
    scheduler: openScheduler(EACH_TURN),
    pages: openScheduler(oneEach(pageGapMs)),
    reads: openSlots(READS),
    nextRequestId: openRequestIds(context.random),
    loadConsole: console && openLazyConsole({ context, ...console }),
  }
  const server = createServer(
    {
      ...TIMEOUTS,
      optimizeEmptyRequests: true,
      IncomingMessage: connections.Message,
      ServerResponse: connections.Response,
    },
    (message, response) => void serveAdmin(serving, message, response).catch(() => response.destroy()),
  )
  connections.watch(server)
  return server
    .on('connection', serving.scheduler.accepted)
    .on('clientError', refuseBytes)
    .once('listening', () => setTimeout(() => void loadTasks(findRoute), LOAD_AFTER_MS).unref())
    .setTimeout(SILENCE_TIMEOUT_MS)
}

/**
 * Finds routes, and loads the tasks with the first request for one. Loading them with their schemas would take much of the
 * time of a start, and few servers need a task soon.
 */
function openLazyRoutes(plainRoutes: readonly PlainRoute[]): AdminServing['findRoute'] {
  const findPlain = openAdminRoutes([], plainRoutes)
  let tasks: Promise<ReturnType<typeof openAdminRoutes>> | undefined
  return async (path) => {
    const route = findPlain(path)
    if (route !== undefined) return route
    tasks ??= import('../../admin/tasks.ts').then(({ TASKS }) => openAdminRoutes(TASKS, []))
    return (await tasks)(path)
  }
}

/** Loads the console with its first request: it needs all tasks, and few servers show it soon. */
function openLazyConsole(options: ConsoleOptions): () => Promise<Console> {
  let opened: Promise<Console> | undefined
  return () => (opened ??= import('./console/console.ts').then(({ openConsole }) => openConsole(options)))
}

/** Loads the tasks in advance. When that fails, the next request for a task fails with the error. */
async function loadTasks(findRoute: AdminServing['findRoute']): Promise<void> {
  await findRoute('').catch(() => undefined)
}

/** The OpenAPI description. It is not secret, but this listener returns nothing to callers without credentials. */
function openapiRoute(version: string): PlainRoute {
  let body: string | undefined
  return {
    path: OPENAPI_PATH,
    access: 'administrator',
    // Made for the first request: few servers need it, and a start would wait for it.
    async answer() {
      const { describeTasks } = await import('../../admin/openapi.ts')
      return { contentType: 'application/json', body: (body ??= JSON.stringify(describeTasks(version))) }
    },
  }
}
