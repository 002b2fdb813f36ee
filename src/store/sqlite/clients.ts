import type { DatabaseSync } from 'node:sqlite'
import type { ClientRecord } from '../../ports/records.ts'
import type { Page } from '../../ports/store.ts'
import type { EpochMs, EpochSeconds } from '../../protocol/brand.ts'
import type { ClientMetadata } from '../../protocol/client-metadata.ts'
import type { ClientId } from '../../protocol/ids.ts'
import type { SecretHash } from '../../protocol/secrets.ts'
import type { Handlers } from './handlers.ts'
import type { Row } from './database.ts'

export function clientStatements(database: DatabaseSync) {
  const insert = database.prepare(
    'insert into clients (client_id, issued_at, secret_hash, metadata, held_until) values (?, ?, ?, ?, 0)',
  )
  const use = database.prepare('update clients set used_at = coalesce(used_at, ?) where client_id = ?')
  const hold = database.prepare('update clients set held_until = max(held_until, ?) where client_id = ?')
  const remove = database.prepare('delete from clients where client_id = ?')
  const find = database.prepare('select * from clients where client_id = ?')
  const list = database.prepare('select * from clients where client_id < ? order by client_id desc limit ?')

  return {
    registerClient(client) {
      insert.run(client.id, client.issuedAt, client.secretHash ?? null, JSON.stringify(client.metadata))
      return 'registered'
    },
    useClient: ({ id, now }) => (use.run(now, id).changes === 1 ? 'used' : 'unknown'),
    holdClient: ({ id, until }) => (hold.run(until, id).changes === 1 ? 'held' : 'unknown'),
    deleteClient: (id) => (remove.run(id).changes === 1 ? 'deleted' : 'unknown'),
    findClient(id: ClientId): ClientRecord | undefined {
      const row = find.get(id) as Row | undefined
      return row === undefined ? undefined : clientOf(row)
    },
    listClients: ({ before, limit }: Page<ClientId>): readonly ClientRecord[] =>
      list.all(before ?? '~', limit).map((row) => clientOf(row as Row)),
  } satisfies Partial<Handlers> & Record<string, unknown>
}

function clientOf(row: Row): ClientRecord {
  return {
    id: row['client_id'] as ClientId,
    issuedAt: row['issued_at'] as EpochSeconds,
    secretHash: (row['secret_hash'] ?? undefined) as SecretHash | undefined,
    metadata: JSON.parse(row['metadata'] as string) as ClientMetadata,
    usedAt: (row['used_at'] ?? undefined) as EpochMs | undefined,
    verifiedAt: (row['verified_at'] ?? undefined) as EpochMs | undefined,
    disabledAt: (row['disabled_at'] ?? undefined) as EpochMs | undefined,
  }
}
