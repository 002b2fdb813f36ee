import type { Server } from 'node:http'
import type { Context } from '../../ports/context.ts'
import { isLoopbackHost } from '../../protocol/loopback.ts'
import { SILENCE_TIMEOUT_MS, TIMEOUTS } from '../app.ts'
import { refuseBytes } from '../broken-request.ts'
import { connectionLimits } from '../connection-limits.ts'
import { openConnections } from '../connections.ts'
import { openGate } from '../gate.ts'
import { createServer } from '../node-http.ts'
import { openProxies } from '../proxies.ts'
import { openScheduler } from '../scheduler.ts'
import { openAdminRoutes, type PlainRoute } from './routes.ts'
import { serveAdmin, type AdminServing, type LogAdminOutcome } from './serve.ts'

export interface AdminAppOptions {
  readonly context: Context
  /** What it listens on; a loopback address lets only this machine in. */
  readonly host: string
  readonly trustedProxies: readonly string[]
  /** What stands beside the tasks. */
  readonly plainRoutes: readonly PlainRoute[]
  readonly log: LogAdminOutcome
}

export const OPENAPI_PATH = '/admin/v1/openapi.json'

/** Nobody asks for a task so soon, and the server's own users may ask for much. */
const LOAD_AFTER_MS = 1000

/** The tasks of operators over HTTP, on a listener of their own (threats.md ADM-01). Does not listen yet. */
export function createAdminApp({ context, host, trustedProxies, plainRoutes, log }: AdminAppOptions): Server {
  const proxies = openProxies(trustedProxies, () => context.record({ event: 'forwarded-address.unreadable' }))
  const findRoute = openLazyRoutes([...plainRoutes, openapiRoute(context.version)])
  const connections = openConnections(proxies, connectionLimits('admin'))
  const serving: AdminServing = {
    connections,
    context,
    log,
    findRoute,
    isLoopback: isLoopbackHost(host),
    gate: openGate({ issuer: context.issuer, proxies }),
    scheduler: openScheduler(),
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
 * Tasks with their schemas are much of a start, and few servers are asked for one soon. They are loaded a moment later, or
 * when the first is asked for.
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

/** Whoever then asks for a task is told if that fails. */
async function loadTasks(findRoute: AdminServing['findRoute']): Promise<void> {
  await findRoute('').catch(() => undefined)
}

/** What the routes are is no secret, but this port tells nothing to strangers. */
function openapiRoute(version: string): PlainRoute {
  let body: string | undefined
  return {
    path: OPENAPI_PATH,
    access: 'administrator',
    // Made when somebody asks for it: few do, and a start would wait for it.
    async answer() {
      const { describeTasks } = await import('../../admin/openapi.ts')
      return { contentType: 'application/json', body: (body ??= JSON.stringify(describeTasks(version))) }
    },
  }
}
