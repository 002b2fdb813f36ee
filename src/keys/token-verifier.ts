import { createPublicKey, hash, verify, type KeyObject } from 'node:crypto'
import type { JwtType } from '../ports/records/api.ts'
import type { KeyRecord } from '../ports/records/key.ts'
import { parseAccessTokenClaims, type AccessTokenFacts } from '../protocol/token/access-token.ts'
import { openRecentlyUsed, weightOf } from '../base/recently-used.ts'
import { ALGORITHMS } from './algorithms.ts'
import { tokenHeaders } from './token-header.ts'
import { MAXIMA } from '../base/maxima.ts'

/**
 * The least size in bytes of the cache of verified tokens; at most it is twice that. APIs introspect each token many times.
 */
const KNOWN_BYTES = 16 * 1024 * 1024

/** Verifies access tokens with a set of keys. */
export interface TokenVerifier {
  /** undefined when none of the keys signed the token. */
  readonly read: (token: string) => AccessTokenFacts | undefined
}

/** Verifies ID tokens with a set of keys. */
export interface IdTokenVerifier {
  /** The claims, as JSON; undefined when none of the keys signed the token. */
  readonly read: (token: string) => string | undefined
}

interface PublicKey {
  readonly key: KeyObject
  readonly digest: 'sha256' | null
  readonly signatureBytes: number
}

/**
 * Opens a verifier of the access tokens that one of these keys signed. The header must equal, byte for byte, a header that the
 * key writes. So nothing in a header is interpreted: no algorithm, no key location, no critical extension (RFC 8725 §2,
 * threats.md INT-07).
 */
export function openTokenVerifier(keys: readonly KeyRecord[], issuer: string): TokenVerifier {
  const publicKeys = byHeader(keys, ['at+jwt', 'JWT'])
  const known = openRecentlyUsed<AccessTokenFacts>(KNOWN_BYTES, weightOf)

  return {
    read(token) {
      if (token.length > MAXIMA.accessToken.most) return undefined
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

/** Opens a verifier of the ID tokens that one of these keys signed. The same rule holds for their headers. */
export function openIdTokenVerifier(keys: readonly KeyRecord[]): IdTokenVerifier {
  const publicKeys = byHeader(keys, ['JWT'])
  return { read: (token) => (token.length > MAXIMA.idTokenHint.most ? undefined : readSigned(token, publicKeys)) }
}

function byHeader(keys: readonly KeyRecord[], types: readonly JwtType[]): ReadonlyMap<string, PublicKey> {
  return new Map(
    keys.flatMap((key) => {
      const [publicKey, headers] = [publicKeyOf(key), tokenHeaders(key)]
      return types.map((type) => [headers[type], publicKey] as const)
    }),
  )
}

function publicKeyOf({ publicJwk, algorithm }: KeyRecord): PublicKey {
  const { digest, signatureBytes } = ALGORITHMS[algorithm]
  return { key: createPublicKey({ key: JSON.parse(publicJwk), format: 'jwk' }), digest, signatureBytes }
}

/** The claims, as text, of a compact JWS that one of the keys verifies. RFC 7515 §5.2. */
function readSigned(token: string, publicKeys: ReadonlyMap<string, PublicKey>): string | undefined {
  const [header = '', claims = '', signature = '', ...rest] = token.split('.')
  const publicKey = publicKeys.get(header)
  if (publicKey === undefined || rest.length > 0) return undefined
  const { key, digest, signatureBytes } = publicKey
  const bytes = Buffer.from(signature, 'base64url')
  // Base64url has several spellings of the same bytes. Only the one that this server writes is accepted.
  if (bytes.length !== signatureBytes || bytes.toString('base64url') !== signature) return undefined
  if (!verify(digest, Buffer.from(`${header}.${claims}`), { key, dsaEncoding: 'ieee-p1363' }, bytes)) return undefined
  return Buffer.from(claims, 'base64url').toString('utf8')
}
