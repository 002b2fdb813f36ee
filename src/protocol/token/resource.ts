import { hash } from 'node:crypto'
import type { Brand } from '../../base/brand.ts'
import { MAXIMA } from '../../base/maxima.ts'

/** The identifier of an API, as sent by the client or declared by the operator. RFC 8707 §2. */
export type Resource = Brand<string, 'Resource'>

/** The key of a longer set is a hash, because databases limit the size of an index entry. */
const KEY_LENGTH_LIMIT = 512
const DIGEST = 'sha256:'

/**
 * RFC 8707 §2: a resource is an absolute URI without a fragment. Stricter: it has no user information, which would be in the `aud` of
 * every token. Returns undefined for any other text.
 */
export function parseResource(text: string): Resource | undefined {
  if (text.length > MAXIMA.resource.most || !/^[\x21-\x7e]+$/.test(text) || text.includes('#')) return undefined
  if (text.includes('@') && hasUserInformation(text)) return undefined
  return /^[A-Za-z][A-Za-z0-9+.-]*:/.test(text) && URL.canParse(text) ? (text as Resource) : undefined
}

function hasUserInformation(text: string): boolean {
  const url = URL.parse(text)
  return url !== null && (url.username !== '' || url.password !== '' || /^[^/?]*:\/\/[^/?]*@/.test(text))
}

/** The values of `resource` in one request without duplicates. Returns undefined if one is malformed or there are too many. */
export function parseResources(texts: readonly string[]): readonly Resource[] | undefined {
  if (texts.length === 0) return []
  if (texts.length > MAXIMA.resourcesOfRequest.most) return undefined
  const resources = texts.map(parseResource)
  return resources.includes(undefined) ? undefined : [...new Set(resources.filter((one) => one !== undefined))]
}

/**
 * Whether two identifiers name the same API. They must be equal, except for the case of scheme and authority (MCP 2026-07-28, Canonical
 * Server URI), and for a slash after a bare origin: some clients send it and others do not (real-clients.md).
 */
export function sameResource(left: string, right: string): boolean {
  if (left === right) return true
  // Some callers compare with all APIs, and most pairs end here.
  const [short, long] = left.length < right.length ? [left, right] : [right, left]
  if (long.length - short.length > 1 || !long.toLowerCase().startsWith(short.toLowerCase())) return false
  return canonicalResource(left) === canonicalResource(right)
}

interface Declared {
  readonly resource: string
}

/**
 * What a text names among declared ones: the one with exactly this identifier, else another one of the same API. Stores from before 0.1.0 may
 * have two APIs whose identifiers differ only in what `sameResource` ignores.
 */
export function findNamed<One extends Declared>(declared: readonly One[], text: string): One | undefined {
  // Almost always it is the declared text, which is compared faster.
  return (
    declared.find(({ resource }) => resource === text) ?? declared.find(({ resource }) => sameResource(resource, text))
  )
}

/** Whether a resource of a token is the API that a text names, and not another one that is declared with the text of the token. */
export function isOfApi(resource: string, text: string, declared: readonly Declared[]): boolean {
  const named = findNamed(declared, text)?.resource ?? text
  return resource === named || (sameResource(resource, named) && !declared.some((one) => one.resource === resource))
}

/**
 * The one text of all identifiers of an API. Stricter than RFC 3986 §6.2.2 and §6.2.3: a port is compared as it is written, and so is the
 * path. Grantor compares with it, and neither shows nor stores it.
 */
export function canonicalResource(text: string): string {
  const [, scheme, authority = '', rest = ''] = /^([A-Za-z][A-Za-z0-9+.-]*:)(\/\/[^/?\\]+)?(.*)$/s.exec(text) ?? []
  if (scheme === undefined) return text
  const isBareOrigin = authority !== '' && rest === '/'
  return scheme.toLowerCase() + authority.toLowerCase() + (isBareOrigin ? '' : rest)
}

/**
 * Whether a resource names the issuer, however its URL is spelled: with slashes at the end, in upper case, with the usual port. It holds for
 * all identifiers of one API or for none, and no API may have such an identifier (threats.md OP-18).
 */
export function namesIssuer(resource: string, issuer: string): boolean {
  return resource === issuer || spellingOf(resource) === spellingOf(issuer)
}

function spellingOf(text: string): string {
  const url = URL.parse(text)
  return url === null ? text : `${url.protocol}//${url.host}${url.pathname.replace(/\/+$/, '')}${url.search}`
}

/** The same bare origin with or without its slash. Returns undefined for an identifier that is not a bare origin. */
export function slashVariant(text: string): string | undefined {
  const [, origin, slash] = /^([A-Za-z][A-Za-z0-9+.-]*:\/\/[^/?]+)(\/?)$/.exec(text) ?? []
  return slash === '' ? `${origin}/` : origin
}

/** The key of a set of resources; it does not depend on their order. '' for the empty set. */
export function resourcesKey(resources: readonly Resource[]): string {
  const text = resources.toSorted().join(' ')
  return text.length <= KEY_LENGTH_LIMIT ? text : `${DIGEST}${hash('sha256', text, 'base64url')}`
}

/** The resources of a key; none if it is a digest. */
export function readResourcesKey(key: string): readonly Resource[] {
  return key === '' || key.startsWith(DIGEST) ? [] : (key.split(' ') as Resource[])
}
