import { aboutClient, idOf, type NounOperations, when } from '../noun.ts'
import { isGivenSecret } from '../../protocol/client/authentication.ts'
import { isSameJson } from '../../base/json.ts'

/** The rows of OPERATIONS for clients: those that register, those of the operator, and those with a metadata document. */
export const CLIENT_OPERATIONS = {
  registerClient: { cache: 'kept', event: aboutClient('client.registered') },
  registerPublicClient: {
    // The time until which a client is kept from being swept is not part of its record.
    cache: 'kept',
    // Registering the same metadata again returns the existing client, which is no event.
    event: ({ client }, { id }) =>
      id === client.id ? { event: 'client.registered', clientId: id, details: { shared: true } } : undefined,
  },
  registerWithToken: {
    cache: 'kept',
    event: when('registered', ({ client, tokenId }) => ({
      event: 'client.registered',
      clientId: client.id,
      details: { initial_token: tokenId },
    })),
  },
  addDocumentClient: {
    // Also the client that another caller added.
    cache: ({ client }) => client.id,
    event: when('added', ({ client: { id, document } }) => ({
      event: 'client.document-added',
      clientId: id,
      details: { url: document.url },
    })),
  },
  renewDocument: {
    cache: idOf,
    event: ({ id, previous, metadata, identityFrom, notBefore }, outcome) =>
      outcome === 'renewed' && !isSameJson(previous.metadata, metadata)
        ? {
            event: 'client.document-changed',
            clientId: id,
            details: { identity_changed: identityFrom !== undefined, tokens_revoked: notBefore !== undefined },
          }
        : undefined,
  },
  useClient: { cache: idOf, event: 'no-event' },
  extendRetention: { cache: 'kept', event: 'no-event' },
  updateClient: {
    cache: idOf,
    event: ({ id, previous, metadata, identityFrom }, outcome) =>
      outcome === 'updated' && !isSameJson(previous, metadata)
        ? { event: 'client.updated', clientId: id, details: { identity_changed: identityFrom !== undefined } }
        : undefined,
  },
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
  setManagementToken: { cache: idOf, event: when('changed', aboutClient('client.registration-token-created')) },
  // A remembered installation of a client that is gone has no effect.
  purgeClient: { cache: idOf, event: when('deleted', aboutClient('client.deleted')) },
} satisfies NounOperations
