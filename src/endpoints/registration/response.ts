import type { ClientRecord } from '../../ports/records/client.ts'
import { describeMetadata } from '../../protocol/client-metadata.ts'
import type { ClientId } from '../../protocol/ids.ts'
import { PATHS, addressOf } from '../paths.ts'
import type { RegistrationEcho } from './request.ts'

/** The credentials in a response. They appear nowhere else. */
export interface ShownCredentials {
  readonly secret: string | undefined
  readonly managementToken: string | undefined
}

/**
 * Returns the client information response. RFC 7591 §3.2.1, RFC 7592 §3. A field that was not sent is omitted; a field is null
 * only if the caller sent null (clients.md). The secret is included only in the response that issues it, because the store has
 * only its hash.
 */
export function describeRegistration(
  issuer: string,
  { id, issuedAt, metadata }: Pick<ClientRecord, 'id' | 'issuedAt' | 'metadata'>,
  { secret, managementToken }: ShownCredentials,
  echo: RegistrationEcho,
): Readonly<Record<string, unknown>> {
  return {
    client_id: id,
    ...(secret === undefined ? {} : { client_secret: secret }),
    client_id_issued_at: issuedAt,
    // RFC 7591 §3.2.1: 0 means that the secret does not expire.
    ...(secret === undefined ? {} : { client_secret_expires_at: 0 }),
    ...describeMetadata(metadata),
    ...echo,
    ...(managementToken === undefined
      ? {}
      : { registration_client_uri: configurationUri(issuer, id), registration_access_token: managementToken }),
  }
}

/** RFC 7592 §3: the client uses this URI unchanged. Ids need no escaping. */
function configurationUri(issuer: string, id: ClientId): string {
  return `${addressOf(issuer, PATHS.register)}?client_id=${id}`
}
