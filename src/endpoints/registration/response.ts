import type { ClientRecord } from '../../ports/records/client.ts'
import { describeMetadata } from '../../protocol/client-metadata.ts'
import type { ClientId } from '../../protocol/ids.ts'
import { PATHS, addressOf } from '../paths.ts'
import type { RegistrationEcho } from './request.ts'

/** The credentials that stand in an answer: the only places where they can be read. */
export interface ShownCredentials {
  readonly secret: string | undefined
  readonly managementToken: string | undefined
}

/**
 * RFC 7591 §3.2.1, RFC 7592 §3. A field that was not given is absent; null only where the caller sent it (clients.md). The
 * secret is there when it is made and never again, because the store has no more than its hash.
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
    // RFC 7591 §3.2.1: 0 is "does not expire", and the member belongs to the secret.
    ...(secret === undefined ? {} : { client_secret_expires_at: 0 }),
    ...describeMetadata(metadata),
    ...echo,
    ...(managementToken === undefined
      ? {}
      : { registration_client_uri: configurationUri(issuer, id), registration_access_token: managementToken }),
  }
}

/** RFC 7592 §3: the client uses it as it is. Ids need no escapes. */
function configurationUri(issuer: string, id: ClientId): string {
  return `${addressOf(issuer, PATHS.register)}?client_id=${id}`
}
