import type { Socket } from 'node:net'
import { IncomingMessage, ServerResponse } from '../http/node-http.ts'

/** A request that did not come from a server of `node:http`, in the form that such a server would give it. */
export interface ForeignRequest {
  readonly method: string
  /** The path with the query. */
  readonly target: string
  /** Each name once, in lower case. */
  readonly headers: Iterable<readonly [name: string, value: string]>
  /** undefined: the request has no body, or it cannot be read again. */
  readonly body: AsyncIterable<Uint8Array> | undefined
  /** Another part of the program has read the body. */
  readonly isRead: boolean
  /** The address of the peer. */
  readonly address: string
  readonly isEncrypted: boolean
}

/** What the listener answered. */
export interface Answer {
  readonly status: number
  readonly headers: readonly (readonly [name: string, value: string])[]
  readonly body: string
}

/** A foreign request as the message that the listener reads. */
export class ForeignMessage extends IncomingMessage {
  readonly #pieces: AsyncIterator<Uint8Array> | undefined

  constructor({ method, target, headers, body, isRead, address, isEncrypted }: ForeignRequest) {
    // The listener reads these two members of a socket.
    super({ remoteAddress: address, encrypted: isEncrypted } as unknown as Socket)
    this.method = method
    this.url = target
    this.httpVersion = '1.1'
    const pairs = [...headers]
    this.rawHeaders = pairs.flat()
    this.headers = Object.fromEntries(pairs)
    this.complete = true
    this.#pieces = body?.[Symbol.asyncIterator]()
    if (isRead) Object.defineProperty(this, 'readableDidRead', { value: true })
    // The header by which the listener finds that there is a body. Requests of Fetch may have neither.
    if ((body !== undefined || isRead) && this.headers['content-length'] === undefined)
      this.headers['transfer-encoding'] = 'chunked'
  }

  override _read(size: number): void {
    // Node.js asks for more pieces only after its own method was called.
    super._read(size)
    if (this.#pieces === undefined) return void this.push(null)
    this.#pieces
      .next()
      .then(({ done, value }) => void this.push(done === true ? null : Buffer.from(value)))
      .catch((cause: Error) => void this.destroy(cause))
  }

  /** As that of Node.js: an error that has no listener, because the body is discarded, would end the process of the host. */
  override _destroy(cause: Error | null, done: (cause?: Error | null) => void): void {
    done(this.listenerCount('error') === 0 ? null : cause)
  }
}

const BODILESS: ReadonlySet<number> = new Set([204, 304])
/** RFC 9110 §7.6.1: it is about a connection, which is not this program's. */
const CONNECTION = 'connection'

/** Collects what the listener writes. */
export class CollectedResponse extends ServerResponse {
  readonly #answered = Promise.withResolvers<Answer>()
  readonly answer: Promise<Answer> = this.#answered.promise
  #headers: Answer['headers'] = []

  override writeHead(status: number, ...rest: readonly unknown[]): this {
    const flat = rest.find((one) => Array.isArray(one)) as readonly string[] | undefined
    this.statusCode = status
    this.#headers = pairsOf(flat ?? [])
    return this
  }

  override end(...parameters: readonly unknown[]): this {
    const [text = ''] = parameters
    const hasBody = this.req.method !== 'HEAD' && !BODILESS.has(this.statusCode)
    const headers = this.#headers.filter(([name]) => name.toLowerCase() !== CONNECTION)
    this.#answered.resolve({ status: this.statusCode, headers, body: hasBody ? (text as string) : '' })
    return this
  }

  /** The listener could not even write a refusal. */
  override destroy(): this {
    this.#answered.resolve({ status: 500, headers: [], body: '' })
    return this
  }
}

function pairsOf(flat: readonly string[]): Answer['headers'] {
  return Array.from({ length: flat.length / 2 }, (_, index) => [flat[2 * index] ?? '', flat[2 * index + 1] ?? ''])
}
