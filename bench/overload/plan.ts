import type { Times } from '../../tools/statistics.ts'
import type { Answer, Bodies, RequestKind } from '../load/slice.ts'

/** One kind of request of a load. */
export interface OverloadRequest extends RequestKind {
  readonly name: string
  readonly bodies: Bodies
  /** Whether 503 with Retry-After is also a right answer. */
  readonly maybeShed: boolean
}

/** A load of limited duration that sends requests of several kinds in turn. */
export interface OverloadPlan {
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
  readonly sent: number
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

/** The times of all answers of one kind, from when the request was due. Without a rate, from when it was written. */
export interface KindTimes extends Times {
  readonly name: string
  readonly kind: 'served' | 'shed'
  /** Answers per second before the end of the load. */
  readonly perSecond: number
  /** The share that was answered within fifty milliseconds. */
  readonly soonShare: number
}
