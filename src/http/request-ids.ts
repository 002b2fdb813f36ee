import type { Random } from '../protocol/ids.ts'

/** 48 bits, so that two processes do not share a prefix. */
const PREFIX_BYTES = 6

/**
 * Returns a function that makes the id of the next request: a random prefix of this process, and a count. The id is in the
 * `X-Request-Id` header of the answer, on error pages, and in the log line, so that an operator finds the line of a complaint.
 * An id that the caller sends is ignored: the log has nothing of the caller (threats.md NET-10).
 */
export function openRequestIds(random: Random): () => string {
  const prefix = `${random(PREFIX_BYTES).toString('base64url')}-`
  let count = 0
  return () => prefix + (count += 1).toString(36)
}
