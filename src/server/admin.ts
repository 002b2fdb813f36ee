import type { Server as HttpServer } from 'node:http'
import type { Config } from '../config/config.ts'
import { createAdminApp } from '../http/admin/app.ts'
import { listen, type Listening } from '../http/listen.ts'
import type { Log } from './log.ts'
import type { Platform } from './platform.ts'
import { metricsRoute, type Telemetry } from './telemetry.ts'
import type { Context } from '../ports/context.ts'
import type { EventFields } from '../protocol/audit/event-names.ts'

/** Creates the listener of the administration: the tasks of operators, and /metrics. Returns undefined when it is off. */
export function openAdmin(
  { admin, trustedProxies, settings: { consoleUrl }, branding }: Config,
  context: Context,
  { logger, pageGapMs }: Pick<Platform, 'logger' | 'pageGapMs'>,
  telemetry: Telemetry,
  scrape: () => Promise<string>,
): HttpServer | undefined {
  if (admin === undefined) return undefined
  const log = logAnswers(logger)
  return createAdminApp({
    context,
    host: admin.host,
    trustedProxies,
    plainRoutes: [metricsRoute(scrape)],
    pageGapMs,
    console: consoleUrl === undefined ? undefined : { origin: consoleUrl, branding },
    log(line, cause) {
      log(line, cause)
      telemetry.metrics.countRequest({
        ...line,
        requestId: line.request_id,
        endpoint: line.task.startsWith('console') ? 'console' : 'admin',
        method: undefined,
        path: undefined,
      })
    },
  })
}

/**
 * Listens for the administration. If the default port is taken, the server starts without the administration, because any
 * program may be using that port. A configured port that is taken is an error. undefined: there is no administration.
 */
export async function listenForAdmin(
  server: HttpServer | undefined,
  { admin }: Config,
  logger: Log,
): Promise<readonly Listening[] | undefined> {
  if (server === undefined || admin === undefined) return undefined
  try {
    return [await listen(server, admin)]
  } catch (cause) {
    if (admin.isChosen || (cause as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw cause
    logger.warn({ event: 'admin.not-listening', port: admin.port, reason: 'taken', setting: 'GRANTOR_ADMIN_PORT' })
    return []
  }
}

/**
 * Logs each request, with the cause of a failure if there is one. A load balancer sends a health check each second, so a check that finds no
 * fault, or the same fault as the check before, is logged at `debug`. One that finds another fault is a refusal.
 */
export function logAnswers(logger: Log): (line: EventFields, cause: unknown) => void {
  let fault: string | undefined
  return (line, cause) => {
    const { endpoint, reason } = line as Readonly<Record<string, unknown>>
    if (endpoint === 'ready') {
      const found = typeof reason !== 'string' ? undefined : `${reason} ${cause instanceof Error ? cause.message : ''}`
      const isKnown = found !== undefined && found === fault
      fault = found
      if (isKnown) return logger.debug({ ...line, err: cause })
    }
    if (cause !== undefined) logger.error({ ...line, err: cause })
    else if (line.event === 'ready.answered' || line.event === 'alive.answered') logger.debug(line)
    else logger.info(line)
  }
}
