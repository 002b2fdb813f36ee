import type { EpochMs } from '../../base/brand.ts'
import { parseJson } from '../../base/json.ts'

/** The parts of a JWT whose signature is not verified yet. RFC 7519 §3. */
export interface UnverifiedJwt {
  readonly header: unknown
  readonly claims: unknown
}

const PARTS = /^([A-Za-z0-9_-]+)\.([A-Za-z0-9_-]+)\.[A-Za-z0-9_-]+$/

/** Reads a signed JWT. undefined: the text is not one (RFC 7515 §7.1), or it is longer than the limit. A part that is not JSON is undefined. */
export function readUnverifiedJwt(text: string, lengthLimit: number): UnverifiedJwt | undefined {
  const [, header, claims] = (text.length <= lengthLimit && PARTS.exec(text)) || []
  return header === undefined || claims === undefined ? undefined : { header: decode(header), claims: decode(claims) }
}

function decode(part: string): unknown {
  return parseJson(Buffer.from(part, 'base64url').toString('utf8'))
}

/** RFC 7519 §2: a NumericDate has seconds, and may have a fraction. */
export function fromNumericDate(seconds: number): EpochMs {
  return Math.floor(seconds * 1000) as EpochMs
}
