import type { Walk, WalkedClients, WalkedGrants } from '../../ports/walks.ts'
import { walkedClients, walkedGrants } from '../walks.ts'
import type { Database } from './database.ts'

const GRANTS = {
  name: 'walk-grants',
  text: `select count(*) as seen, max(grant_id) as last,
      count(case when revoked_at is null and expires_at > $1 and coalesce(idle_expires_at, expires_at) > $1 then 1 end) as live
    from (select grant_id, revoked_at, expires_at, idle_expires_at from grants where grant_id > $2 order by grant_id limit $3)
      as slice`,
}
const CLIENTS = {
  name: 'walk-clients',
  text: `select count(*) as seen, max(client_id) as last, count(disabled_at) as disabled,
      count(case when disabled_at is null then used_at end) as used
    from (select client_id, used_at, disabled_at from clients where client_id > $1 order by client_id limit $2) as slice`,
}

/** Reads tables in slices, along their primary keys. */
export function walkStatements({ query }: Pick<Database, 'query'>) {
  return {
    async walkGrants({ after, limit, now }: Walk): Promise<WalkedGrants> {
      const [row = {}] = await query(GRANTS, [now, after, limit])
      return walkedGrants(row, limit)
    },
    async walkClients({ after, limit }: Walk): Promise<WalkedClients> {
      const [row = {}] = await query(CLIENTS, [after, limit])
      return walkedClients(row, limit)
    },
  }
}
