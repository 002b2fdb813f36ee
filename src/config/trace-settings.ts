import * as z from 'zod'
import { computed, secret } from './setting.ts'
import { isHeaderList } from './trace-config.ts'
import { link } from './value-schemas.ts'

/** The settings of tracing, rows of the table in schema.ts. */
export const TRACE_ROWS = {
  OTEL_EXPORTER_OTLP_ENDPOINT: computed(
    link,
    'Collector that OpenTelemetry traces are sent to by OTLP over HTTP, at /v1/traces below this address. Tracing is off while it is unset.',
  ),
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: computed(
    link,
    'Complete address of the collector. It takes precedence over OTEL_EXPORTER_OTLP_ENDPOINT.',
  ),
  OTEL_EXPORTER_OTLP_HEADERS: secret(
    computed(
      z.string().refine(isHeaderList, 'must be name=value pairs, separated by commas').optional(),
      'Headers for the collector, as name=value pairs, separated by commas, with values percent-encoded.',
    ),
  ),
  OTEL_SERVICE_NAME: computed(z.string().min(1).default('grantor'), 'Name of this service in traces.'),
  GRANTOR_TRACE_RATIO: computed(
    z.coerce.number().min(0).max(1).default(1),
    'Share of requests that are traced, from 0 to 1.',
  ),
}
