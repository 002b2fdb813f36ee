import type { JwtType } from '../ports/records/api.ts'
import type { KeyRecord } from '../ports/records/key.ts'

/** The encoded headers of the access tokens that a key signs, by their type. RFC 9068 §2.1, RFC 7519 §5.1. */
export type TokenHeaders = Readonly<Record<JwtType, string>>

/** Makes all headers of a key. */
export function tokenHeaders(key: Pick<KeyRecord, 'id' | 'algorithm'>): TokenHeaders {
  return { 'at+jwt': tokenHeader(key, 'at+jwt'), JWT: tokenHeader(key, 'JWT') }
}

function tokenHeader({ id, algorithm }: Pick<KeyRecord, 'id' | 'algorithm'>, jwtType: JwtType): string {
  return Buffer.from(JSON.stringify({ alg: algorithm, typ: jwtType, kid: id })).toString('base64url')
}
