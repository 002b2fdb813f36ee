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
  /** Of all traces, from 0 to 1. */
  readonly ratio: number
}

export interface Traces {
  readonly requests: RequestObserver
  readonly store: Pick<StoreObserver, 'mark' | 'committed'>
  /** Sends what is left, for so long at most. */
  readonly close: () => Promise<void>
}

/** A stop has half a second left when all else took as long as it may (cli/serve/close-on-signal.ts). */
const FLUSH_LIMIT_MS = 400
/** Links of one span. */
const LINK_LIMIT = 128
/** RFC 9110 §9, RFC 5789. Others are `_OTHER`, as the semantic conventions have it. */
const METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS'])
const TRACEPARENT = /^(?!ff)[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(?:-.*)?$/

/**
 * A span for each request, for each operation of the store that it asks for, and for each batch that the store commits. Made
 * of names of ours only: nothing that a caller sent stands in them (threats.md NET-10).
 *
 * The ratio decides for each request anew, also in a trace that a caller began: neither its flag nor its id, which a caller
 * chooses, has more sent than the operator wants. What a request asks for goes with it.
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
      const over = new Promise<void>((resolve) => void (timer = setTimeout(resolve, FLUSH_LIMIT_MS)))
      // What could not be sent was told by the exporter.
      await Promise.race([provider.shutdown().then(undefined, () => undefined), over])
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

/** W3C Trace Context §3.2. Whatever is malformed is as if it were not there. */
function parentOf(traceparent: unknown): Context {
  const [, traceId = '', spanId = '', flags = ''] =
    TRACEPARENT.exec(typeof traceparent === 'string' ? traceparent : '') ?? []
  const parent = { traceId, spanId, traceFlags: Number.parseInt(flags, 16) & 1, isRemote: true }
  return isSpanContextValid(parent) ? trace.setSpanContext(ROOT_CONTEXT, parent) : ROOT_CONTEXT
}

/** The semantic conventions for HTTP servers. Neither the address nor the query, which may hold secrets. */
function describeRequest(span: Span, { endpoint, event, reason, status, method, path }: Answered): void {
  const verb = knownMethod(method)
  span.updateName(path === undefined ? verb : `${verb} ${path}`)
  span.setAttributes({
    'http.request.method': verb,
    'http.response.status_code': status,
    'grantor.endpoint': endpoint,
    'grantor.outcome': event,
    ...(path === undefined ? {} : { 'http.route': path }),
    ...(reason === undefined ? {} : { 'grantor.reason': reason }),
    ...(status >= 500 ? { 'error.type': reason ?? String(status) } : {}),
  })
  if (status >= 500) span.setStatus({ code: SpanStatusCode.ERROR })
}

function knownMethod(method: string | undefined): string {
  return method !== undefined && METHODS.has(method) ? method : '_OTHER'
}

/** The batch is a trace of its own, because it belongs to many requests; each operation stands in its request's. */
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
