import { differences, idOf, type NounOperations, when } from '../noun.ts'
import type { LinkingReason } from '../../ports/operations/provider.ts'
import type { AuditEventName } from '../../protocol/audit/event-names.ts'
import type { IdentityRecord, ProviderRecord } from '../../ports/records/provider.ts'
import type { AuditEvent } from '../../ports/records/audit.ts'
import type { ProviderSettings } from '../../protocol/sign-in/provider.ts'
import type { ProviderId } from '../../protocol/sign-in/authentication.ts'

/** The rows of OPERATIONS for providers, and the accounts that users have there. */
export const PROVIDER_OPERATIONS = {
  createProvider: { cache: 'kept', event: when('created', aboutSettings('provider.created')) },
  updateProvider: { cache: 'kept', event: when('changed', aboutSettings('provider.updated')) },
  disableProvider: { cache: 'kept', event: when('changed', aboutProvider('provider.disabled')) },
  enableProvider: { cache: 'kept', event: when('changed', aboutProvider('provider.enabled')) },
  deleteProvider: { cache: 'kept', event: when('deleted', aboutProvider('provider.deleted')) },
  linkIdentity: {
    // It may end the memberships of the user.
    cache: 'cleared',
    event: when('linked', ({ identity, reason: { kind } }) => identityLinked(identity, kind)),
  },
  provisionUser: {
    cache: 'kept',
    event: when('created', ({ identity: { userId, providerId } }) => ({
      event: 'user.provisioned',
      userId,
      details: { provider: providerId },
    })),
  },
  // The sign-in has an event of its own.
  useIdentity: { cache: 'kept', event: 'no-event' },
  unlinkIdentity: {
    cache: 'kept',
    event: when('unlinked', ({ userId, providerId }) => ({
      event: 'identity.unlinked',
      userId,
      details: { provider: providerId },
    })),
  },
  createIdentityProof: { cache: 'kept', event: 'no-event' },
} satisfies NounOperations

/** `reason`: `proof`, with a session, or that of the operation. */
export function identityLinked(
  { userId, providerId }: Pick<IdentityRecord, 'userId' | 'providerId'>,
  reason: LinkingReason['kind'] | 'proof',
): AuditEvent {
  return { event: 'identity.linked', userId, details: { provider: providerId, reason } }
}

function aboutSettings(event: AuditEventName) {
  return ({ id, settings, previous }: SettingsChange): AuditEvent => ({
    event,
    organizationId: settings.organizationId,
    details: {
      provider: id,
      client_id: settings.clientId,
      ...differences('assertion_clients', previous?.assertionClients ?? [], settings.assertionClients),
      ...differences('assertion_apis', previous?.assertionApis ?? [], settings.assertionApis),
    },
  })
}

interface SettingsChange extends Pick<ProviderRecord, 'id' | 'settings'> {
  readonly previous?: ProviderSettings
}

function aboutProvider(event: AuditEventName) {
  return (input: ProviderId | { readonly id: ProviderId }): AuditEvent => ({
    event,
    details: { provider: idOf(input) },
  })
}
