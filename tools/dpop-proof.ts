import { createHash, randomUUID } from 'node:crypto'
import { signJws, type ClientKey } from './client-assertion.ts'

/** What a client with DPoP does, without a library: for proofs that no library would make, and for loads. */

/** The request that a proof is for. */
export interface ProvenRequest {
  readonly method: 'GET' | 'HEAD' | 'POST'
  /** The whole address. */
  readonly address: string
  readonly nowMs: number
  /** The access token that the request presents, if it does. */
  readonly accessToken?: string
}

/** How a proof differs from a good one. undefined removes a member. */
export interface DifferingProof {
  readonly header?: Readonly<Record<string, unknown>>
  readonly claims?: Readonly<Record<string, unknown>>
}

/** A DPoP proof. RFC 9449 §4.2. */
export function makeProof(
  key: ClientKey,
  { method, address, nowMs, accessToken }: ProvenRequest,
  { header = {}, claims = {} }: DifferingProof = {},
): string {
  const tokenHash = accessToken === undefined ? undefined : createHash('sha256').update(accessToken).digest('base64url')
  return signJws(
    key,
    { typ: 'dpop+jwt', alg: key.algorithm, jwk: key.jwk, ...header },
    { jti: randomUUID(), htm: method, htu: address, iat: Math.floor(nowMs / 1000), ath: tokenHash, ...claims },
  )
}
