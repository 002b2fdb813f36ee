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
export function isHeaderList(text: string): boolean {
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
