import type { ClientMetadata } from './client-metadata.ts'
import { redirectHost, withoutLoopbackPort } from './redirect-uri.ts'

/**
 * Whether people and operators would take two registrations for the same client: they know it by its name and by the hosts
 * that it redirects to (decisions.md D8).
 */
export function isSameIdentity(one: ClientMetadata, other: ClientMetadata): boolean {
  return identityOf(one) === identityOf(other)
}

function identityOf({ descriptive, redirectUris }: ClientMetadata): string {
  // RFC 8252 §7.3: the port of a loopback redirect is chosen at run time.
  const hosts = redirectUris.map((uri) => redirectHost(withoutLoopbackPort(uri)))
  return JSON.stringify([descriptive.client_name ?? '', [...new Set(hosts)].toSorted()])
}
