import * as z from 'zod'
import { computed, secret } from './setting.ts'
import { link } from './value-schemas.ts'

/** The settings of tracing. */
export interface TraceConfig {
  /** The complete address that spans are posted to. */
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly serviceName: string
  readonly ratio: number
}

/** A name as in RFC 9110 §5.6.2, and a value of visible characters and spaces. Other characters must be percent-encoded. */
const HEADER = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+\s*=(?:[ !-$&-~]|%(?:[2-6][0-9a-fA-F]|7[0-9a-eA-E]))*$/

/** Whether a text is a valid value of OTEL_EXPORTER_OTLP_HEADERS. */
function isHeaderList(text: string): boolean {
  return pairsOf(text).every((pair) => HEADER.test(pair))
}

/** Parses `name=value,name=value` and decodes the values. */
export function parseHeaderList(text: string | undefined): Readonly<Record<string, string>> {
  if (text === undefined) return {}
  return Object.fromEntries(
    pairsOf(text).map((pair): [string, string] => {
      const [name = '', ...value] = pair.split('=')
      return [name.trim(), decodeURIComponent(value.join('=').trim())]
    }),
  )
}

/** Appends the path of traces to the address of a collector, as OpenTelemetry exporters do. */
export function tracesBelow(endpoint: string): string {
  return `${endpoint.replace(/\/$/, '')}/v1/traces`
}

function pairsOf(text: string): readonly string[] {
  return text.split(',').map((pair) => pair.trim())
}

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
