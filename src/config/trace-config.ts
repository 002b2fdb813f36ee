/** Where traces go. */
export interface TraceConfig {
  /** Where spans are posted to, whole. */
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly serviceName: string
  readonly ratio: number
}

/** A name of RFC 9110 §5.6.2, and a value of visible characters and spaces; what else belongs in it is percent-encoded. */
const HEADER = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+\s*=(?:[ !-$&-~]|%(?:[2-6][0-9a-fA-F]|7[0-9a-eA-E]))*$/

/** Whether a text is a list of headers as OTEL_EXPORTER_OTLP_HEADERS has them. */
export function isHeaderList(text: string): boolean {
  return pairsOf(text).every((pair) => HEADER.test(pair))
}

/** `name=value,name=value`, with the values decoded. */
export function parseHeaderList(text: string | undefined): Readonly<Record<string, string>> {
  if (text === undefined) return {}
  return Object.fromEntries(
    pairsOf(text).map((pair): [string, string] => {
      const [name = '', ...value] = pair.split('=')
      return [name.trim(), decodeURIComponent(value.join('=').trim())]
    }),
  )
}

/** As exporters of OpenTelemetry do it: the path of traces is put after the address of a collector. */
export function tracesBelow(endpoint: string): string {
  return `${endpoint.replace(/\/$/, '')}/v1/traces`
}

function pairsOf(text: string): readonly string[] {
  return text.split(',').map((pair) => pair.trim())
}
