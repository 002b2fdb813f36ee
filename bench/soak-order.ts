/** The messages to and from the load process of a soak. */

export interface SoakOrder {
  readonly port: number
  readonly connections: number
  /** Requests per second of all connections together. undefined: each connection sends the next request after an answer. */
  readonly rate: number | undefined
  /** How long a user's session is used before the user signs in again with another client. */
  readonly visitSeconds: number
}

/** One `start`, then any number of `read`, then `stop`. Each gets an answer. */
export type SoakRequest =
  | { readonly kind: 'start'; readonly order: SoakOrder }
  | { readonly kind: 'read' }
  | { readonly kind: 'stop' }

export type SoakMessage =
  | { readonly kind: 'ready' }
  | { readonly kind: 'started' }
  | { readonly kind: 'interval'; readonly interval: SoakInterval }
  | { readonly kind: 'stopped' }
  | { readonly kind: 'failed'; readonly reason: string }

/** The results since the last `read`. */
export interface SoakInterval {
  readonly endpoints: readonly EndpointTimes[]
  /** Descriptions of the first failures since the start. */
  readonly failed: number
  readonly failures: readonly string[]
  readonly generatorCpuMs: number
}

export interface EndpointTimes {
  readonly name: string
  readonly count: number
  readonly p50Ms: number
  readonly p99Ms: number
  readonly worstMs: number
}
