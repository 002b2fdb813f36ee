import { statSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import pg from 'pg'
import { chainStart } from '../src/protocol/audit-link.ts'
import type { EpochMs } from '../src/protocol/brand.ts'
import { idBefore } from '../src/store/rows.ts'

/** Reads the database of a soak from another process. */
export interface SoakStore {
  /** The sizes of the write-ahead log and of the rest on the disk. */
  readonly readBytes: () => Promise<{ readonly log: number; readonly database: number }>
  readonly countRows: (lifetimes: Lifetimes) => Promise<readonly RowCount[]>
  readonly close: () => Promise<void>
}

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

export function openSoakFile(path: string): SoakStore {
  const database = new DatabaseSync(path, { readOnly: true, timeout: 10_000 })
  const sizeOf = (file: string): number => statSync(file, { throwIfNoEntry: false })?.size ?? 0
  return {
    readBytes: async () => ({ log: sizeOf(`${path}-wal`), database: sizeOf(path) }),
    countRows: (lifetimes) => countAll(lifetimes, async (sql) => Number(database.prepare(sql).get()?.['count'])),
    close: async () => database.close(),
  }
}

export async function openSoakDatabase(url: string): Promise<SoakStore> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  const count = async (sql: string): Promise<number> =>
    Number((await client.query<{ count: string }>(sql)).rows[0]?.count)
  return {
    readBytes: async () => ({
      log: await count('select sum(size) as count from pg_ls_waldir()'),
      database: await count('select pg_database_size(current_database()) as count'),
    }),
    countRows: (lifetimes) => countAll(lifetimes, count),
    close: () => client.end(),
  }
}

async function countAll(
  { unusedClient, auditRetention }: Lifetimes,
  count: (sql: string) => Promise<number>,
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
    audit_links: `link_id < '${idBefore(chainStart((now - auditRetention * 1000) as EpochMs), '')}'`,
    consents: undefined,
    users: undefined,
    signing_keys: undefined,
  }
  const counts: RowCount[] = []
  for (const [table, condition] of Object.entries(due)) {
    counts.push({
      table,
      rows: await count(`select count(*) as count from ${table}`),
      due:
        condition === undefined ? undefined : await count(`select count(*) as count from ${table} where ${condition}`),
    })
  }
  return counts
}
