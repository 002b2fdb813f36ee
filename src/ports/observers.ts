import type { Settled } from './store.ts'
import type { Operation } from './operations.ts'

/** Who counts and traces. None of it may throw, and none of it sees a parameter, a token or a secret. */

/** An answered request, in words of ours only. */
export interface Answered {
  /** The name of a row of THE TABLE; `none` for what belongs to no row. */
  readonly endpoint: string
  /** What happened, as the log says it. */
  readonly event: string
  /** A slug of docs/errors.md, or what an event adds to itself. */
  readonly reason: string | undefined
  readonly status: number
  readonly ms: number
  readonly method: string | undefined
  /** The path of the row; undefined for what belongs to no row. */
  readonly path: string | undefined
  /** Of an introspection: the declared API that asked, undefined where a client did, and what it was told. */
  readonly api?: string | undefined
  readonly active?: boolean | undefined
}

export interface RequestObserver {
  /** Does what answers a request, so that what it asks for can be told to belong to it. undefined: it need not know. */
  readonly around:
    | ((
        request: { readonly method: string | undefined; readonly traceparent: unknown },
        work: () => Promise<void>,
      ) => Promise<void>)
    | undefined
  /** Told once of each request, before or after its answer is on its way. */
  readonly answered: (answer: Answered) => void
}

/** How much the store has to do at this moment. */
export interface QueueDepth {
  /** Operations that wait for a batch. */
  readonly waiting: number
  /** Batches that are being committed. */
  readonly inFlight: number
}

/** One operation of a batch. */
export interface AskedOperation {
  readonly asked: Operation
  /** On the clock of `performance`. */
  readonly since: number
  /** What `mark` answered when it was asked for. */
  readonly mark: unknown
}

/** A batch that is over. */
export interface BatchReport {
  readonly batch: readonly AskedOperation[]
  /** undefined: nobody knows what became of it. */
  readonly results: readonly Settled[] | undefined
  /** On the clock of `performance`. */
  readonly startedAt: number
  readonly endedAt: number
}

export interface StoreObserver {
  /** Told once, how to ask. */
  readonly opened: (depth: () => QueueDepth) => void
  /** Asked for each operation, in the course of who asks for it. */
  readonly mark: () => unknown
  readonly committed: (report: BatchReport) => void
  /** Operations that were refused before they were begun. */
  readonly refused: (reason: 'full' | 'late', count: number) => void
}
