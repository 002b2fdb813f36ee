import type { DatabaseSync } from 'node:sqlite'
import type { ClientRecord } from '../../ports/records/client.ts'
import type { ClientId } from '../../protocol/ids.ts'
import { recordOf, type Row } from '../rows.ts'
import { CLIENTS } from '../nouns/client/clients.ts'
import type { Handlers } from './handlers.ts'
import { prepareRow } from './row.ts'
import { slotOf } from './slot.ts'

export function clientStatements(database: DatabaseSync) {
  const insert = database.prepare(
    `insert into clients (slot, client_id, issued_at, secret_hash, management_hash, metadata, held_until, source)
     values (iif(exists (select 1 from clients where slot = ?1), null, ?1), ?2, ?3, ?4, ?5, ?6, 0, 'registration')`,
  )
  const share = database.prepare(
    `insert into clients (slot, client_id, issued_at, metadata, shared_key, held_until, source)
     values (iif(exists (select 1 from clients where slot = ?1), null, ?1), ?2, ?3, ?4, ?5, ?6, 'registration')
     on conflict (shared_key) where shared_key is not null
     do update set held_until = max(held_until, excluded.held_until)
     returning *`,
  )
  const use = database.prepare('update clients set used_at = coalesce(used_at, ?) where client_id = ?')
  const hold = database.prepare(
    'update clients set held_until = max(held_until, ?1), pending_until = max(coalesce(pending_until, 0), ?1) where client_id = ?2',
  )
  const names = CLIENTS.columns.map(({ name }) => name)
  const findAtSlot = prepareRow(database, names, 'from clients where slot = ? and client_id = ?')
  const find = prepareRow(database, names, 'from clients where client_id = ?')

  return {
    registerClient(client) {
      const { id, issuedAt, secretHash, managementHash, metadata } = client
      insert.run(slotOf(id), id, issuedAt, secretHash ?? null, managementHash ?? null, JSON.stringify(metadata))
      return 'registered'
    },
    registerPublicClient: ({ client: { id, issuedAt, metadata, dedupeKey }, retainUntil }) =>
      CLIENTS.read(share.get(slotOf(id), id, issuedAt, JSON.stringify(metadata), dedupeKey, retainUntil) as Row),
    useClient: ({ id, now }) => (use.run(now, id).changes === 1 ? 'used' : 'unknown'),
    extendRetention: ({ id, until }) => (hold.run(until, id).changes === 1 ? 'held' : 'unknown'),
    findClient: (id: ClientId): ClientRecord | undefined =>
      recordOf(findAtSlot(slotOf(id), id) ?? find(id), CLIENTS.read),
  } satisfies Partial<Handlers> & Record<string, unknown>
}
