import { createHmac, hash } from 'node:crypto'

/** HMAC-SHA-256 of a text in UTF-8, as base64url. */
export type Mac = (text: string) => string

const BLOCK = 64
const DIGEST = 32
/** Bytes of text for which the prepared buffer has room. Credentials are shorter; a longer text uses an HMAC object. */
const TEXT_LIMIT = 1024
/** UTF-8 needs at most three bytes for a UTF-16 unit. */
const BYTES_PER_UNIT = 3

/**
 * HMAC-SHA-256 (RFC 2104 §2) of many short texts under one key: two one-shot hashes over buffers that already contain the padded key.
 * It costs half as much as an HMAC object for each text, and every token request needs several. `key`: at most 64 bytes.
 */
export function openMac(key: Buffer): Mac {
  const inner = Buffer.alloc(BLOCK + TEXT_LIMIT, 0x36)
  const outer = Buffer.alloc(BLOCK + DIGEST, 0x5c)
  /** The beginnings of `inner`, by their length: few texts differ in it. */
  const beginnings: Buffer[] = []
  for (const [index, byte] of key.entries()) {
    inner[index] = byte ^ 0x36
    outer[index] = byte ^ 0x5c
  }
  return (text) => {
    if (text.length * BYTES_PER_UNIT > TEXT_LIMIT) return createHmac('sha256', key).update(text).digest('base64url')
    const end = BLOCK + inner.write(text, BLOCK)
    const beginning = (beginnings[end] ??= inner.subarray(0, end))
    outer.write(hash('sha256', beginning, 'latin1'), BLOCK, 'latin1')
    return hash('sha256', outer, 'base64url')
  }
}
