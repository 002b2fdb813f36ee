import type { DatabaseSync } from 'node:sqlite'
import type { ClientRecord } from '../../ports/records/client.ts'
import type { ClientId } from '../../protocol/ids.ts'
import { recordOf, type Row } from '../rows.ts'
import { CLIENTS, HELD_FOR_EVER } from '../tables/client.ts'
import type { Handlers } from './handlers.ts'
import { countTokenUse } from '../shared/initial-tokens.ts'
import type { RunSteps } from './steps.ts'
import { slotOf } from './slot.ts'

export function clientStatements(database: DatabaseSync, run: RunSteps) {
  const insert = database.prepare(
    `insert into clients (slot, client_id, issued_at, secret_hash, management_hash, metadata, held_until, source)
     values (iif(exists (select 1 from clients where slot = ?1), null, ?1), ?2, ?3, ?4, ?5, ?6, 0, 'registration')`,
  )
  const create = database.prepare(
    `insert into clients (slot, held_until, ${CLIENTS.names})
     values (iif(exists (select 1 from clients where slot = ?1), null, ?1), ?, ${CLIENTS.columns.map(() => '?').join(', ')})`,
  )
  const addDocument = database.prepare(
    `insert into clients (slot, held_until, ${CLIENTS.names})
     values (iif(exists (select 1 from clients where slot = ?1), null, ?1), ?2, ${CLIENTS.columns.map(() => '?').join(', ')})
     on conflict (client_id) do nothing`,
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
  const remove = database.prepare('delete from clients where client_id = ?')
  const removeInstallations = database.prepare('delete from installations where client_id = ?')
  const noteUse = database.prepare(
    'update clients set last_used_at = ?1 where client_id = ?2 and coalesce(last_used_at, 0) < ?1',
  )
  const findAtSlot = database.prepare('select * from clients where slot = ? and client_id = ?')
  const find = database.prepare('select * from clients where client_id = ?')

  return {
    registerClient(client) {
      const { id, issuedAt, secretHash, managementHash, metadata } = client
      insert.run(slotOf(id), id, issuedAt, secretHash ?? null, managementHash ?? null, JSON.stringify(metadata))
      return 'registered'
    },
    createClient(client) {
      create.run(slotOf(client.id), HELD_FOR_EVER, ...CLIENTS.write(client))
      return 'created'
    },
    registerWithToken({ client, tokenId, now, isKept }) {
      if (!run(countTokenUse({ tokenId, now }))) return 'token-inactive'
      create.run(slotOf(client.id), isKept ? HELD_FOR_EVER : 0, ...CLIENTS.write(client))
      return 'registered'
    },
    addDocumentClient: ({ client, retainUntil }) =>
      addDocument.run(slotOf(client.id), retainUntil, ...CLIENTS.write(client)).changes === 1 ? 'added' : 'known',
    registerPublicClient: ({ client: { id, issuedAt, metadata, dedupeKey }, retainUntil }) =>
      CLIENTS.read(share.get(slotOf(id), id, issuedAt, JSON.stringify(metadata), dedupeKey, retainUntil) as Row),
    useClient: ({ id, now }) => (use.run(now, id).changes === 1 ? 'used' : 'unknown'),
    extendRetention: ({ id, until }) => (hold.run(until, id).changes === 1 ? 'held' : 'unknown'),
    deleteClient(id) {
      removeInstallations.run(id)
      return remove.run(id).changes === 1 ? 'deleted' : 'unknown'
    },
    noteUses(uses) {
      for (const { id, at } of uses) noteUse.run(at, id)
      return 'noted'
    },
    findClient: (id: ClientId): ClientRecord | undefined =>
      recordOf(findAtSlot.get(slotOf(id), id) ?? find.get(id), CLIENTS.read),
  } satisfies Partial<Handlers> & Record<string, unknown>
}
