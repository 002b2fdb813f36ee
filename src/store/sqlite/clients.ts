import type { DatabaseSync } from 'node:sqlite'
import type { ClientRecord } from '../../ports/records/client.ts'
import type { ClientFilter, Page } from '../../ports/store.ts'
import type { ClientId } from '../../protocol/ids.ts'
import { clientOf, recordOf, type Row } from '../rows.ts'
import type { Handlers } from './handlers.ts'
import { slotOf } from './slot.ts'

export function clientStatements(database: DatabaseSync) {
  const insert = database.prepare(
    `insert into clients (slot, client_id, issued_at, secret_hash, management_hash, metadata, held_until)
     values (iif(exists (select 1 from clients where slot = ?1), null, ?1), ?2, ?3, ?4, ?5, ?6, 0)`,
  )
  const share = database.prepare(
    `insert into clients (slot, client_id, issued_at, metadata, shared_key, held_until)
     values (iif(exists (select 1 from clients where slot = ?1), null, ?1), ?2, ?3, ?4, ?5, ?6)
     on conflict (shared_key) where shared_key is not null
     do update set held_until = max(held_until, excluded.held_until)
     returning *`,
  )
  const use = database.prepare('update clients set used_at = coalesce(used_at, ?) where client_id = ?')
  const hold = database.prepare('update clients set held_until = max(held_until, ?) where client_id = ?')
  const update = database.prepare(
    `update clients set metadata = ?1, identity_from = coalesce(?2, identity_from),
       verified_at = case when ?2 is null then verified_at end,
       approved_scope = case when ?2 is null then approved_scope end
     where client_id = ?3 and metadata = ?4`,
  )
  const remove = database.prepare('delete from clients where client_id = ?')
  const removeInstallations = database.prepare('delete from installations where client_id = ?')
  const verify = database.prepare('update clients set verified_at = coalesce(verified_at, ?) where client_id = ?')
  const unverify = database.prepare('update clients set verified_at = null where client_id = ?')
  const disable = database.prepare(
    'update clients set disabled_at = coalesce(disabled_at, ?), shared_key = null where client_id = ?',
  )
  const enable = database.prepare('update clients set disabled_at = null where client_id = ?')
  const rotateSecret = database.prepare(
    `update clients set previous_secret_hash = ?, previous_secret_until = ?, secret_hash = ?
     where client_id = ? and secret_hash = ?`,
  )
  const approveScope = database.prepare('update clients set approved_scope = ? where client_id = ?')
  const expire = database.prepare('update clients set valid_from = max(coalesce(valid_from, 0), ?) where client_id = ?')
  const noteUse = database.prepare(
    'update clients set last_used_at = ?1 where client_id = ?2 and coalesce(last_used_at, 0) < ?1',
  )
  const findAtSlot = database.prepare('select * from clients where slot = ? and client_id = ?')
  const find = database.prepare('select * from clients where client_id = ?')
  const list = database.prepare(
    `select * from clients where client_id < ?1
       and (?2 is null or (used_at is not null) = ?2)
       and (?3 is null or (verified_at is not null) = ?3)
       and (?4 is null or (disabled_at is not null) = ?4)
       and (?5 is null or coalesce(last_used_at, used_at, 0) < ?5)
     order by client_id desc limit ?6`,
  )

  return {
    registerClient(client) {
      const { id, issuedAt, secretHash, managementHash, metadata } = client
      insert.run(slotOf(id), id, issuedAt, secretHash ?? null, managementHash ?? null, JSON.stringify(metadata))
      return 'registered'
    },
    registerPublicClient: ({ client: { id, issuedAt, metadata, dedupeKey }, retainUntil }) =>
      clientOf(share.get(slotOf(id), id, issuedAt, JSON.stringify(metadata), dedupeKey, retainUntil) as Row),
    useClient: ({ id, now }) => (use.run(now, id).changes === 1 ? 'used' : 'unknown'),
    extendRetention: ({ id, until }) => (hold.run(until, id).changes === 1 ? 'held' : 'unknown'),
    updateClient({ id, previous, metadata, identityFrom }) {
      const texts = [JSON.stringify(metadata), JSON.stringify(previous)] as const
      return update.run(texts[0], identityFrom ?? null, id, texts[1]).changes === 1 ? 'updated' : 'conflict'
    },
    deleteClient(id) {
      removeInstallations.run(id)
      return remove.run(id).changes === 1 ? 'deleted' : 'unknown'
    },
    verifyClient: ({ id, now }) => (verify.run(now, id).changes === 1 ? 'changed' : 'unknown'),
    unverifyClient: (id) => (unverify.run(id).changes === 1 ? 'changed' : 'unknown'),
    disableClient: ({ id, now }) => (disable.run(now, id).changes === 1 ? 'changed' : 'unknown'),
    enableClient: (id) => (enable.run(id).changes === 1 ? 'changed' : 'unknown'),
    rotateClientSecret({ id, previous, secretHash, kept, keptUntil }) {
      return rotateSecret.run(kept, keptUntil, secretHash, id, previous).changes === 1 ? 'rotated' : 'conflict'
    },
    approveClientScope: ({ id, scope }) => (approveScope.run(scope, id).changes === 1 ? 'changed' : 'unknown'),
    revokeClientTokens: ({ id, now }) => (expire.run(now, id).changes === 1 ? 'changed' : 'unknown'),
    noteUses(uses) {
      for (const { id, at } of uses) noteUse.run(at, id)
      return 'noted'
    },
    findClient: (id: ClientId): ClientRecord | undefined =>
      recordOf(findAtSlot.get(slotOf(id), id) ?? find.get(id), clientOf),
    listClients({ before, limit, ...filter }: Page<ClientId> & ClientFilter): readonly ClientRecord[] {
      const { isUsed, isVerified, isDisabled, unusedSince } = filter
      const wanted = [isUsed, isVerified, isDisabled, unusedSince].map((value) =>
        value === undefined ? null : Number(value),
      )
      return list.all(before ?? '~', ...wanted, limit).map((row) => clientOf(row as Row))
    },
  } satisfies Partial<Handlers> & Record<string, unknown>
}
