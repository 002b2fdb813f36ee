import type { ClientRecord } from '../../ports/records/client.ts'
import { describeClientInformation } from '../../clients/client-information.ts'
import type { ClientId } from '../../protocol/ids.ts'
import { addressOf } from '../../protocol/uri/server-address.ts'
import { PATHS } from '../paths.ts'
import type { RegistrationEcho } from './request.ts'

/** The credentials in a response. They appear nowhere else. */
export interface ShownCredentials {
  readonly secret: string | undefined
  readonly managementToken: string | undefined
}

/**
 * Returns the client information response. RFC 7591 §3.2.1, RFC 7592 §3. A field that was not sent is omitted; a field is null
 * only if the caller sent null (real-clients.md).
 */
export function describeRegistration(
  issuer: string,
  client: Pick<ClientRecord, 'id' | 'issuedAt' | 'metadata'>,
  { secret, managementToken }: ShownCredentials,
  echo: RegistrationEcho,
): Readonly<Record<string, unknown>> {
  return {
    ...describeClientInformation(client, secret),
    ...echo,
    registration_client_uri: managementToken === undefined ? undefined : configurationUri(issuer, client.id),
    registration_access_token: managementToken,
  }
}

/** RFC 7592 §3: the client uses this URI unchanged. Ids need no escaping. */
function configurationUri(issuer: string, id: ClientId): string {
  return `${addressOf(issuer, PATHS.register)}?client_id=${id}`
}
