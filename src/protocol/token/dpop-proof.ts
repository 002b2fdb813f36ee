import { hash } from 'node:crypto'
import * as z from 'zod'
import type { Brand, EpochMs } from '../../base/brand.ts'
import { algorithmsOf, readJwkMembers, type AssertionAlgorithm, type JwkSet, type PublicJwk } from '../client/keys.ts'
import { sameText, type Secrets } from '../secrets.ts'
import { readUnverifiedJwt } from './unverified-jwt.ts'
import { MAXIMA } from '../../base/maxima.ts'

/**
 * The algorithms of proofs: those of FAPI 2.0 §5.4. Each is cheap to verify, because the key of a proof comes from any caller
 * (threats.md DP-05).
 */
export const PROOF_ALGORITHMS = ['ES256', 'EdDSA', 'Ed25519', 'PS256'] as const satisfies readonly AssertionAlgorithm[]
export type ProofAlgorithm = (typeof PROOF_ALGORITHMS)[number]

/** FAPI 2.0 Security Profile §5.4: whether an assertion may have this algorithm. */
export function isFapiAlgorithm(algorithm: string): boolean {
  return PROOF_ALGORITHMS.some((permitted) => permitted === algorithm)
}

/** Whether one of the keys can verify an assertion that FAPI 2.0 Security Profile §5.4 permits. */
export function hasFapiKey({ jwks }: JwkSet): boolean {
  return jwks.some((jwk) => algorithmsOf(jwk).some(isFapiAlgorithm))
}

/**
 * The SHA-256 thumbprint of a public key, 43 characters of base64url. RFC 7638 §3. Only the verification of a proof and the rows of the
 * store have one, so what is bound to it was requested by the holder of the key.
 */
export type JwkThumbprint = Brand<string, 'JwkThumbprint'>

/** A DPoP proof whose signature is not verified yet. RFC 9449 §4.2. */
export interface DpopProof {
  /** The JWT as it was sent. */
  readonly jwt: string
  readonly algorithm: ProofAlgorithm
  /** The key in the header. */
  readonly jwk: PublicJwk
  /** `htm`. */
  readonly method: string
  /** `htu`. */
  readonly address: string
  /** `jti`. */
  readonly id: string
  /** `iat`, `nbf` and `exp`, in seconds since the epoch. */
  readonly issuedAt: number
  readonly notBefore: number | undefined
  readonly expiresAt: number | undefined
  readonly nonce: string | undefined
  /** `ath`. */
  readonly tokenHash: string | undefined
}

/** How far the clock of a client may differ. */
const TOLERANCE_SECONDS = 60
/** The longest RSA key of a proof. */
export const PROOF_RSA_BITS = 4096
/** Base64url characters of a modulus of that length. */
const MODULUS_LIMIT = Math.ceil(PROOF_RSA_BITS / 6)

/** Other header members, such as `kid` or `jku`, are ignored: only the key in the header is used. */
const header = z.object({
  typ: z.string().regex(/^dpop\+jwt$/i),
  alg: z.enum(PROOF_ALGORITHMS),
  jwk: z.unknown(),
  crit: z.never().optional(),
})
const claims = z.object({
  htm: z.string(),
  htu: z.string(),
  jti: z.string().min(1).max(MAXIMA.jwtId.most),
  iat: z.number(),
  nbf: z.number().optional(),
  exp: z.number().optional(),
  nonce: z.string().optional(),
  ath: z.string().optional(),
})

/**
 * Reads the value of the header `DPoP`. RFC 9449 §4.2 and §4.3, steps 1 to 7 without the signature. Node.js joins two headers with a
 * comma, which no JWT has.
 *
 * @returns undefined if the text is not a proof, or its key is not a public key for its algorithm
 */
export function parseDpopProof(jwt: string): DpopProof | undefined {
  const parts = readUnverifiedJwt(jwt, MAXIMA.proof.most)
  const { data: headed } = header.safeParse(parts?.header)
  const { data: claimed } = claims.safeParse(parts?.claims)
  if (headed === undefined || claimed === undefined) return undefined
  const reading = readJwkMembers(headed.jwk)
  if (reading.kind !== 'usable') return undefined
  const { jwk } = reading
  if (!algorithmsOf(jwk).includes(headed.alg) || (jwk.kty === 'RSA' && jwk.n.length > MODULUS_LIMIT)) return undefined
  return {
    jwt,
    algorithm: headed.alg,
    jwk,
    method: claimed.htm,
    address: claimed.htu,
    id: claimed.jti,
    issuedAt: claimed.iat,
    notBefore: claimed.nbf,
    expiresAt: claimed.exp,
    nonce: claimed.nonce,
    tokenHash: claimed.ath,
  }
}

/** The thumbprint of a key. RFC 7638 §3.2: the required members, in the order of their names. */
export function thumbprintOf(jwk: PublicJwk): string {
  return hash('sha256', requiredMembers(jwk), 'base64url')
}

function requiredMembers(jwk: PublicJwk): string {
  switch (jwk.kty) {
    case 'EC':
      return JSON.stringify({ crv: jwk.crv, kty: jwk.kty, x: jwk.x, y: jwk.y })
    case 'OKP':
      return JSON.stringify({ crv: jwk.crv, kty: jwk.kty, x: jwk.x })
    case 'RSA':
      return JSON.stringify({ e: jwk.e, kty: jwk.kty, n: jwk.n })
  }
}

