import type { Config } from '../config/config.ts'
import { ENDPOINTS } from '../endpoints/index.ts'
import type { PlainRoute } from '../http/admin/routes.ts'
import { logChanges } from './audit.ts'
import type { Log } from './log.ts'
import { EXPOSITION_TYPE } from '../metrics/exposition.ts'
import { openMetrics, type Metrics } from '../metrics/metrics.ts'
import type { Traces } from '../metrics/traces.ts'
import type { RequestObserver, StoreObserver } from '../ports/observers.ts'
import { optionalPackages } from './version.ts'

/** The metrics of one server, its traces if they are configured, and its log of administrative changes. */
export interface Telemetry {
  readonly requests: RequestObserver
  readonly store: StoreObserver
  readonly metrics: Metrics
  readonly close: () => Promise<void>
}

/** Opens metrics and traces. Without a collector, OpenTelemetry is not even loaded. */
export async function openTelemetry({ traces }: Config, version: string, logger: Log): Promise<Telemetry> {
  const names = new Set(ENDPOINTS.map(({ name }) => name))
  const metrics = openMetrics(version, [...names, 'admin', 'console'])
  const tracing = traces === undefined ? undefined : await startTracing({ ...traces, version }, logger)
  return {
    metrics,
    requests: {
      around: tracing?.requests.around,
      answered:
        tracing === undefined
          ? metrics.countRequest
          : (answer) => {
              metrics.countRequest(answer)
              tracing.requests.answered(answer)
            },
    },
    store: {
      ...metrics.storeObserver,
      mark: tracing === undefined ? () => undefined : tracing.store.mark,
      committed(report) {
        metrics.storeObserver.committed(report)
        tracing?.store.committed(report)
        logChanges(logger, report)
      },
    },
    async close() {
      metrics.close()
      await tracing?.close()
    },
  }
}

async function startTracing(
  options: NonNullable<Config['traces']> & { readonly version: string },
  logger: Log,
): Promise<Traces> {
  const { openTraces } = await import('../metrics/traces.ts').catch(explainMissing)
  return openTraces({
    ...options,
    onChange(state, cause) {
      if (state === 'sent') logger.info({ event: 'traces.export-resumed' })
      else logger.warn({ event: 'traces.export-failed', err: cause })
    },
  })
}

/** @throws Error that says what to install, if the packages of OpenTelemetry, optional peer dependencies, are missing */
function explainMissing(cause: NodeJS.ErrnoException): never {
  if (cause.code !== 'ERR_MODULE_NOT_FOUND') throw cause
  throw new Error(
    `A collector of traces is configured, and the packages of OpenTelemetry are not installed. Install them, or unset OTEL_EXPORTER_OTLP_ENDPOINT: npm install ${optionalPackages().join(' ')}`,
    { cause },
  )
}

/** The route that Prometheus scrapes, on the listener of the administration only (threats.md ADM-10). */
export function metricsRoute(scrape: () => Promise<string>): PlainRoute {
  const answer = async () => ({ contentType: EXPOSITION_TYPE, body: await scrape() })
  return { path: '/metrics', access: 'machine', answer }
}
