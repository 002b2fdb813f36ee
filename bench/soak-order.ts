/** What the process that makes the load of a soak is told, and says. */

export interface SoakOrder {
  readonly port: number
  readonly connections: number
  /** Requests a second of all connections together. undefined: as fast as the answers come. */
  readonly rate: number | undefined
  /** How long a person's session is used before the person signs in again, with another client. */
  readonly visitSeconds: number
}

/** `start` once, then `read` again and again, then `stop`. Each is answered. */
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

/** What came back since it was read the last time. */
export interface SoakInterval {
  readonly endpoints: readonly EndpointTimes[]
  /** Of all time; the first of them in words. */
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