/** Whether a text has the form of a thumbprint, as `dpop_jkt` must. RFC 9449 §10. */
export function isThumbprint(text: string): boolean {
  return /^[A-Za-z0-9_-]{43}$/.test(text)
}

/** What a server compares a proof with. */
export interface ProofExpectations {
  readonly method: string
  /** The address as clients know it, never that of the `Host` header. */
  readonly address: string
  readonly now: EpochMs
  /** Whether this server gave the nonce lately. */
  readonly knowsNonce: (nonce: string) => boolean
}

/**
 * Returns why the proof does not belong to this request. RFC 9449 §4.3, steps 8 to 11.
 *
 *  8, 9  `htm` and `htu` are those of the request. The query and the fragment of `htu` are ignored.
 *  10    A nonce must be a recent one of this server.
 *  11    Without a nonce, `iat` differs by at most a minute from the time of the server. With one, the nonce bounds the age instead, so
 *        that a client with a wrong clock can use the server. `nbf` and `exp` are honoured in both cases; another nonce would not
 *        mend them.
 */
export function findProofFault(
  { method, address, issuedAt, notBefore, expiresAt, nonce }: DpopProof,
  { method: ownMethod, address: own, now, knowsNonce }: ProofExpectations,
): 'proof_for_another_request' | 'nonce_stale' | 'proof_not_fresh' | 'proof_malformed' | undefined {
  if (method !== ownMethod || !isSameAddress(address, own)) return 'proof_for_another_request'
  if (nonce !== undefined && !knowsNonce(nonce)) return 'nonce_stale'
  const seconds = now / 1000
  const isOff = nonce === undefined && Math.abs(issuedAt - seconds) > TOLERANCE_SECONDS
  const isEarly = notBefore !== undefined && notBefore > seconds + TOLERANCE_SECONDS
  const isOver = expiresAt !== undefined && expiresAt < seconds - TOLERANCE_SECONDS
  if (isOff) return 'proof_not_fresh'
  if (!isEarly && !isOver) return undefined
  return nonce === undefined ? 'proof_not_fresh' : 'proof_malformed'
}

/** When a proof that is accepted now is accepted no longer: at the end of its nonce, if it has one. */
export function endOfProof(secrets: Pick<Secrets, 'digest'>, { issuedAt, nonce }: DpopProof, now: EpochMs): EpochMs {
  if (nonce === undefined) return ((issuedAt + TOLERANCE_SECONDS) * 1000) as EpochMs
  return endOfNonce(secrets, nonce, now) ?? now
}

/**
 * RFC 9449 §4.3: compared after the normalization of RFC 3986 §6.2.2 and §6.2.3. The URL standard normalizes all but encoded characters of the
 * path.
 */
function isSameAddress(sent: string, own: string): boolean {
  if (sent === own) return true
  if (!URL.canParse(sent)) return false
  return bareAddress(sent) === bareAddress(own)
}

function bareAddress(address: string): string {
  const url = new URL(address)
  url.search = ''
  url.hash = ''
  return url.href.replace(ENCODED, normalizeEncoded)
}

const ENCODED = /%[0-9a-f]{2}/gi
/** RFC 3986 §2.3. */
const UNRESERVED = /[A-Za-z0-9._~-]/

/** RFC 3986 §6.2.2.1 and §6.2.2.2. */
function normalizeEncoded(encoded: string): string {
  const character = String.fromCharCode(Number.parseInt(encoded.slice(1), 16))
  return UNRESERVED.test(character) ? character : encoded.toUpperCase()
}

/** Whether the proof was made for this access token. RFC 9449 §4.3, step 12. */
export function provesToken({ tokenHash }: DpopProof, accessToken: string): boolean {
  return tokenHash !== undefined && sameText(hash('sha256', accessToken, 'base64url'), tokenHash)
}

/** As short as a proof without a nonce is accepted: the ids of used proofs are kept until they end (keys/used-proofs.ts). */
const NONCE_WINDOW_MS = 60_000
const NONCE_LENGTH = 22

/** The nonce of this time, the same on every node. RFC 9449 §8. */
export function nonceOf({ digest }: Pick<Secrets, 'digest'>, now: EpochMs): string {
  return nonceOfWindow(digest, Math.floor(now / NONCE_WINDOW_MS))
}

/**
 * When a nonce ends that is of this minute or the one before, or of the next one, because the clocks of nodes differ. undefined: it is of none
 * of them.
 */
export function endOfNonce({ digest }: Pick<Secrets, 'digest'>, nonce: string, now: EpochMs): EpochMs | undefined {
  const current = Math.floor(now / NONCE_WINDOW_MS)
  const found = [current, current - 1, current + 1].find((window) => sameText(nonceOfWindow(digest, window), nonce))
  return found === undefined ? undefined : (((found + 2) * NONCE_WINDOW_MS) as EpochMs)
}

function nonceOfWindow(digest: Secrets['digest'], window: number): string {
  return digest('dpop-nonce', [String(window)]).slice(0, NONCE_LENGTH)
}
