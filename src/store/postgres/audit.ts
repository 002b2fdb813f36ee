import type { Reads } from '../../ports/store.ts'
import { AUDIT_LINKS } from '../operator-tables.ts'
import { idBefore } from '../rows.ts'
import type { Database } from './database.ts'
import type { Handlers } from './handlers.ts'

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
    listAuditHeads: async ({ since, limit }) =>
      (await database.query(HEADS, [idBefore(since, ''), limit])).map(AUDIT_LINKS.read),
  } satisfies Partial<Reads>
  return { handlers, reads }
}
