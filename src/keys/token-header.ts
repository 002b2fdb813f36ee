import type { JwtType } from '../ports/records/api.ts'
import type { KeyRecord } from '../ports/records/key.ts'

/** The `typ` of every JWT. OpenID Connect Back-Channel Logout 1.0 §2.4 has that of logout tokens. */
export type TokenType = JwtType | 'logout+jwt'

/** The encoded headers of the tokens that a key signs, by their type. RFC 9068 §2.1, RFC 7519 §5.1. */
export type TokenHeaders = Readonly<Record<TokenType, string>>

/** Makes all headers of a key. */
export function tokenHeaders(key: Pick<KeyRecord, 'id' | 'algorithm'>): TokenHeaders {
  return {
    'at+jwt': tokenHeader(key, 'at+jwt'),
    JWT: tokenHeader(key, 'JWT'),
    'logout+jwt': tokenHeader(key, 'logout+jwt'),
  }
}

function tokenHeader({ id, algorithm }: Pick<KeyRecord, 'id' | 'algorithm'>, type: TokenType): string {
  return Buffer.from(JSON.stringify({ alg: algorithm, typ: type, kid: id })).toString('base64url')
}
