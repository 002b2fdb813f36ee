import type { Answer, Slice } from './slice.ts'

/** What the process that makes too much load is told, and says. */

/** One kind of request of a load. */
export interface OverloadRequest extends Pick<
  Slice,
  'method' | 'path' | 'contentType' | 'bodies' | 'status' | 'contains'
> {
  readonly name: string
  /** Whether 503 with Retry-After is a right answer, too. */
  readonly maybeShed: boolean
}

/** Load for a while, by requests of several kinds in turn. */
export interface OverloadOrder {
  readonly port: number
  readonly connections: number
  /** Where the connections come from, in turn: addresses of this machine, each a network of its own to the server. */
  readonly addresses: readonly string[]
  readonly seconds: number
  /** Requests that are due in a second, whatever becomes of them. undefined: each connection asks again when it is answered. */
  readonly rate: number | undefined
  readonly requests: readonly OverloadRequest[]
}

export interface OverloadResult {
  readonly seconds: number
  readonly asked: number
  readonly kinds: readonly KindTimes[]
  /** From the moment when a request was due until it was written: the load's own share of all times. Zero without a rate. */
  readonly lateP99Ms: number
  /** From the end of the load until a request on another connection was answered as it must be. */
  readonly recoveredMs: number
  /** Answers that were neither right nor a 503 with Retry-After, connections that were cut, requests without an answer. */
  readonly wrong: number
  /** The first of them in words. */
  readonly wrongs: readonly string[]
  /** A 503, for the bare server to repeat. undefined: there was none. */
  readonly shed: Answer | undefined
  readonly generatorCpuMs: number
}

/** Of all answers of one kind. */
export interface KindTimes {
  readonly name: string
  readonly kind: 'served' | 'shed'
  readonly count: number
  /** Of them, those that came before the end of the load, by its seconds. */
  readonly perSecond: number
  /** From when the request was due, or without a rate from when it was written. */
  readonly p50Ms: number
  readonly p99Ms: number
  readonly worstMs: number
  /** The part that was answered within fifty milliseconds. */
  readonly soonShare: number
}

export type OverloadMessage =
  | { readonly kind: 'ready' }
  | { readonly kind: 'done'; readonly result: OverloadResult }
  | { readonly kind: 'failed'; readonly reason: string }
