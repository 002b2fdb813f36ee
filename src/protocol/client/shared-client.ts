import type { ClientMetadata } from './members.ts'
import { withoutLoopbackPort } from '../uri/redirect-uri.ts'
import { scopeTokens } from '../token/scope.ts'

/**
 * One text for all equal registrations (decision 0021). The order of members, lists and scope tokens makes no difference;
 * everything else is compared byte for byte.
 */
export function canonicalMetadata(metadata: ClientMetadata): string {
  // RFC 8252 §7.3: a loopback redirect may name any port, and many programs take a free one at each start.
  const uris = [...new Set(metadata.redirect_uris.map(withoutLoopbackPort))]
  const members = Object.entries({ ...metadata, redirect_uris: uris })
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => [name, withoutOrder(name, value)])
  return JSON.stringify(members.toSorted(([left], [right]) => (String(left) < String(right) ? -1 : 1)))
}

function withoutOrder(name: string, value: unknown): unknown {
  if (Array.isArray(value)) return value.map(String).toSorted()
  return name === 'scope' ? scopeTokens(value as NonNullable<ClientMetadata['scope']>).toSorted() : value
}
