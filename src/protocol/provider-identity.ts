import { createHash } from 'node:crypto'
import type { ProviderId } from './authentication.ts'
import type { Brand } from './brand.ts'

/** Names an identity in the store. */
export type IdentityKey = Brand<string, 'IdentityKey'>

/**
 * The key of an identity. It is not keyed by a secret: it must stay the same if the root secret is replaced. The issuer is part of
 * it, so that the identities of a provider that was deleted never become those of another provider with its id.
 */
export function identityKey(
  { id, issuer }: { readonly id: ProviderId; readonly issuer: string },
  subject: string,
): IdentityKey {
  return createHash('sha256')
    .update(JSON.stringify([id, issuer, subject]))
    .digest('base64url') as IdentityKey
}
