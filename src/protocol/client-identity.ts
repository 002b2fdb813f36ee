import type { ClientMetadata } from './client-metadata.ts'
import { redirectHost, withoutLoopbackPort } from './redirect-uri.ts'

/**
 * Whether two registrations look like the same client to users and operators, who recognize a client by its name and its
 * redirect hosts (decision 0022).
 */
export function isSameIdentity(one: ClientMetadata, other: ClientMetadata): boolean {
  return identityOf(one) === identityOf(other)
}

function identityOf({ descriptive, redirectUris }: ClientMetadata): string {
  // RFC 8252 §7.3: the port of a loopback redirect is chosen at run time.
  const hosts = redirectUris.map((uri) => redirectHost(withoutLoopbackPort(uri)))
  return JSON.stringify([descriptive.client_name ?? '', [...new Set(hosts)].toSorted()])
}
