import type { Server as HttpServer } from 'node:http'
import type { Config } from '../config/config.ts'
import { createAdminApp } from '../http/admin/app.ts'
import { listen, type Listening } from '../http/listen.ts'
import type { Log } from './log.ts'
import { metricsRoute, type Telemetry } from './telemetry.ts'
import type { Context } from '../ports/context.ts'
import type { EventFields } from '../protocol/event-names.ts'

/** The tasks of operators, and what machines read beside them. */
export function openAdmin(
  { admin, trustedProxies }: Config,
  context: Context,
  logger: Log,
  watch: Telemetry,
  scrape: () => Promise<string>,
): HttpServer | undefined {
  if (admin === undefined) return undefined
  const log = logAnswers(logger)
  return createAdminApp({
    context,
    host: admin.host,
    trustedProxies,
    plainRoutes: [metricsRoute(scrape)],
    log(line, cause) {
      log(line, cause)
      watch.metrics.countRequest({ ...line, endpoint: 'admin', method: undefined, path: undefined })
    },
  })
}

/** A port that is taken keeps the server from starting only where somebody chose it: others may run what they like there. */
export async function listenForAdmin(
  server: HttpServer,
  { admin }: Config,
  logger: Log,
): Promise<readonly Listening[]> {
  if (admin === undefined) return []
  try {
    return [await listen(server, admin)]
  } catch (cause) {
    if (admin.isChosen || (cause as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw cause
    logger.warn({ event: 'admin.not-listening', port: admin.port, reason: 'taken', setting: 'GRANTOR_ADMIN_PORT' })
    return []
  }
}

/** A line for each answered request; with its cause where there was a fault. */
export function logAnswers(logger: Log): (line: EventFields, cause: unknown) => void {
  return (line, cause) => {
    if (cause !== undefined) logger.error({ ...line, err: cause })
    else logger.info(line)
  }
}
