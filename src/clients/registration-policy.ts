import type { Context } from '../ports/context.ts'
import type { ApiRecord } from '../ports/records/api.ts'
import type { ClientRecord } from '../ports/records/client.ts'
import type { RegistrationPolicy } from '../protocol/client/metadata.ts'
import { isOperatorMade, mayBeNotifiedAt, type ClientOrigin } from '../protocol/client/policy.ts'
import { registrableGrantTypes } from '../protocol/token/grant-types.ts'
import { describeUri } from '../protocol/uri/canonical-uri.ts'
import { findDormant } from '../protocol/uri/redirect-uri.ts'
import { isIdentityScope } from '../protocol/token/scope.ts'
import { apisWithScope } from './declared-scopes.ts'

/**
 * Returns what the metadata of a client is checked against: the settings, the scopes of the declared APIs, and what is known of the
 * client without its metadata.
 */
export function registrationPolicy(
  { settings }: Pick<Context, 'settings'>,
  apis: readonly ApiRecord[],
  client: ClientOrigin,
): RegistrationPolicy {
  const isOpen = acceptsAnyScope(settings, apis)
  return {
    ...settings.redirects,
    declaresScope: (token) => isOpen || isReadable(client, token) || apisWithScope(apis, token).length > 0,
    grantTypes: registrableGrantTypes(settings.grantTypes, isOperatorMade(client)),
    mayBeNotifiedAt: (url) => mayBeNotifiedAt(client, url),
    outbound: settings.outbound.isOn ? settings.outbound : undefined,
  }
}

/** The scope `groups` is for clients of the operator alone. */
function isReadable(client: ClientOrigin, token: string): boolean {
  return isIdentityScope(token) && (token !== 'groups' || isOperatorMade(client))
}

/** Logs the redirect URIs that a client has and cannot use. RFC 7591 §3.2.1: the answer to a registration has them too. */
export function reportDormant(
  { record, settings }: Context,
  { id, metadata }: Pick<ClientRecord, 'id' | 'metadata'>,
): void {
  const dormant = findDormant(metadata.redirect_uris, settings.redirects)
  if (dormant.length === 0) return
  const redirectUri = dormant.map(describeUri).join(' ')
  record({ event: 'client.redirect-not-allowed', client: id, reason: 'redirect_uri_not_allowed', redirectUri })
}

/** Whether every scope and resource is accepted, so that a first try needs no setup (decision 0006). */
export function acceptsAnyScope(
  { isLoopbackIssuer }: Pick<Context['settings'], 'isLoopbackIssuer'>,
  apis: readonly ApiRecord[],
): boolean {
  return isLoopbackIssuer && apis.length === 0
}
