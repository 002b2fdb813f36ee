import type { DatabaseSync } from 'node:sqlite'
import type { AuditLinkRecord } from '../../ports/records/audit.ts'
import type { EpochMs } from '../../protocol/brand.ts'
import { AUDIT_LINKS } from '../operator-tables.ts'
import { idBefore, type Row } from '../rows.ts'
import { ADD_AUDIT_LINK } from '../shared/audit.ts'
import type { Handlers } from './handlers.ts'

/** Statements for the audit (docs/audit.md). */
export function auditStatements(database: DatabaseSync) {
  const add = database.prepare(ADD_AUDIT_LINK.sqlite)
  const heads = database.prepare(
    `select l.* from (
       select chain_id from audit_links where sequence = 0 and link_id >= ? order by link_id desc limit ?) as c
     cross join audit_links as l
     where l.chain_id = c.chain_id
       and l.sequence = (select max(m.sequence) from audit_links as m where m.chain_id = c.chain_id)`,
  )
  return {
    /** The commit's audit link contains the event, so there is nothing else to do. */
    recordEvent: () => 'recorded',
    addAuditLink: (link: AuditLinkRecord): void => void add.run(...AUDIT_LINKS.write(link)),
    listAuditHeads: ({
      since,
      limit,
    }: {
      readonly since: EpochMs
      readonly limit: number
    }): readonly AuditLinkRecord[] => heads.all(idBefore(since, ''), limit).map((row) => AUDIT_LINKS.read(row as Row)),
  } satisfies Partial<Handlers> & Record<string, unknown>
}
