import { destinationsOf, type ClientAddresses } from './identity.ts'
import type { ClientMetadata } from './members.ts'
import { openDomainRules, parseDomainPattern } from './domain-rule.ts'
import { isLoopback } from '../uri/redirect-uri.ts'
import { intersect, narrow, type Scope } from '../token/scope.ts'
import { problem, type Problem } from '../../base/validation.ts'
import { MAXIMA } from '../../base/maxima.ts'

/** What a client that registered with an initial access token may have in its metadata, now and after each update. */
export interface RegistrationLimits {
  /** The client registers these scopes at most. undefined: the token sets no limit. */
  readonly scope: Scope | undefined
  /** Every URI to which the server sends a browser or a notice has one of these hosts; see `parseRedirectHost`. undefined: the token sets no limit. */
  readonly redirectHosts: readonly string[] | undefined
}

/** What an operator decided about the clients that register with one initial access token. */
export interface RegistrationTemplate extends RegistrationLimits {
  /** `verified`: the clients count as verified by the operator (decision 0022). */
  readonly trustLevel: 'verified' | 'unverified'
  /** `sweep`: a client that never gets a token is removed, as after an open registration. `keep`: it is not. */
  readonly unused: 'keep' | 'sweep'
}

/** The template of a token for which the operator names none. */
export const DEFAULT_TEMPLATE: RegistrationTemplate = {
  trustLevel: 'unverified',
  scope: undefined,
  redirectHosts: undefined,
  unused: 'keep',
}

/** The limits of a token: uses, and days until it expires. */
export const TOKEN_USES = { most: 10_000, usual: 1 } as const
export const TOKEN_DAYS = { most: 365, usual: 30 } as const
/** The same for a token that makes verified clients: with a stolen one, any client passes for a client of the operator. */
export const VERIFIED_TOKEN_USES = 100
export const VERIFIED_TOKEN_DAYS = 30
/** The most hosts of a template. */
export const REDIRECT_HOST_LIMIT = MAXIMA.redirectHosts.most

/**
 * Reads a host of a template: `app.example`, `*.app.example`, or a loopback host such as `localhost`. Returns it as URLs have it;
 * undefined if the text is not a host, or a public suffix.
 */
export function parseRedirectHost(text: string): string | undefined {
  if (text === 'localhost') return text
  const read = text.includes('/') ? undefined : parseDomainPattern(text, 'trusted')
  return read?.kind === 'pattern' ? read.pattern : undefined
}

/** Narrows the scope to the limits. A client that registers no scope gets that of the limits, which would not hold otherwise. */
export function limitScope(
  metadata: ClientMetadata,
  limits: RegistrationLimits | undefined,
  declaresScope: (token: string) => boolean,
): ClientMetadata {
  const most = limits?.scope
  if (most === undefined) return metadata
  const scope = metadata.scope === undefined ? narrow(most, declaresScope) : intersect(metadata.scope, most)
  return { ...metadata, scope }
}

/**
 * Returns a problem for each destination whose host the limits do not have. A private-use redirect URI has none, so a token with
 * hosts allows no such URI. Loopback needs no https (RFC 8252 §7.3).
 */
export function findForeignDestinations(
  metadata: ClientAddresses,
  limits: RegistrationLimits | undefined,
): readonly Problem[] {
  const foreign = destinationsOf(metadata).filter(({ uri }) => !isWithinHosts(uri, limits))
  return foreign.map(({ uri, path }) =>
    problem(['body', ...path], 'value_error', 'The initial access token does not allow this host.', uri, {}),
  )
}

/** Whether the limits allow the host of a URI. */
export function isWithinHosts(uri: string, limits: RegistrationLimits | undefined): boolean {
  if (limits?.redirectHosts === undefined) return true
  const { ofHost } = openDomainRules(limits.redirectHosts.map((pattern) => ({ pattern, verdict: 'trusted' })))
  const { protocol, hostname } = new URL(uri)
  return (protocol === 'https:' || isLoopback(uri)) && ofHost(hostname) === 'trusted'
}
