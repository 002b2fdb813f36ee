import { isAscii, isUtf8 } from 'node:buffer'
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { invalidRequest, OAuthError } from '../protocol/errors.ts'
import { parseMediaType } from '../base/message.ts'
import { problem, type Problem } from '../base/validation.ts'
import { MAXIMA, type Maximum } from '../base/maxima.ts'

/** Gets a body as it arrives. */
export interface BodyReader {
  /** Returns false for a body that is refused. The stream then discards the rest. */
  readonly take: (piece: Buffer) => boolean
  readonly end: () => void
}

/** A request that gives its body to a reader without the events of a stream, which take a tenth of the time of a small request. */
export interface Handing {
  /** Returns false where some of the body has arrived, so that only the stream has all of it. */
  readonly handTo: (reader: BodyReader) => boolean
}

/**
 * Reads the whole body of a request. A body over the limit is discarded, whether or not Content-Length announced its size,
 * and rejected with the error of `tooLarge`. A request of a host's server, and one whose body has begun to arrive, is read as a stream.
 *
 * @throws OAuthError invalid_request, the error of `tooLarge`, and server_error when another part of the program has read the body
 */
export function readBody(
  message: IncomingMessage & Partial<Handing>,
  tooLarge: (problems: readonly Problem[]) => OAuthError,
  { most }: Pick<Maximum, 'most'> = MAXIMA.body,
): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    // Without a body there is no end event (optimizeEmptyRequests).
    if (!hasBody(message)) return resolve(EMPTY)
    if (message.readableDidRead || message.readableEnded) return reject(new OAuthError('server_error', 'body_consumed'))
    // The caller closed the connection before the server of a host passed the request on. No event follows.
    if (message.destroyed) return reject(invalidRequest('parameter_malformed'))
    let body: Buffer = EMPTY
    let length = 0
    const refuse = (): void => {
      message.off('data', take).resume()
      const ctx = { max_bytes: most }
      reject(tooLarge([problem(['body'], 'too_large', 'The body is too large.', null, ctx)]))
    }
    const take = (piece: Buffer): boolean => {
      if (length + piece.length > most) {
        refuse()
        return false
      }
      body = length === 0 ? piece : append(body, length, piece)
      length += piece.length
      return true
    }
    // The caller closed the connection before the end of the body.
    message.on('error', () => reject(invalidRequest('parameter_malformed')))
    if (Number(message.headers['content-length']) > most) return refuse()
    const end = (): void => resolve(length === body.length ? body : body.subarray(0, length))
    if (message.handTo?.({ take, end }) !== true) message.on('data', take).on('end', end)
  })
}

/**
 * The text of a form or of JSON. Both are UTF-8, whatever `charset` says (RFC 6749 appendix B, RFC 8259 §8.1), and a body whose
 * Content-Type says otherwise is refused unless it is ASCII, which all charsets of `isMediaType` read alike. Returns undefined for other bytes.
 */
export function decodeBody(body: Buffer, { 'content-type': type = '' }: IncomingHttpHeaders): string | undefined {
  if (isAscii(body)) return body.toString('latin1')
  if (!isUtf8(body)) return undefined
  return /^utf-?8$/.test(parseMediaType(type)?.charset ?? 'utf-8') ? body.toString('utf8') : undefined
}

/** Discards the body of a request as it arrives. Otherwise Node.js would keep it until the answer is sent. */
export function discardBody(message: IncomingMessage): void {
  if (hasBody(message)) message.resume()
}

/** RFC 9112 §6.3. */
function hasBody({ headers }: IncomingMessage): boolean {
  return headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined
}

/**
 * Copies a piece into a buffer that doubles when it is full. A separate buffer for a piece of one byte would take hundreds
 * of bytes (threats.md NET-18).
 */
function append(body: Buffer, length: number, piece: Buffer): Buffer {
  const needed = length + piece.length
  const grown = needed <= body.length ? body : Buffer.concat([body], Math.max(needed, 2 * length, LEAST_BUFFER))
  grown.set(piece, length)
  return grown
}

const EMPTY = Buffer.alloc(0)
/** Bytes. */
const LEAST_BUFFER = 256
