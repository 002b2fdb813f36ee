import assert from 'node:assert/strict'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { TestServer } from './server.ts'

/** The tables of counters and of the audit, which every attempt may change (threats.md, NSC). */
const COUNTERS: ReadonlySet<string> = new Set(['hits', 'audit_links'])

/** Every row of all other tables in the server's file, as another process sees it. */
export function dumpStore({ folder }: Pick<TestServer, 'folder'>): Readonly<Record<string, readonly unknown[]>> {
  const database = new DatabaseSync(join(folder, 'grantor.db'), { readOnly: true })
  try {
    const tables = database.prepare("select name from sqlite_schema where type = 'table' order by name").all()
    const names = tables.map(({ name }) => String(name)).filter((name) => !COUNTERS.has(name))
    assert.ok(names.includes('clients') && names.includes('grants'), names.join())
    return Object.fromEntries(
      names.map((name) => [name, database.prepare(`select * from "${name}" order by 1, 2`).all()]),
    )
  } finally {
    database.close()
  }
}

/** The audit events as they are stored: a JSON array for each link, the oldest first. */
export function dumpAudit({ folder }: Pick<TestServer, 'folder'>): readonly string[] {
  const database = new DatabaseSync(join(folder, 'grantor.db'), { readOnly: true })
  try {
    const rows = database.prepare('select events from audit_links order by link_id').all()
    return rows.map(({ events }) => String(events))
  } finally {
    database.close()
  }
}

/** Runs a function that must be refused, and checks that it changed no table. */
export async function assertNoStateChange<T>(
  server: Pick<TestServer, 'folder'>,
  attempt: () => Promise<T>,
  what: string,
): Promise<T> {
  const before = dumpStore(server)
  const result = await attempt()
  assert.deepEqual(dumpStore(server), before, `The store changed: ${what}`)
  return result
}

/** Changes rows without the server, as an operator's command in another process does. */
export function alterStore({ folder }: Pick<TestServer, 'folder'>, sql: string, ...values: (string | number)[]): void {
  const database = new DatabaseSync(join(folder, 'grantor.db'), { timeout: 1000 })
  try {
    assert.equal(database.prepare(sql).run(...values).changes, 1, sql)
  } finally {
    database.close()
  }
}
