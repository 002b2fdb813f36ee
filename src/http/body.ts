import type { IncomingMessage } from 'node:http'
import { invalidRequest, type OAuthError } from '../protocol/errors.ts'
import { problem, type Problem } from '../protocol/validation.ts'

/** Bytes. The largest registration that any known client sends is a tenth of it. */
const BODY_LIMIT = 16 * 1024

/**
 * The whole body of a request. What is over the limit is not kept, whether or not it was announced; `tooLarge` says it.
 *
 * @throws OAuthError invalid_request, and what `tooLarge` makes
 */
export function readBody(
  message: IncomingMessage,
  tooLarge: (problems: readonly Problem[]) => OAuthError,
): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    // Nothing would tell its end (optimizeEmptyRequests).
    if (!hasBody(message)) return resolve(EMPTY)
    let body: Buffer = EMPTY
    let length = 0
    const refuse = (): void => {
      message.off('data', take).resume()
      const ctx = { max_bytes: BODY_LIMIT }
      reject(tooLarge([problem(['body'], 'too_large', 'The body is too large.', null, ctx)]))
    }
    const take = (piece: Buffer): void => {
      if (length + piece.length > BODY_LIMIT) return refuse()
      body = length === 0 ? piece : append(body, length, piece)
      length += piece.length
    }
    // The caller hung up in the middle of the body.
    message.on('error', () => reject(invalidRequest('parameter_malformed')))
    if (Number(message.headers['content-length']) > BODY_LIMIT) return refuse()
    message.on('data', take).on('end', () => resolve(length === body.length ? body : body.subarray(0, length)))
  })
}

/** Has the body of a request that needs none of it be passed over as it comes. Node.js would keep it until the answer is sent. */
export function discardBody(message: IncomingMessage): void {
  if (hasBody(message)) message.resume()
}

/** RFC 9112 §6.3. */
function hasBody({ headers }: IncomingMessage): boolean {
  return headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined
}

/** Copies a piece into a buffer that doubles when it is full: kept by itself, a piece of one byte takes hundreds (threats.md NET-18). */
function append(body: Buffer, length: number, piece: Buffer): Buffer {
  const needed = length + piece.length
  const grown = needed <= body.length ? body : Buffer.concat([body], Math.max(needed, 2 * length, LEAST_BUFFER))
  grown.set(piece, length)
  return grown
}

const EMPTY = Buffer.alloc(0)
/** Bytes. */
const LEAST_BUFFER = 256
