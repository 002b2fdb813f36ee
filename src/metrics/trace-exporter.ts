import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto'
import type { SpanExporter } from '@opentelemetry/sdk-trace'

export interface ExportOptions {
  /** The complete address that spans are posted to. */
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  /** Called when spans cannot be sent, and when they can be sent again. */
  readonly onChange: (state: 'lost' | 'sent', cause: Error | undefined) => void
}

/** The limit of one export with its retries. Meanwhile at most 2048 spans wait; further ones are lost. */
const TIMEOUT_MS = 3000

/** Exports spans by OTLP over HTTP. Reports once that the collector is unavailable, and once that it is available again. */
export function openExporter({ url, headers, onChange }: ExportOptions): SpanExporter {
  const exporter = new OTLPTraceExporter({ url, headers: { ...headers }, timeoutMillis: TIMEOUT_MS })
  let state: 'lost' | 'sent' = 'sent'
  return {
    export(spans, done) {
      exporter.export(spans, (result) => {
        const now = result.error === undefined ? 'sent' : 'lost'
        if (now !== state) onChange(now, result.error)
        state = now
        done(result)
      })
    },
    forceFlush: () => exporter.forceFlush(),
    shutdown: () => exporter.shutdown(),
  }
}
