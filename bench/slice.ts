/** What one process of the bench says to another. */

/** Where the requests of a slice get their bodies from. */
export type Bodies =
  /** The same every time. */
  | { readonly kind: 'same'; readonly body: string }
  /** `before`, nine digits that count up from `first`, `after`: no two are alike, and all are of one length. */
  | { readonly kind: 'numbered'; readonly before: string; readonly after: string; readonly first: number }
  /** Each is sent once; the slice ends early when none is left. */
  | { readonly kind: 'once'; readonly bodies: readonly string[] }
  /** `before` and a token, one for each connection; the next one is this member of the answer. */
  | { readonly kind: 'chain'; readonly before: string; readonly member: string; readonly tokens: readonly string[] }

/** Load on one server for a while: every connection sends a request, waits for the answer, sends the next. */
export interface Slice {
  readonly port: number
  readonly method: 'GET' | 'POST'
  readonly path: string
  /** Of the body; a GET has none. */
  readonly contentType: string
  readonly connections: number
  readonly seconds: number
  readonly bodies: Bodies
  /** Any other status ends the run. */
  readonly status: number
  /** Every answer must have this in its body. */
  readonly contains: string
  /** Whether two answers on a connection must never be alike. The bare server's always are. */
  readonly isFresh: boolean
}

export interface SliceResult {
  /** Answers within the time of the slice. */
  readonly answered: number
  /** How long that was. */
  readonly elapsedMs: number
  /** With those that came after it, because every request is waited for. */
  readonly total: number
  readonly p50Ms: number
  readonly p99Ms: number
  /** Processor time of the generator itself: when it comes near to the elapsed time, the generator was measured. */
  readonly generatorCpuMs: number
  /** The newest token of every connection; empty unless the bodies are a chain. */
  readonly tokens: readonly string[]
}

export type GeneratorMessage =
  | { readonly kind: 'ready' }
  | { readonly kind: 'done'; readonly result: SliceResult }
  | { readonly kind: 'failed'; readonly reason: string }

/** An answer as it came over the wire. */
export interface Answer {
  readonly status: number
  /** Names and values in turn, without those that Node.js puts on every answer by itself. */
  readonly headers: readonly string[]
  readonly body: string
}

export type BareMessage = { readonly kind: 'listening'; readonly port: number } | { readonly kind: 'answer-set' }
