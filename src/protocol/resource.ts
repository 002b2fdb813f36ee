import { hash } from 'node:crypto'
import type { Brand } from './brand.ts'

/** The identifier of an API, as the client sent it or the operator declared it. RFC 8707 §2. */
export type Resource = Brand<string, 'Resource'>

const LENGTH_LIMIT = 2048
/** Of one request. */
const COUNT_LIMIT = 8
/** Longer sets go into keys as a hash: databases limit what an index entry holds. */
const KEY_LENGTH_LIMIT = 512

/** RFC 8707 §2: an absolute URI without a fragment. undefined when it is anything else. */
export function parseResource(text: string): Resource | undefined {
  if (text.length > LENGTH_LIMIT || !/^[\x21-\x7e]+$/.test(text) || text.includes('#')) return undefined
  return /^[A-Za-z][A-Za-z0-9+.-]*:/.test(text) && URL.canParse(text) ? (text as Resource) : undefined
}

/** The values of `resource` of one request, each once. undefined: one of them is no resource, or there are too many. */
export function parseResources(texts: readonly string[]): readonly Resource[] | undefined {
  if (texts.length > COUNT_LIMIT) return undefined
  const resources = texts.map(parseResource)
  return resources.includes(undefined) ? undefined : [...new Set(resources.filter((one) => one !== undefined))]
}

/**
 * Whether two identifiers name the same API. Clients disagree on the slash after a bare origin (clients.md), so it is
 * forgiven there and nowhere else.
 */
export function sameResource(left: string, right: string): boolean {
  return left === right || slashVariant(left) === right
}

/** The other text that names the same API. undefined: there is none, because it is no bare origin. */
export function slashVariant(text: string): string | undefined {
  const [, origin, slash] = /^([A-Za-z][A-Za-z0-9+.-]*:\/\/[^/?]+)(\/?)$/.exec(text) ?? []
  return slash === '' ? `${origin}/` : origin
}

/** One text for a set of resources, whatever their order; '' for none. */
export function resourcesKey(resources: readonly Resource[]): string {
  const text = resources.toSorted().join(' ')
  return text.length <= KEY_LENGTH_LIMIT ? text : `sha256:${hash('sha256', text, 'base64url')}`
}
