/** More lines of the header, which are made for this slice: a proof is valid for a minute. */
type HeaderLines = readonly string[]

/** The source of the request bodies of a slice. */
export type Bodies =
  /** The same every time. */
  | {
      readonly kind: 'same'
      readonly body: string
      readonly headers?: HeaderLines
    }
  /** `before`, nine digits that count up from `first`, `after`: all bodies differ and have the same length. */
  | { readonly kind: 'numbered'; readonly before: string; readonly after: string; readonly first: number }
  /** Each body is sent once. The slice ends early if none is left. */
  | { readonly kind: 'once'; readonly bodies: readonly string[]; readonly headers?: HeaderLines }
  /** `before` and a token. Each connection has its own token, and takes the next one from this member of the answer. */
  | { readonly kind: 'chain'; readonly before: string; readonly member: string; readonly tokens: readonly string[] }

/** A request without its body, and the answers that are right. */
export interface RequestKind {
  readonly method: 'GET' | 'POST'
  readonly path: string
  /** The type of the body. A GET has none. */
  readonly contentType: string
  readonly status: number
  /** Text that the body of every right answer contains. */
  readonly contains: string
}

/** Load on one server for a limited time. Every connection sends a request, waits for the answer and sends the next one. */
export interface Slice extends RequestKind {
  readonly port: number
  readonly connections: number
  readonly seconds: number
  readonly bodies: Bodies
  /** Whether consecutive answers on a connection must differ. Those of the bare server are always equal. */
  readonly isFresh: boolean
}

export interface SliceResult {
  /** Answers within the time of the slice, at least one. */
  readonly answered: number
  /** The duration of the slice. */
  readonly elapsedMs: number
  /** All answers, including those after the end of the slice, because the slice waits for every request. */
  readonly total: number
  readonly p50Ms: number
  readonly p99Ms: number
  /** Processor time of the generator itself. If it is close to the elapsed time, the generator was the bottleneck. */
  readonly generatorCpuMs: number
  /** The newest token of every connection. Empty unless the bodies are a chain. */
  readonly tokens: readonly string[]
}

/** An answer as received. */
export interface Answer {
  readonly status: number
  /** Names and values in turn, without the headers that Node.js adds to every answer. */
  readonly headers: readonly string[]
  readonly body: string
}

/** Headers that every Node.js server sends automatically. */
const AUTOMATIC = new Set(['date', 'connection', 'keep-alive'])

/** Removes automatic headers from names and values in turn. */
export function ownHeaders(rawHeaders: readonly string[]): readonly string[] {
  return rawHeaders.filter((_, index) => !AUTOMATIC.has(rawHeaders[index - (index % 2)]?.toLowerCase() ?? ''))
}
