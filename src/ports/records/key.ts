import type { EpochMs } from '../../protocol/brand.ts'
import type { KeyId } from '../../protocol/ids.ts'

/** How access tokens are signed. RFC 7518 §3.1; RFC 8037 §3.1, with Ed25519. */
export type SigningAlgorithm = 'ES256' | 'EdDSA' | 'RS256'

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
  readonly algorithm: SigningAlgorithm
  /** Public JWK as JSON. RFC 7517. */
  readonly publicJwk: string
  /** AES-256-GCM over the PKCS#8 DER: nonce, tag and ciphertext, base64url. */
  readonly encryptedPrivateKey: string
  readonly createdAt: EpochMs
  /** The key signs from this time on, until a later key of the same algorithm becomes active. */
  readonly activeFrom: EpochMs
}
