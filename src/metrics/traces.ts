import { AsyncLocalStorage } from 'node:async_hooks'
import { randomUUID } from 'node:crypto'
import {
  isSpanContextValid,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
  type Attributes,
  type Context,
  type Span,
  type Tracer,
} from '@opentelemetry/api'
import { resourceFromAttributes } from '@opentelemetry/resources'
import {
  BatchSpanProcessor,
  ParentBasedSampler,
  SamplingDecision,
  TracerProvider,
  type Sampler,
} from '@opentelemetry/sdk-trace'
import type { Answered, BatchReport, RequestObserver, StoreObserver } from '../ports/observers.ts'
import { openExporter, type ExportOptions } from './trace-exporter.ts'

export interface TraceOptions extends ExportOptions {
  readonly serviceName: string
  readonly version: string
  /** The share of requests that are traced, from 0 to 1. */
  readonly ratio: number
}

export interface Traces {
  readonly requests: RequestObserver
  readonly store: Pick<StoreObserver, 'mark' | 'committed'>
  /** Sends the remaining spans, within a time limit. */
  readonly close: () => Promise<void>
}

/** The time limit of `close`. A stop has half a second left when everything else took as long as it may (cli/serve/close-on-signal.ts). */
const FLUSH_LIMIT_MS = 400
/** The most links that one span has. */
const LINK_LIMIT = 128
/** RFC 9110 §9, RFC 5789. Any other method is `_OTHER`, as the semantic conventions require. */
const METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS'])
const TRACEPARENT = /^(?!ff)[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(?:-.*)?$/

/**
 * Creates a span for each request, for each store operation of the request, and for each batch that the store commits. Spans
 * contain only names of the server's own, and nothing that a caller sent (threats.md NET-10).
 *
 * Each request is sampled by chance, also in a trace that a caller started: a caller chooses the flag and the id of its trace,
 * so neither may cause more spans than the operator wants. The operations of a request are sampled with the request.
 */
export function openTraces(options: TraceOptions): Traces {
  const provider = new TracerProvider({
    resource: resourceFromAttributes({
      'service.name': options.serviceName,
      'service.version': options.version,
      'service.instance.id': randomUUID(),
      'process.pid': process.pid,
    }),
    sampler: sampleByChance(options.ratio),
    spanProcessors: [new BatchSpanProcessor({ exporter: openExporter(options) })],
  })
  const tracer = provider.getTracer('grantor', options.version)
  const current = new AsyncLocalStorage<Span>()
  return {
    requests: {
      around({ method, traceparent }, work) {
        const kind = SpanKind.SERVER
        const span = tracer.startSpan(knownMethod(method), { kind }, parentOf(traceparent))
        return current.run(span, work).finally(() => span.end())
      },
      answered(answer) {
        const span = current.getStore()
        if (span?.isRecording() === true) describeRequest(span, answer)
      },
    },
    store: {
      mark: () => current.getStore(),
      committed: (report) => traceBatch(tracer, report),
    },
    async close() {
      let timer: NodeJS.Timeout | undefined
      const timeout = new Promise<void>((resolve) => void (timer = setTimeout(resolve, FLUSH_LIMIT_MS)))
      // The exporter has reported a failure already.
      await Promise.race([provider.shutdown().then(undefined, () => undefined), timeout])
      clearTimeout(timer)
    },
  }
}

function sampleByChance(ratio: number): Sampler {
  const { NOT_RECORD, RECORD_AND_SAMPLED } = SamplingDecision
  const chance: Sampler = {
    shouldSample: () => ({ decision: Math.random() < ratio ? RECORD_AND_SAMPLED : NOT_RECORD }),
    toString: () => `Chance{${ratio}}`,
  }
  return new ParentBasedSampler({ root: chance, remoteParentSampled: chance, remoteParentNotSampled: chance })
}

/** W3C Trace Context §3.2. A malformed header is ignored. */
function parentOf(traceparent: unknown): Context {
  const [, traceId = '', spanId = '', flags = ''] =
    TRACEPARENT.exec(typeof traceparent === 'string' ? traceparent : '') ?? []
  const parent = { traceId, spanId, traceFlags: Number.parseInt(flags, 16) & 1, isRemote: true }
  return isSpanContextValid(parent) ? trace.setSpanContext(ROOT_CONTEXT, parent) : ROOT_CONTEXT
}

/** Sets the attributes of the semantic conventions for HTTP servers, but not the address and the query, which may hold secrets. */
function describeRequest(span: Span, { endpoint, event, reason, requestId, status, method, path }: Answered): void {
  const verb = knownMethod(method)
  span.updateName(path === undefined ? verb : `${verb} ${path}`)
  span.setAttributes({
    'http.request.method': verb,
    'http.response.status_code': status,
    'grantor.endpoint': endpoint,
    'grantor.outcome': event,
    'grantor.request_id': requestId,
    ...(path === undefined ? {} : { 'http.route': path }),
    ...(reason === undefined ? {} : { 'grantor.reason': reason }),
    ...(status >= 500 ? { 'error.type': reason ?? String(status) } : {}),
  })
  if (status >= 500) span.setStatus({ code: SpanStatusCode.ERROR })
}

function knownMethod(method: string | undefined): string {
  return method !== undefined && METHODS.has(method) ? method : '_OTHER'
}

/** A batch is a trace of its own, because it belongs to many requests. Each operation is a span in the trace of its request. */
function traceBatch(tracer: Tracer, { batch, results, startedAt, endedAt }: BatchReport): void {
  const operations = batch.flatMap(({ asked, since, mark }, place) => {
    if (mark === undefined) return []
    const isDone = results?.[place]?.kind === 'done'
    const parent = trace.setSpan(ROOT_CONTEXT, mark as Span)
    const span = tracer.startSpan(`store ${asked.name}`, { startTime: since }, parent)
    return [ended(span, { 'grantor.operation': asked.name, 'grantor.waited_ms': startedAt - since }, isDone, endedAt)]
  })
  const links = operations.slice(0, LINK_LIMIT).map((span) => ({ context: span.spanContext() }))
  const commit = tracer.startSpan('store commit', { startTime: startedAt, links, root: true }, ROOT_CONTEXT)
  ended(commit, { 'grantor.batch.operations': batch.length }, results !== undefined, endedAt)
}

function ended(span: Span, attributes: Attributes, isDone: boolean, endedAt: number): Span {
  span.setAttributes(attributes)
  if (!isDone) span.setStatus({ code: SpanStatusCode.ERROR })
  span.end(endedAt)
  return span
}
