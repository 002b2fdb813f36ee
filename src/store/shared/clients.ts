import type { ClientRecord } from '../../ports/records/client.ts'
import type { ClientFilter, Page } from '../../ports/store.ts'
import type { ClientId } from '../../protocol/ids.ts'
import { CLIENTS } from '../tables.ts'
import { change, idKey, outcome, rows, shared, type SharedHandlers, type Steps } from './statement.ts'

const UPDATE = shared(
  `update clients set metadata = :metadata, identity_from = coalesce(cast(:identityFrom as bigint), identity_from),
     verified_at = case when cast(:identityFrom as bigint) is null then verified_at end,
     approved_scope = case when cast(:identityFrom as bigint) is null then approved_scope end
   where client_id = :id and metadata = :previous returning client_id`,
)
const LIST = shared(
  `select * from clients where client_id < :before
     and (cast(:isUsed as bigint) is null or case when used_at is null then 0 else 1 end = :isUsed)
     and (cast(:isVerified as bigint) is null or case when verified_at is null then 0 else 1 end = :isVerified)
     and (cast(:isDisabled as bigint) is null or case when disabled_at is null then 0 else 1 end = :isDisabled)
     and (cast(:unusedSince as bigint) is null or coalesce(last_used_at, used_at, 0) < :unusedSince)
   order by client_id desc limit :limit`,
)

/** What administrators do with clients, and clients with themselves. Registration and use are in the batches of each store. */
export const clientHandlers = {
  updateClient: {
    keys: idKey,
    *run({ id, previous, metadata, identityFrom }) {
      const texts = { metadata: JSON.stringify(metadata), previous: JSON.stringify(previous) }
      return (yield* rows(UPDATE, { id, ...texts, identityFrom })).length === 1 ? 'updated' : 'conflict'
    },
  },
  verifyClient: {
    keys: idKey,
    run: change(
      'update clients set verified_at = coalesce(verified_at, :now) where client_id = :id returning client_id',
    ),
  },
  unverifyClient: {
    keys: idKey,
    run: change('update clients set verified_at = null where client_id = :id returning client_id'),
  },
  disableClient: {
    keys: idKey,
    run: change(
      `update clients set disabled_at = coalesce(disabled_at, :now), shared_key = null where client_id = :id
       returning client_id`,
    ),
  },
  enableClient: {
    keys: idKey,
    run: change('update clients set disabled_at = null where client_id = :id returning client_id'),
  },
  rotateClientSecret: {
    keys: idKey,
    run: outcome(
      `update clients set previous_secret_hash = :kept, previous_secret_until = :keptUntil, secret_hash = :secretHash
       where client_id = :id and secret_hash = :previous returning client_id`,
      'rotated',
      'conflict',
    ),
  },
  approveClientScope: {
    keys: idKey,
    run: change('update clients set approved_scope = :scope where client_id = :id returning client_id'),
  },
  revokeClientTokens: {
    keys: idKey,
    run: change(
      `update clients set valid_from = greatest(coalesce(valid_from, 0), :now) where client_id = :id returning client_id`,
    ),
  },
} satisfies SharedHandlers

export const clientReads = {
  *listClients({ before, limit, ...filter }: Page<ClientId> & ClientFilter): Steps<readonly ClientRecord[]> {
    const { isUsed, isVerified, isDisabled, unusedSince } = filter
    const wanted = { isUsed, isVerified, isDisabled, unusedSince }
    return (yield* rows(LIST, { before: before ?? '~', limit, ...wanted })).map(CLIENTS.read)
  },
}
