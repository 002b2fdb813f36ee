import { parseForm, type Parameters } from '../../base/message.ts'
import { MAXIMA } from '../../base/maxima.ts'

/** RFC 9126 §2.2: what a `request_uri` of a pushed request starts with. */
const PREFIX = 'urn:ietf:params:oauth:request_uri:'

/** Parameters that are not part of the request: of client authentication, and `client_id`, which the browser brings again. */
const NOT_KEPT: ReadonlySet<string> = new Set([
  'client_assertion',
  'client_assertion_type',
  'client_id',
  'client_secret',
])

/** Characters of the kept parameters. */
export const PUSHED_LIMIT = MAXIMA.pushedParameters.most

/** The `request_uri` with this credential. */
export function requestUriOf(token: string): string {
  return PREFIX + token
}

/** Returns what may be the credential of a pushed request; undefined if the `request_uri` is an address of another kind (RFC 9101 §5.2). */
export function pushedTokenIn(requestUri: string | undefined): string | undefined {
  return requestUri?.startsWith(PREFIX) === true ? requestUri.slice(PREFIX.length) : undefined
}

/** Reads kept parameters, with the `client_id` of the address. undefined: they are too many. */
export function readKept(kept: string, clientId: string): Parameters | undefined {
  return parseForm(`client_id=${encodeURIComponent(clientId)}&${kept}`)
}

/** Whether the authorization endpoint will be able to read them. */
export function canBeOpened(kept: string): boolean {
  return kept.length <= PUSHED_LIMIT && readKept(kept, '') !== undefined
}

/**
 * The text of the parameters that are kept for the authorization endpoint, `application/x-www-form-urlencoded`. `added` replaces what the
 * client sent under these names.
 */
export function keptParameters(params: Parameters, added: Readonly<Record<string, string>>): string {
  const names = params.names.filter((name) => !NOT_KEPT.has(name) && !Object.hasOwn(added, name))
  const sent = names.flatMap((name) => params.all(name).map((value) => [name, value]))
  return new URLSearchParams([...sent, ...Object.entries(added)]).toString()
}
