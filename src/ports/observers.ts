import type { OperationResult } from './store.ts'
import type { Operation } from './operations/index.ts'
import type { EventName } from '../protocol/audit/event-names.ts'

/** Interfaces of metrics and traces. An observer must not throw, and never gets a parameter, a token or a secret. */

/** An answered request, described without any text of the caller. */
export interface Answered {
  /** The name of a row of the endpoint table; `none` if the request matched no row. */
  readonly endpoint: string
  /** The name of the event that the log has for this request. */
  readonly event: EventName
  /** A reason of docs/errors.md, or one that belongs to the event. */
  readonly reason: string | undefined
  readonly status: number
  readonly ms: number
  /** As in the log. */
  readonly requestId: string
  readonly method: string | undefined
  /** The path of the row; undefined if the request matched no row. */
  readonly path: string | undefined
  /** For an introspection: the declared API that asked (undefined if a client asked), and the `active` of the response. */
  readonly api?: string | undefined
  readonly active?: boolean | undefined
}

/**
 * An event of the HTTP server: a request came from a loopback address that is not a trusted proxy, and has `X-Forwarded-For`.
 * A proxy on this machine that GRANTOR_TRUST_PROXY does not name makes all callers share the limits of one network.
 */
export const FORWARDED_ADDRESS_IGNORED = 'forwardedAddressIgnored'

/**
 * Another one: a trusted proxy sent a POST, and named no caller in `X-Forwarded-For`. All its callers share the limits of one network, which is no
 * caller's own. Other methods do not count: programs on the machine of the proxy read documents and the health.
 */
export const FORWARDED_ADDRESS_MISSING = 'forwardedAddressMissing'

export interface RequestObserver {
  /** Runs the request handler inside a trace context. undefined when tracing is off. */
  readonly around:
    | ((
        request: { readonly method: string | undefined; readonly traceparent: unknown },
        work: () => Promise<void>,
      ) => Promise<void>)
    | undefined
  /** Called once for each request, before or after its response is sent. */
  readonly answered: (answer: Answered) => void
}

/** How much work the store has now. */
export interface QueueDepth {
  /** Operations that wait for a batch. */
  readonly waiting: number
  /** Batches that are being committed. */
  readonly inFlight: number
}

/** One operation of a batch, with the time at which it was queued. */
export interface AskedOperation {
  readonly asked: Operation
  /** On the clock of `performance`. */
  readonly since: number
  /** What `mark` returned when the operation was queued. */
  readonly mark: unknown
}

/** A batch that was committed or has failed. */
export interface BatchReport {
  readonly batch: readonly AskedOperation[]
  /** undefined: it is unknown what the database committed. */
  readonly results: readonly OperationResult[] | undefined
  /** On the clock of `performance`. */
  readonly startedAt: number
  readonly endedAt: number
}

export interface StoreObserver {
  /** Called once, with a function that returns the current depth of the queue. */
  readonly opened: (depth: () => QueueDepth) => void
  /**
   * Called for each operation when it is queued, in the caller's async context. The result is handed back in the batch
   * report.
   */
  readonly mark: () => unknown
  readonly committed: (report: BatchReport) => void
  /** Called when operations were refused before the database saw them: the queue was full, or they waited too long. */
  readonly refused: (reason: 'full' | 'late', count: number) => void
}
