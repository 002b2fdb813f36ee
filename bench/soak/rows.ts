import { figuresBefore } from '../../src/server/background/sweep.ts'
import { chainStart } from '../../src/protocol/audit/audit-link.ts'
import type { EpochMs } from '../../src/base/brand.ts'
import { idBefore } from '../../src/store/rows.ts'
import type { DatabaseReader } from '../../tools/postgres/database-reader.ts'

/** The lifetimes in seconds after which rows may be deleted. */
export interface Lifetimes {
  readonly unusedClient: number
  readonly auditRetention: number
}

export interface RowCount {
  readonly table: string
  readonly rows: number
  /** The rows that a sweep should have removed. undefined: rows of this table are not swept. */
  readonly due: number | undefined
}

const EVIDENCE_MS = 24 * 60 * 60 * 1000
/** A sweep runs every ten seconds. */
const SWEEP_MS = 10_000

export async function countRows(
  { read }: DatabaseReader,
  { unusedClient, auditRetention }: Lifetimes,
): Promise<readonly RowCount[]> {
  const now = Date.now() - SWEEP_MS
  const due: Readonly<Record<string, string | undefined>> = {
    clients: `used_at is null and held_until < ${now} and client_id < '${idBefore(now - unusedClient * 1000, 'gci_')}'`,
    authorizations: `authorization_id < '${idBefore(now - EVIDENCE_MS, '')}'`,
    grants: `expires_at < ${now} or idle_expires_at < ${now}`,
    sessions: `expires_at < ${now}`,
    hits: `window_end < ${now}`,
    revoked_tokens: `expires_at < ${now}`,
    opaque_tokens: `token_id < '${idBefore(now, '')}'`,
    consumed: `expires_at < ${now}`,
    audit_links: `link_id < '${idBefore(chainStart((now - auditRetention * 1000) as EpochMs), '')}'`,
    figures: `span = '5m' and figure_id < '${idBefore(figuresBefore('5m', now as EpochMs), '')}'`,
    consents: undefined,
    users: undefined,
    signing_keys: undefined,
  }
  const counts: RowCount[] = []
  for (const [table, condition] of Object.entries(due)) {
    const count = (where: string): Promise<number> => read(`select count(*) from ${table}${where}`)
    counts.push({
      table,
      rows: await count(''),
      due: condition === undefined ? undefined : await count(` where ${condition}`),
    })
  }
  return counts
}
