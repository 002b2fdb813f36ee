import type { RedirectDestination } from '../ports/pages/parts.ts'
import { isLoopback, isPrivateUse } from '../protocol/uri/redirect-uri.ts'

/** Returns where a redirect URI leads, in terms that a user understands. */
export function viewDestination(redirectUri: string): RedirectDestination {
  const url = new URL(redirectUri)
  if (isPrivateUse(redirectUri)) return { kind: 'app', scheme: url.protocol.slice(0, -1) }
  return isLoopback(redirectUri) ? { kind: 'this-computer', host: url.host } : { kind: 'host', host: url.host }
}
