import type { Random } from '../protocol/ids.ts'

/** 48 bits, so that two processes do not share a prefix. */
const PREFIX_BYTES = 6
/** Digits of the count. 36 ** 8 requests are more than a process serves. */
const COUNT_DIGITS = 8

const [ZERO, NINE, A, Z] = [0x30, 0x39, 0x61, 0x7a] as const

/**
 * Returns a function that makes the id of the next request: a random prefix of this process, and a count in base 36. The id is in
 * the `X-Request-Id` header of the answer, on error pages, and in the log line, so that an operator finds the line of a complaint.
 * An id that the caller sends is ignored: the log has nothing of the caller (threats.md NET-10).
 *
 * The count is kept as text, because JSON.stringify takes twice as long for a log line with a string that was concatenated.
 */
export function openRequestIds(random: Random): () => string {
  const id = Buffer.from(`${random(PREFIX_BYTES).toString('base64url')}-${'0'.repeat(COUNT_DIGITS)}`)
  return () => {
    countUp(id)
    return id.toString('latin1')
  }
}

/** Adds one to the number at the end of `id`. */
function countUp(id: Buffer): void {
  for (let index = id.length - 1; index >= id.length - COUNT_DIGITS; index -= 1) {
    const digit = id[index]
    if (digit !== Z) {
      id[index] = digit === NINE ? A : (digit ?? ZERO) + 1
      return
    }
    id[index] = ZERO
  }
}
