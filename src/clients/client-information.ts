import type { ClientRecord } from '../ports/records/client.ts'

/**
 * Returns the members of a client information response that every client has. RFC 7591 §3.2.1. `id` is the `client_id`. The secret is
 * included only in the response that issues it, because the store has only its hash.
 */
export function describeClientInformation(
  { id, issuedAt, metadata }: { readonly id: string } & Pick<ClientRecord, 'issuedAt' | 'metadata'>,
  secret: string | undefined,
): Readonly<Record<string, unknown>> {
  return {
    client_id: id,
    client_secret: secret,
    client_id_issued_at: issuedAt,
    // RFC 7591 §3.2.1: 0 means that the secret does not expire.
    client_secret_expires_at: secret === undefined ? undefined : 0,
    ...metadata,
  }
}
