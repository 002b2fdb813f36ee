import type { AuditEvent } from '../ports/records/audit.ts'
import type { OperatorOperations } from '../ports/operator-operations.ts'
import type { AuditEventName } from '../protocol/audit/event-names.ts'
import { aboutClient, idOf, when, type OperationRow } from './operation-row.ts'

/** The operations on what the operator configures, and on what the server keeps for itself, as in operation-table.ts. */
export const OPERATOR_OPERATIONS: { readonly [Name in keyof OperatorOperations]: OperationRow<Name> } = {
  createClient: { cache: 'kept', event: aboutClient('client.created') },
  adoptClient: { cache: idOf, event: when('adopted', aboutClient('client.adopted')) },
  changeClient: {
    cache: idOf,
    event: when('changed', ({ id, identityFrom }) => ({
      event: 'client.updated',
      clientId: id,
      details: { identity_changed: identityFrom !== undefined },
    })),
  },
  setClientRules: {
    cache: idOf,
    event: when('changed', ({ id, rules }) => ({ event: 'client.rules-set', clientId: id, details: { ...rules } })),
  },
  setManagementToken: { cache: idOf, event: when('changed', aboutClient('client.registration-token-created')) },
  // A remembered installation of a client that is gone has no effect.
  purgeClient: { cache: idOf, event: when('deleted', aboutClient('client.deleted')) },
  declareApi: { cache: 'kept', event: when('declared', aboutApi('api.created')) },
  updateApi: { cache: 'kept', event: when('changed', ({ api }) => aboutApi('api.updated')(api)) },
  setApiCredentials: { cache: 'kept', event: when('changed', aboutApi('api.credentials-set')) },
  deleteApi: { cache: 'kept', event: when('deleted', (resource) => aboutApi('api.deleted')({ resource })) },
  setDomainRule: {
    cache: 'kept',
    event: ({ pattern, verdict }) => ({
      event: verdict === 'trusted' ? 'domain.trusted' : 'domain.blocked',
      details: { pattern },
    }),
  },
  removeDomainRule: {
    cache: 'kept',
    event: when('removed', (pattern) => ({ event: 'domain.forgotten', details: { pattern } })),
  },
  addFirstKey: {
    cache: 'kept',
    event: ({ id }, first) => (first.id === id ? { event: 'key.added', details: { key: id } } : undefined),
  },
  addKey: { cache: 'kept', event: when('added', ({ key }) => ({ event: 'key.added', details: { key: key.id } })) },
  removeKey: { cache: 'kept', event: when('removed', ({ id }) => ({ event: 'key.removed', details: { key: id } })) },
  noteServerAlgorithm: { cache: 'kept', event: 'no-event' },
  noteClock: { cache: 'kept', event: 'no-event' },
  confirmClock: { cache: 'kept', event: ({ now }) => ({ event: 'clock.confirmed', details: { clock: now } }) },
  insertSettingOnce: { cache: 'kept', event: 'no-event' },
  rewrapMasterKey: {
    cache: 'kept',
    event: when('rewrapped', () => ({ event: 'secret.rotated', details: { leaked: false } })),
  },
  replaceMasterKey: {
    cache: 'kept',
    event: when('replaced', () => ({ event: 'secret.rotated', details: { leaked: true } })),
  },
  takeLease: { cache: 'kept', event: 'no-event' },
  releaseLease: { cache: 'kept', event: 'no-event' },
  beginEra: {
    cache: 'kept',
    event: ({ reason }) => {
      // The restore of a backup is an event of its own.
      if (reason === 'restored') return undefined
      return reason === 'ended'
        ? { event: 'server.restored', details: { in_place: true } }
        : { event: 'server.confirmed' }
    },
  },
  replaceSetting: {
    cache: 'kept',
    event({ name, value }) {
      switch (name) {
        case 'issuer':
          return { event: 'server.issuer-changed', details: { issuer: value } }
        case 'last-backup':
          return { event: 'server.backed-up' }
        case 'went-back':
          return { event: 'server.went-back' }
      }
    },
  },
  createInitialToken: {
    cache: 'kept',
    event: ({ id, uses, template }) => ({
      event: 'initial-token.created',
      details: { initial_token: id, uses, trust_level: template.trustLevel },
    }),
  },
  revokeInitialToken: {
    cache: 'kept',
    event: when('changed', ({ id }) => ({ event: 'initial-token.revoked', details: { initial_token: id } })),
  },
  createAdminCredential: {
    cache: 'kept',
    event: ({ id, access, organizationId }) => ({
      event: 'admin-credential.created',
      details: { credential: id, access },
      organizationId,
    }),
  },
  revokeAdminCredential: {
    cache: 'kept',
    event: when('changed', ({ id }) => ({ event: 'admin-credential.revoked', details: { credential: id } })),
  },
}

function aboutApi(event: AuditEventName) {
  return ({ resource }: { readonly resource: string }): AuditEvent => ({ event, details: { resource } })
}
