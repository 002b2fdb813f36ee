import type { ClientMetadata } from './client-metadata.ts'
import { redirectHost } from './redirect-uri.ts'

/**
 * Whether people and operators would take two registrations for the same client: they know it by its name and by the hosts
 * that it redirects to (decisions.md D8).
 */
export function isSameIdentity(one: ClientMetadata, other: ClientMetadata): boolean {
  return identityOf(one) === identityOf(other)
}

function identityOf({ descriptive, redirectUris }: ClientMetadata): string {
  return JSON.stringify([descriptive.client_name ?? '', [...new Set(redirectUris.map(redirectHost))].toSorted()])
}
