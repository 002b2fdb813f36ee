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
  const { headers } = message
  return new Promise((resolve, reject) => {
    // RFC 9112 §6.3: there is none. Nothing would tell its end (optimizeEmptyRequests).
    if (headers['content-length'] === undefined && headers['transfer-encoding'] === undefined) return resolve(EMPTY)
    const chunks: Buffer[] = []
    let length = 0
    const refuse = (): void => {
      message.off('data', take).resume()
      const ctx = { max_bytes: BODY_LIMIT }
      reject(tooLarge([problem(['body'], 'too_large', 'The body is too large.', null, ctx)]))
    }
    const take = (chunk: Buffer): void => {
      length += chunk.length
      if (length > BODY_LIMIT) return refuse()
      chunks.push(chunk)
    }
    // The caller hung up in the middle of the body.
    message.on('error', () => reject(invalidRequest('parameter_malformed')))
    if (Number(headers['content-length']) > BODY_LIMIT) return refuse()
    message.on('data', take).on('end', () => resolve(join(chunks)))
  })
}

/** Once, at the end: a sender of single bytes would have each of them copied thousands of times. */
function join(chunks: readonly Buffer[]): Buffer {
  const [only] = chunks
  return only !== undefined && chunks.length === 1 ? only : Buffer.concat(chunks)
}

const EMPTY = Buffer.alloc(0)
