import assert from 'node:assert/strict'
import { join } from 'node:path'
import { DatabaseSync, type SQLInputValue } from 'node:sqlite'
import type { TestServer } from '../server.ts'

/** The rows of every table, in the order of their first two columns. */
export type Dump = Readonly<Record<string, readonly Readonly<Record<string, unknown>>[]>>

/** What is counted beside the requests. */
const IS_NO_COUNT = `where name not in ('row-counts', 'sweep-rounds')`

/** Counters, used assertions and the audit: a refused request may change them (threats.md, NSC). */
export const COUNTERS: readonly string[] = ['hits', 'consumed', 'audit_links', 'figures']
/** The index of a search, which a node writes beside the requests. */
const INDEX: readonly string[] = ['user_search', 'search_due', 'search_marks']

/** Reads everything that a server's store contains, over a separate connection. */
export function dumpStore(server: Pick<TestServer, 'folder'>): Dump {
  const database = open(server, true)
  try {
    return dump(database)
  } finally {
    database.close()
  }
}

function dump(database: DatabaseSync): Dump {
  const tables = database
    .prepare(
      `select name from pragma_table_list where type = 'table' and schema = 'main' and name not like 'sqlite_%' order by name`,
    )
    .all()
  const names = tables.map(({ name }) => String(name)).filter((name) => ![...COUNTERS, ...INDEX].includes(name))
  assert.ok(names.includes('clients') && names.includes('grants'), names.join())
  return Object.fromEntries(
    names.map((name) => {
      const rows = name === 'settings' ? `settings ${IS_NO_COUNT}` : `"${name}"`
      const hasOneColumn = database.prepare(`select * from ${rows}`).columns().length === 1
      return [name, database.prepare(`select * from ${rows} order by ${hasOneColumn ? '1' : '1, 2'}`).all()]
    }),
  )
}

/**
 * NSC: fails if `act` changes any stored data. `what` names the case in the failure's diff.
 *
 * Where no connection has committed anything, as after most refusals, all is as before, and no row is read. Otherwise `before`, whose
 * transaction began before `act`, still reads what was there.
 */
export async function assertStoreUnchanged<T>(
  server: Pick<TestServer, 'folder'>,
  act: () => Promise<T>,
  what?: string,
): Promise<T> {
  const [before, after] = [open(server, true), open(server, true)]
  try {
    before.exec('begin; select count(*) from sqlite_schema')
    const version = dataVersion(after)
    const result = await act()
    if (dataVersion(after) !== version) assert.deepEqual({ what, ...dump(after) }, { what, ...dump(before) })
    return result
  } finally {
    before.close()
    after.close()
  }
}

/** A number that changes when another connection has committed (https://sqlite.org/pragma.html#pragma_data_version). */
function dataVersion(database: DatabaseSync): unknown {
  return database.prepare('pragma data_version').get()?.['data_version']
}

/** Returns rows of a table, for facts that no response contains. */
export function selectAll(
  server: Pick<TestServer, 'folder'>,
  sql: string,
  ...values: readonly SQLInputValue[]
): readonly Record<string, unknown>[] {
  const database = open(server, true)
  try {
    return database.prepare(sql).all(...values)
  } finally {
    database.close()
  }
}

/** Runs any SQL: a changed schema, for example, lets a statement of the server fail as it would on a full disk. */
export function define(server: Pick<TestServer, 'folder'>, sql: string): void {
  const database = open(server, false)
  try {
    database.exec(sql)
  } finally {
    database.close()
  }
}

/** Changes data that no command changes, as an operator would with SQL. */
export function execute(server: Pick<TestServer, 'folder'>, sql: string, ...values: readonly SQLInputValue[]): void {
  const database = open(server, false)
  try {
    assert.notEqual(database.prepare(sql).run(...values).changes, 0)
  } finally {
    database.close()
  }
}

export function databasePath({ folder }: Pick<TestServer, 'folder'>): string {
  return join(folder, 'grantor.db')
}

function open(server: Pick<TestServer, 'folder'>, readOnly: boolean): DatabaseSync {
  return new DatabaseSync(databasePath(server), { readOnly, timeout: 5000 })
}
