import type { Brand } from './brand.ts'

/** The identifier of an API, as the client sent it or the operator declared it. RFC 8707 §2. */
export type Resource = Brand<string, 'Resource'>

const LENGTH_LIMIT = 2048

/** RFC 8707 §2: an absolute URI without a fragment. undefined when it is anything else. */
export function parseResource(text: string): Resource | undefined {
  if (text.length > LENGTH_LIMIT || !/^[\x21-\x7e]+$/.test(text) || text.includes('#')) return undefined
  return /^[A-Za-z][A-Za-z0-9+.-]*:/.test(text) && URL.canParse(text) ? (text as Resource) : undefined
}

/**
 * Whether two identifiers name the same API. Clients disagree on the slash after a bare origin (clients.md), so it is
 * forgiven there and nowhere else.
 */
export function sameResource(left: string, right: string): boolean {
  return left === right || withoutOriginSlash(left) === withoutOriginSlash(right)
}

function withoutOriginSlash(text: string): string {
  return /^[A-Za-z][A-Za-z0-9+.-]*:\/\/[^/?]+\/$/.test(text) ? text.slice(0, -1) : text
}
