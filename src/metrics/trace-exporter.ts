import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto'
import type { SpanExporter } from '@opentelemetry/sdk-trace'

export interface ExportOptions {
  /** Where spans are posted to, whole. */
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  /** Told when spans could not be sent, and when they can be again. */
  readonly onChange: (state: 'lost' | 'sent', cause: Error | undefined) => void
}

/** With its retries, one sending. Spans that come meanwhile wait, 2048 at most; what is more is lost. */
const TIMEOUT_MS = 3000

/** OTLP over HTTP. Says once that a collector is away, and once that it is back. */
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
