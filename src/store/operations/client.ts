import { aboutClient, idOf, type NounOperations, when } from '../noun.ts'
import { isGivenSecret } from '../../protocol/client/authentication.ts'

/** The rows of OPERATIONS for clients: those that register, those of the operator, and those with a metadata document. */
export const CLIENT_OPERATIONS = {
  deleteClient: { cache: 'cleared', event: when('deleted', aboutClient('client.deleted')) },
  verifyClient: { cache: idOf, event: when('changed', aboutClient('client.verified')) },
  unverifyClient: { cache: idOf, event: when('changed', aboutClient('client.unverified')) },
  disableClient: { cache: idOf, event: when('changed', aboutClient('client.disabled')) },
  enableClient: { cache: idOf, event: when('changed', aboutClient('client.enabled')) },
  rotateClientSecret: {
    cache: idOf,
    event: when('rotated', ({ id, secretHash }) => ({
      event: isGivenSecret(secretHash) ? 'client.secret-set' : 'client.secret-rotated',
      clientId: id,
    })),
  },
  upgradeClientSecret: {
    cache: idOf,
    event: when('changed', ({ id, format }) => ({
      event: 'client.secret-upgraded',
      clientId: id,
      details: { format },
    })),
  },
  approveClientScope: {
    cache: idOf,
    event: when('changed', ({ id, scope }) => ({
      event: 'client.scope-approved',
      clientId: id,
      details: { scope },
    })),
  },
  revokeClientTokens: { cache: idOf, event: when('changed', aboutClient('client.tokens-revoked')) },
  // No decision depends on when a client was last used.
  noteUses: { cache: 'kept', event: 'no-event' },
  createClient: {
    // A chosen id may be that of a client that was deleted.
    cache: idOf,
    event: when('created', ({ id, chosenId, about }) => ({
      event: 'client.created',
      clientId: id,
      ...(chosenId === undefined ? {} : { details: { chosen_id: chosenId, ...about?.details } }),
    })),
  },
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

  // A remembered installation of a client that is gone has no effect.
  purgeClient: { cache: idOf, event: when('deleted', aboutClient('client.deleted')) },
} satisfies NounOperations
