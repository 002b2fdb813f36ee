import type { Answer, Slice } from './slice.ts'

/** The messages to and from the process that generates the overload. */

/** One kind of request of a load. */
export interface OverloadRequest extends Pick<
  Slice,
  'method' | 'path' | 'contentType' | 'bodies' | 'status' | 'contains'
> {
  readonly name: string
  /** Whether 503 with Retry-After is also a right answer. */
  readonly maybeShed: boolean
}

/** A load of limited duration that sends requests of several kinds in turn. */
export interface OverloadOrder {
  readonly port: number
  readonly connections: number
  /** The source addresses of the connections, used in turn. They belong to this machine, and each is a separate network to the server. */
  readonly addresses: readonly string[]
  readonly seconds: number
  /** Requests per second, independent of the answers. undefined: each connection sends the next request after an answer. */
  readonly rate: number | undefined
  readonly requests: readonly OverloadRequest[]
}

export interface OverloadResult {
  readonly seconds: number
  readonly asked: number
  readonly kinds: readonly KindTimes[]
  /** The time from when a request was due until it was written, which is the load's own share of all times. Zero without a rate. */
  readonly lateP99Ms: number
  /** The time from the end of the load until a request on another connection got a right answer. */
  readonly recoveredMs: number
  /** The number of wrong answers, cut connections and requests without an answer. A 503 with Retry-After is not wrong. */
  readonly wrong: number
  /** Descriptions of the first of them. */
  readonly wrongs: readonly string[]
  /** A 503 for the bare server to repeat. undefined: no request got one. */
  readonly shed: Answer | undefined
  readonly generatorCpuMs: number
}

/** The times of all answers of one kind. */
export interface KindTimes {
  readonly name: string
  readonly kind: 'served' | 'shed'
  readonly count: number
  /** Answers per second before the end of the load. */
  readonly perSecond: number
  /** The time from when the request was due. Without a rate, from when it was written. */
  readonly p50Ms: number
  readonly p99Ms: number
  readonly worstMs: number
  /** The share that was answered within fifty milliseconds. */
  readonly soonShare: number
}

export type OverloadMessage =
  | { readonly kind: 'ready' }
  | { readonly kind: 'done'; readonly result: OverloadResult }
  | { readonly kind: 'failed'; readonly reason: string }
