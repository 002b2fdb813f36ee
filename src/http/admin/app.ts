import type { Server } from 'node:http'
import { describeTasks } from '../../admin/openapi.ts'
import { TASKS } from '../../admin/tasks.ts'
import type { Context } from '../../ports/context.ts'
import { isLoopbackHost } from '../../protocol/loopback.ts'
import { SILENCE_TIMEOUT_MS, TIMEOUTS } from '../app.ts'
import { refuseBytes } from '../broken-request.ts'
import { openGate } from '../gate.ts'
import { createServer } from '../node-http.ts'
import { openProxies } from '../proxies.ts'
import { openTurnEnd } from '../turn-end.ts'
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

/** The tasks of operators over HTTP, on a listener of their own (threats.md ADM-01). Does not listen yet. */
export function createAdminApp({ context, host, trustedProxies, plainRoutes, log }: AdminAppOptions): Server {
  const proxies = openProxies(trustedProxies)
  const serving: AdminServing = {
    context,
    log,
    proxies,
    isLoopback: isLoopbackHost(host),
    findRoute: openAdminRoutes(TASKS, [...plainRoutes, openapiRoute(context.version)]),
    gate: openGate({ issuer: context.issuer, proxies }),
    turnEnd: openTurnEnd(),
  }
  return createServer(
    { ...TIMEOUTS, optimizeEmptyRequests: true },
    (message, response) => void serveAdmin(serving, message, response).catch(() => response.destroy()),
  )
    .on('clientError', refuseBytes)
    .setTimeout(SILENCE_TIMEOUT_MS)
}

/** What the routes are is no secret, but this port tells nothing to strangers. */
function openapiRoute(version: string): PlainRoute {
  let body: string | undefined
  return {
    path: OPENAPI_PATH,
    access: 'administrator',
    // Made when somebody asks for it: few do, and a start would wait for it.
    answer: async () => ({ contentType: 'application/json', body: (body ??= JSON.stringify(describeTasks(version))) }),
  }
}
