import { isSameJson } from '../../../base/json.ts'
import type { ClientMetadata } from '../../../protocol/client/members.ts'
import { idOf, type NounOperations, when } from '../../noun.ts'
import { countTokenUse } from './initial-tokens.ts'
import { endLaterOfClient } from '../token/not-before.ts'
import { aboutClient, INSERT, add, CLIENTS, HELD_FOR_EVER } from './clients.ts'
import { change, idKey, rows, shared } from '../../shared/statement.ts'

/** Replaces the metadata. A client with another identity is neither verified nor approved. */
const SET_METADATA = `metadata = :metadata, identity_from = coalesce(cast(:identityFrom as bigint), identity_from),
  verified_at = case when cast(:identityFrom as bigint) is null then verified_at end,
  approved_scope = case when cast(:identityFrom as bigint) is null then approved_scope end`
const UPDATE = shared(
  `update clients set ${SET_METADATA}
   where client_id = :id and metadata = :previous and source <> 'operator' returning client_id`,
)
const RENEW = shared(
  `update clients set ${SET_METADATA}, document_fetched_at = :fetchedAt, document_fresh_until = :freshUntil,
     not_before = case when cast(:notBefore as bigint) is null then not_before
       else greatest(coalesce(not_before, 0), cast(:notBefore as bigint)) end
   where client_id = :id and document_fetched_at = :previous returning client_id`,
)

/** The clients that register, and those with a metadata document. */
const operations = {
  registerWithToken: {
    keys: ({ client, tokenId }) => [tokenId, client.id],
    cache: 'kept',
    event: when('registered', ({ client, tokenId }) => ({
      event: 'client.registered',
      clientId: client.id,
      details: { initial_token: tokenId },
    })),
    *run({ client, tokenId, now, isKept }) {
      if (!(yield* countTokenUse({ tokenId, now }))) return 'token-inactive'
      yield* rows(INSERT, { ...CLIENTS.values(client), heldUntil: isKept ? HELD_FOR_EVER : 0 })
      return 'registered'
    },
  },
  addDocumentClient: {
    keys: ({ client }) => [client.id],
    // Also the client that another caller added.
    cache: ({ client }) => client.id,
    event: when('added', ({ client: { id, document } }) => ({
      event: 'client.document-added',
      clientId: id,
      details: { url: document.url },
    })),
    *run({ client, retainUntil }) {
      return (yield* add(client, retainUntil)) ? 'added' : 'known'
    },
  },
  updateClient: {
    keys: idKey,
    cache: idOf,
    event: ({ id, previous, metadata, identityFrom }, outcome) =>
      outcome === 'updated' && !isSameMetadata(previous, metadata)
        ? { event: 'client.updated', clientId: id, details: { identity_changed: identityFrom !== undefined } }
        : undefined,
    *run({ id, previous, metadata, identityFrom }) {
      const texts = { metadata: JSON.stringify(metadata), previous: JSON.stringify(previous) }
      return (yield* rows(UPDATE, { id, ...texts, identityFrom })).length === 1 ? 'updated' : 'conflict'
    },
  },
  setManagementToken: {
    keys: idKey,
    cache: idOf,
    event: when('changed', aboutClient('client.registration-token-created')),
    run: change(
      `update clients set management_hash = :managementHash
       where client_id = :id and (secret_hash is not null or management_hash is not null)
         and source = 'registration'
       returning client_id`,
    ),
  },
  renewDocument: {
    keys: idKey,
    cache: idOf,
    event: ({ id, previous, metadata, identityFrom, notBefore }, outcome) =>
      outcome === 'renewed' && !isSameMetadata(previous.metadata, metadata)
        ? {
            event: 'client.document-changed',
            clientId: id,
            details: { identity_changed: identityFrom !== undefined, tokens_revoked: notBefore !== undefined },
          }
        : undefined,
    *run({ id, previous, metadata, document, identityFrom, notBefore }) {
      const values = { id, metadata: JSON.stringify(metadata), ...document, identityFrom, notBefore }
      if ((yield* rows(RENEW, { ...values, previous: previous.fetchedAt })).length === 0) return 'conflict'
      if (notBefore !== undefined) yield* endLaterOfClient(id, notBefore)
      return 'renewed'
    },
  },
  // Each engine writes these by itself.
  registerClient: { cache: 'kept', event: aboutClient('client.registered') },
  registerPublicClient: {
    // The time until which a client is kept from being swept is not part of its record.
    cache: 'kept',
    // Registering the same metadata again returns the existing client, which is no event.
    event: ({ client }, { id }) =>
      id === client.id ? { event: 'client.registered', clientId: id, details: { shared: true } } : undefined,
  },
  useClient: { cache: idOf, event: 'no-event' },
  extendRetention: { cache: 'kept', event: 'no-event' },
} satisfies NounOperations

export const registrations = { operations }

/** Metadata of a row from before 0.1.0 have the text of the row, so their members are compared. */
function isSameMetadata(one: ClientMetadata, other: ClientMetadata): boolean {
  return isSameJson({ ...one }, { ...other })
}
