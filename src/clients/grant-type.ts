import type { ClientRecord } from '../ports/records/client.ts'
import type { GrantRecord } from '../ports/records/grant.ts'
import { DEVICE_CODE, JWT_BEARER } from '../protocol/token/grant-types.ts'
import { webHost } from '../protocol/uri/redirect-uri.ts'

/** The grant types that open a grant. An exchange (RFC 8693) stays within the grant of the token. */
export const OPENING_GRANT_TYPES = ['authorization_code', DEVICE_CODE, JWT_BEARER] as const
export type OpeningGrantType = (typeof OPENING_GRANT_TYPES)[number]

/**
 * Returns how a client got a grant. A grant of a device has no redirect host, and neither has one of a redirect URI to the user's computer, so
 * the client decides, as it is now. undefined: it could have come both ways, or the client was deleted.
 */
export function findGrantType(
  { providerId, redirectHost }: Pick<GrantRecord, 'providerId' | 'redirectHost'>,
  client: Pick<ClientRecord, 'metadata'> | undefined,
): OpeningGrantType | undefined {
  if (providerId !== undefined) return JWT_BEARER
  if (redirectHost !== undefined) return 'authorization_code'
  if (client === undefined) return undefined
  const { grant_types: grantTypes, redirect_uris: redirectUris } = client.metadata
  if (redirectUris.every((uri) => webHost(uri) !== undefined)) return DEVICE_CODE
  return grantTypes.includes(DEVICE_CODE) ? undefined : 'authorization_code'
}
