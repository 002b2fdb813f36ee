import { after, type EpochMs } from '../../base/brand.ts'
import type { ClientMetadata } from './members.ts'
import { readRegistration, type RegistrationPolicy } from './metadata.ts'
import { isObject, readJson } from '../../base/json.ts'
import { checkOutboundUrl, type OutboundPolicy } from '../uri/outbound-url.ts'

/** The result of reading a client metadata document. */
export type DocumentReading =
  | { readonly kind: 'accepted'; readonly metadata: ClientMetadata }
  /** `reason` is a sentence for the log of the operator. */
  | { readonly kind: 'refused'; readonly reason: string }

type Members = Readonly<Record<string, unknown>>

/** How a client without a secret authenticates, in the order of preference where a document lists several. */
const METHODS = ['private_key_jwt', 'none'] as const

/**
 * Returns why no document can be fetched from a URL; undefined if one can. draft-ietf-oauth-client-id-metadata-document §3: the
 * URL has a path, and no fragment, user name or password. Stricter: the text must be canonical, because it is compared byte for
 * byte.
 */
export function findDocumentUrlFault(url: string, policy: OutboundPolicy): string | undefined {
  const verdict = checkOutboundUrl(url, policy)
  if (verdict.kind === 'refused') return `The URL ${verdict.reason}.`
  return verdict.url.pathname === '/' ? 'The URL has no path.' : undefined
}

/**
 * Reads a client metadata document. draft-ietf-oauth-client-id-metadata-document §4.
 *
 *  1. `client_id` is the URL of the document, byte for byte. Otherwise the document belongs to another client.
 *  2. The document is public, so it has no secret and names no method that needs one (§4.1).
 *  3. Without a method, the client is public: the default of RFC 7591 would need a secret.
 *  4. The other members are those of a registration, and read in the same way. MCP requires a name; a client that uses the
 *     authorization endpoint has redirect URIs.
 */
export function readClientDocument(text: string, url: string, policy: RegistrationPolicy): DocumentReading {
  const json = readJson(text)
  if (json.kind === 'malformed') return refused(json.problem.msg)
  if (!isObject(json.value)) return refused('The document is not an object.')
  const members = json.value
  if (members['client_id'] !== url) return refused('client_id is not the URL of the document.')
  if ('client_secret' in members || 'client_secret_expires_at' in members) return refused('The document has a secret.')
  if (methodsOf(members).some((method) => typeof method === 'string' && method.startsWith('client_secret_'))) {
    return refused('The document names an authentication method with a secret.')
  }
  const method = chooseMethod(members)
  if (method === undefined) return refused('The document names no authentication method that this server accepts.')
  const reading = readRegistration({ ...members, token_endpoint_auth_method: method }, policy, text.length)
  if (reading.kind !== 'accepted') {
    return refused(reading.problems.map(({ loc, msg }) => `${loc.slice(1).join('.')}: ${msg}`).join(' '))
  }
  const { metadata } = reading
  if (metadata.client_name === undefined) return refused('client_name is missing.')
  const needsRedirect = metadata.grant_types.includes('authorization_code')
  if (needsRedirect && metadata.redirect_uris.length === 0) return refused('redirect_uris is missing.')
  return { kind: 'accepted', metadata }
}

function methodsOf({
  token_endpoint_auth_method: one,
  token_endpoint_auth_methods_supported: several,
}: Members): readonly unknown[] {
  return [one, ...(Array.isArray(several) ? several : [])].filter((method) => method !== undefined)
}

function chooseMethod(members: Members): (typeof METHODS)[number] | undefined {
  const named = methodsOf(members)
  if (named.length === 0) return 'none'
  const hasKeys = members['jwks'] !== undefined || members['jwks_uri'] !== undefined
  const usable = METHODS.filter((method) => named.includes(method) && (method === 'none' || hasKeys))
  return usable.find((method) => method === members['token_endpoint_auth_method']) ?? usable[0]
}

/** Seconds. A document is fetched at most this often, and at least this often while its client is used. */
const FRESHNESS = { least: 300, most: 86_400, usual: 3600 } as const
/** How long a document is used after it is no longer fresh, while its host is down. */
const LAST_GOOD_MS = 86_400_000

/** Returns until when a document is fresh. draft-ietf-oauth-client-id-metadata-document §5.2, RFC 9111 §4.2. */
export function freshUntil(now: EpochMs, freshSeconds: number | undefined): EpochMs {
  const seconds = Math.max(FRESHNESS.least, Math.min(FRESHNESS.most, freshSeconds ?? FRESHNESS.usual))
  return after(now, seconds * 1000)
}

/** Whether a document that was fresh until a time serves while its host is down. */
export function servesWhileDown(until: EpochMs, now: EpochMs): boolean {
  return now < after(until, LAST_GOOD_MS)
}

function refused(reason: string): DocumentReading {
  return { kind: 'refused', reason }
}
