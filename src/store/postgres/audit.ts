import type { Reads } from '../../ports/store.ts'
import { auditLinkOf } from '../operator-rows.ts'
import { idBefore } from '../rows.ts'
import type { Database } from './database.ts'
import type { Handlers } from './handlers.ts'

/** Takes the values in the order of `auditLinkValues`. Statements that change rows and add a link use the same text. */
export const ADD_AUDIT_LINK = {
  name: 'add-audit-link',
  text: `insert into audit_links (link_id, chain_id, sequence, recorded_at, previous_hash, events, link_hash)
    values ($1, $2, $3, $4, $5, $6, $7)`,
}
const LIST = {
  name: 'list-audit-links',
  text: 'select * from audit_links where link_id < $1 and link_id >= $2 order by link_id desc limit $3',
}
const HEADS = {
  name: 'list-audit-heads',
  text: `select l.* from (
      select chain_id from audit_links where sequence = 0 and link_id >= $1 order by link_id desc limit $2) as c
    cross join lateral (
      select * from audit_links as m where m.chain_id = c.chain_id order by m.sequence desc limit 1) as l`,
}

/** Statements for the audit (docs/audit.md). */
export function auditStatements(database: Database) {
  const handlers = {
    recordEvent: {
      // At least one key is required. The commit's audit link contains the event, so there is nothing else to do.
      keys: () => ['events'],
      isShared: true,
      run: async (_, inputs) => inputs.map(() => 'recorded' as const),
    },
  } satisfies Partial<Handlers>
  const reads = {
    listAuditLinks: async ({ before, limit, since }) =>
      (await database.query(LIST, [before ?? '~', idBefore(since, ''), limit])).map((row) => auditLinkOf(row)),
    listAuditHeads: async ({ since, limit }) =>
      (await database.query(HEADS, [idBefore(since, ''), limit])).map((row) => auditLinkOf(row)),
  } satisfies Partial<Reads>
  return { handlers, reads }
}
