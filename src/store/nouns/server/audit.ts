import type { AuditLinkRecord } from '../../../ports/records/audit.ts'
import type { AuditPage } from '../../../ports/store.ts'
import type { EpochMs } from '../../../base/brand.ts'
import type { NounOperations } from '../../noun.ts'
import { idBefore, type Row } from '../../rows.ts'
import { rows, shared, type Steps } from '../../shared/statement.ts'
import { bigint, table, text } from '../../table.ts'

export const AUDIT_LINKS = table<AuditLinkRecord>({
  id: text('link_id'),
  chainId: text('chain_id'),
  sequence: bigint('sequence'),
  recordedAt: bigint('recorded_at'),
  previousHash: text('previous_hash'),
  events: text('events'),
  hash: text('link_hash'),
})

/** Its parameters are in the order of the columns, so that `AUDIT_LINKS.write` returns them. */
export const ADD_AUDIT_LINK = shared(
  `insert into audit_links (${AUDIT_LINKS.names}) values (${AUDIT_LINKS.parameters})`,
)
const LIST = shared(
  `select * from audit_links where link_id < :before and link_id >= :from
     and (cast(:containing as text) is null or strpos(events, :containing) > 0) order by link_id desc limit :limit`,
)
const CHAINS = shared(
  `select chain_id from audit_links where sequence = 0 and link_id >= :since order by link_id desc limit :limit`,
)
const HEAD = shared('select * from audit_links where chain_id = :chainId order by sequence desc limit 1')
const LINKS = shared(
  'select * from audit_links where chain_id = :chainId and sequence >= :from order by sequence limit :limit',
)

const operations = {
  // Each engine writes this one by itself.
  recordEvent: { cache: 'kept', event: (event) => event },
} satisfies NounOperations

const reads = {
  *listAuditLinks({ before, limit, since, from = '', containing }: AuditPage): Steps<readonly AuditLinkRecord[]> {
    const earliest = idBefore(since, '')
    const found = yield* rows(LIST, {
      before: before ?? '~',
      from: from < earliest ? earliest : from,
      containing,
      limit,
    })
    return found.map(AUDIT_LINKS.read)
  },
  *listAuditHeads({
    since,
    limit,
  }: {
    readonly since: EpochMs
    readonly limit: number
  }): Steps<readonly AuditLinkRecord[]> {
    const heads: Row[] = []
    for (const { chain_id: chainId } of yield* rows(CHAINS, { since: idBefore(since, ''), limit })) {
      heads.push(...(yield* rows(HEAD, { chainId })))
    }
    return heads.map(AUDIT_LINKS.read)
  },
  *listChainLinks(page: {
    readonly chainId: string
    readonly from: number
    readonly limit: number
  }): Steps<readonly AuditLinkRecord[]> {
    return (yield* rows(LINKS, page)).map(AUDIT_LINKS.read)
  },
}

export const audit = { operations, reads }
