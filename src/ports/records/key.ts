import type { EpochMs } from '../../base/brand.ts'
import type { KeyId } from '../../protocol/ids.ts'

/** How JWTs are signed. RFC 7518 §3.1; RFC 8037 §3.1, with Ed25519. */
export type SigningAlgorithm = 'ES256' | 'EdDSA' | 'RS256'

/**
 * What a key signs: access tokens, or what relying parties read (ID tokens). No key signs both: an API may accept `typ: JWT`, so
 * only the key shows that an ID token is not an access token (RFC 8725 §3.12).
 */
export const KEY_PURPOSES = ['access', 'id'] as const
export type KeyPurpose = (typeof KEY_PURPOSES)[number]

/**
 * The key that all other keys are derived from. The root secret only encrypts it, so the root secret can be changed while
 * credentials stay valid (docs/operations/secrets.md).
 */
export interface StoredMasterKey {
  /** The master key, encrypted under the root secret. undefined: the first root secret itself is the master key. */
  readonly wrapped: string | undefined
  /** A fixed text, keyed with the master key. undefined in a new store. */
  readonly check: string | undefined
}

/** A signing key. The private part is encrypted under a key that is derived from the master key. */
export interface KeyRecord {
  readonly id: KeyId
  readonly purpose: KeyPurpose
  readonly algorithm: SigningAlgorithm
  /** Public JWK as JSON. RFC 7517. */
  readonly publicJwk: string
  /** AES-256-GCM over the PKCS#8 DER: nonce, tag and ciphertext, base64url. */
  readonly encryptedPrivateKey: string
  readonly createdAt: EpochMs
  /** The key signs from this time on, until a later key of the same purpose and algorithm becomes active. */
  readonly activeFrom: EpochMs
}
