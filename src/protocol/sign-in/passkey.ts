import { hash } from 'node:crypto'
import type { Brand } from '../../base/brand.ts'

/** Names a passkey of a user: 128 bits of the digest of the credential id, which may have 1,023 bytes. */
export type PasskeyId = Brand<string, 'PasskeyId'>

/** The most passkeys of a user. */
export const PASSKEY_LIMIT = 20

const ID_LENGTH = 22

/** `credentialId`: WebAuthn Level 3 §4, in base64url. */
export function passkeyIdOf(credentialId: string): PasskeyId {
  return hash('sha256', Buffer.from(credentialId, 'base64url'), 'base64url').slice(0, ID_LENGTH) as PasskeyId
}
