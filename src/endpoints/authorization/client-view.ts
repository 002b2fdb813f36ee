import type { Destination } from '../../ports/pages/parts.ts'
import type { ClientView } from '../../ports/pages/pages.ts'
import type { AllowedClient } from '../../clients/evaluate-client.ts'
import { toSeconds, type EpochMs } from '../../base/brand.ts'
import { documentHostOf } from '../../protocol/client/identifier.ts'
import { clientNames } from '../../protocol/client/identity.ts'
import { isPrivateUse } from '../../protocol/uri/redirect-uri.ts'

/** Returns the client as the pages show it (decision 0022). */
export function viewClient<To extends Destination>(
  { client, rights }: AllowedClient,
  destination: To,
  now: EpochMs,
): ClientView<To> {
  return {
    name: clientNames(client.metadata),
    trust: rights.trust,
    ageSeconds: Math.max(0, toSeconds(now) - client.issuedAt),
    documentHost: documentHostOf(client),
    destination,
  }
}

/**
 * Returns the CSP `form-action` source for the client's redirect URI. Browsers also check the redirect that follows a form
 * against `form-action`. An IPv6 literal is not a valid source and a private-use scheme has no host, so both are given as a
 * scheme.
 */
export function formTarget(redirectUri: string): string {
  const url = new URL(redirectUri)
  return isPrivateUse(redirectUri) || url.hostname.startsWith('[') ? url.protocol : url.origin
}
