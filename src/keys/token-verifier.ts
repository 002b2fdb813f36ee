import { createPublicKey, hash, verify, type KeyObject } from 'node:crypto'
import type { KeyRecord } from '../ports/records/key.ts'
import { parseAccessTokenClaims, type AccessTokenFacts } from '../protocol/access-token.ts'
import { openRecentlyUsed, weightOf } from '../protocol/recently-used.ts'
import { ALGORITHMS } from './algorithms.ts'
import { tokenHeaders } from './token-header.ts'

/** Longer than any token that we make. */
const LENGTH_LIMIT = 16_384
/** Bytes of what tokens say that are kept at least, of the newest; at most twice as many. A resource server asks about each many times. */
const KNOWN_BYTES = 16 * 1024 * 1024

/** Reads the access tokens that some keys signed. */
export interface TokenVerifier {
  /** undefined: none of them signed it. */
  readonly read: (token: string) => AccessTokenFacts | undefined
}

interface PublicKey {
  readonly key: KeyObject
  readonly digest: 'sha256' | null
  readonly signatureBytes: number
}

/**
 * Reads access tokens that one of these keys signed. The header must be, byte for byte, one that it writes, so nothing in a header
 * is ever interpreted: no algorithm, no key location, no critical extension (RFC 8725 §2, threats.md INT-07).
 */
export function openTokenVerifier(keys: readonly KeyRecord[], issuer: string): TokenVerifier {
  const publicKeys = new Map(
    keys.flatMap((key) => {
      const publicKey = publicKeyOf(key)
      return Object.values(tokenHeaders(key)).map((header) => [header, publicKey] as const)
    }),
  )
  const known = openRecentlyUsed<AccessTokenFacts>(KNOWN_BYTES, weightOf)

  return {
    read(token) {
      if (token.length > LENGTH_LIMIT) return undefined
      const digest = hash('sha256', token, 'base64url')
      const seen = known.get(digest)
      if (seen !== undefined) return seen
      const claims = readSigned(token, publicKeys)
      const facts = claims === undefined ? undefined : parseAccessTokenClaims(claims, issuer)
      if (facts !== undefined) known.set(digest, facts)
      return facts
    },
  }
}

function publicKeyOf({ publicJwk, algorithm }: KeyRecord): PublicKey {
  const { digest, signatureBytes } = ALGORITHMS[algorithm]
  return { key: createPublicKey({ key: JSON.parse(publicJwk), format: 'jwk' }), digest, signatureBytes }
}

/** The claims, as text, of a compact JWS that verifies under one of our keys. RFC 7515 §5.2. */
function readSigned(token: string, publicKeys: ReadonlyMap<string, PublicKey>): string | undefined {
  const [header = '', claims = '', signature = '', ...rest] = token.split('.')
  const publicKey = publicKeys.get(header)
  if (publicKey === undefined || rest.length > 0) return undefined
  const { key, digest, signatureBytes } = publicKey
  const bytes = Buffer.from(signature, 'base64url')
  // Base64url has several spellings for the same bytes; we write one.
  if (bytes.length !== signatureBytes || bytes.toString('base64url') !== signature) return undefined
  if (!verify(digest, Buffer.from(`${header}.${claims}`), { key, dsaEncoding: 'ieee-p1363' }, bytes)) return undefined
  return Buffer.from(claims, 'base64url').toString('utf8')
}
