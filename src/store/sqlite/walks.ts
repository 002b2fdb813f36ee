import type { DatabaseSync } from 'node:sqlite'
import type { Walk, WalkedClients, WalkedGrants } from '../../ports/walks.ts'
import type { Row } from '../rows.ts'
import { walkedClients, walkedGrants } from '../walks.ts'

/** Reads tables in slices, along their primary keys. */
export function walkStatements(database: DatabaseSync) {
  const grants = database.prepare(
    `select count(*) as seen, max(grant_id) as last,
       count(case when revoked_at is null and expires_at > ? and coalesce(idle_expires_at, expires_at) > ? then 1 end) as live
     from (select grant_id, revoked_at, expires_at, idle_expires_at from grants where grant_id > ? order by grant_id limit ?)`,
  )
  const clients = database.prepare(
    `select count(*) as seen, max(client_id) as last, count(disabled_at) as disabled,
       count(case when disabled_at is null then used_at end) as used
     from (select client_id, used_at, disabled_at from clients where client_id > ? order by client_id limit ?)`,
  )
  return {
    walkGrants: ({ after, limit, now }: Walk): WalkedGrants =>
      walkedGrants(grants.get(now, now, after, limit) as unknown as Row, limit),
    walkClients: ({ after, limit }: Walk): WalkedClients =>
      walkedClients(clients.get(after, limit) as unknown as Row, limit),
  }
}
