import type { Context } from '../ports/context.ts'
import type { ApiRecord } from '../ports/records/api.ts'
import type { RegistrationPolicy } from '../protocol/client/metadata.ts'
import { isOperatorMade, mayBeNotifiedAt, type ClientOrigin } from '../protocol/client/policy.ts'
import { registrableGrantTypes } from '../protocol/token/grant-types.ts'
import { isIdentityScope } from '../protocol/token/scope.ts'

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
    declaresScope: (token) =>
      isOpen || isIdentityScope(token) || apis.some(({ scopes }) => scopes.some(({ name }) => name === token)),
    grantTypes: registrableGrantTypes(settings.grantTypes, isOperatorMade(client)),
    mayBeNotifiedAt: (url) => mayBeNotifiedAt(client, url),
    outbound: settings.outbound.isOn ? settings.outbound : undefined,
  }
}

/** Whether every scope and resource is accepted, so that a first try needs no setup (decision 0006). */
export function acceptsAnyScope(
  { isLoopbackIssuer }: Pick<Context['settings'], 'isLoopbackIssuer'>,
  apis: readonly ApiRecord[],
): boolean {
  return isLoopbackIssuer && apis.length === 0
}
