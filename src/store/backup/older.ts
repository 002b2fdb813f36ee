import type { Cells, Slice } from './tables.ts'

/**
 * What a version before 0.1.0 had in its tables, and this one has not: a change of 0001-start.sql that removes or renames a column adds a
 * row. A new column is nullable or has a default, so it needs none, and neither does a new table. The list ends with the release 0.1.0, from
 * which on migrations change tables.
 */
export interface OlderColumn {
  readonly table: string
  readonly column: string
  /** The column that has its values now; undefined: they are no longer needed. */
  readonly becomes: string | undefined
  /** What the version that had the column issued in a form that this one does not accept. Absent: everything stays valid. */
  readonly ends?: string
}

const OLDER_COLUMNS: readonly OlderColumn[] = [
  { table: 'roles', column: 'created_at', becomes: 'set_at' },
  {
    table: 'grants',
    column: 'previous_hash',
    becomes: undefined,
    ends: 'refresh tokens: when their access tokens have expired, users authorize the clients again',
  },
]

/** What ends although a store of these tables moves with everything that it issued. */
export function endedWith(columns: Readonly<Record<string, readonly string[]>>): readonly string[] {
  return OLDER_COLUMNS.flatMap(({ table, column, ends }) =>
    ends !== undefined && columns[table]?.includes(column) === true ? [ends] : [],
  )
}

/**
 * Columns with hashes of credentials. Until 2026-11-28 they had 256 bits of an HMAC-SHA-512, which no credential matches now
 * (docs/decisions/0003-credentials.md).
 */
const HASHES: Readonly<Record<string, readonly string[]>> = {
  clients: ['secret_hash', 'management_hash'],
  grants: ['live_hash'],
  sessions: ['session_hash'],
  admin_credentials: ['secret_hash'],
}
const FORMER_HASH = /^[A-Za-z0-9_-]{43}$/

/**
 * Returns rows of an older version with the columns that this one has. Columns that are neither known nor in the list stay, and are refused
 * (`checkColumns`).
 *
 * @throws Error if no credential of the rows could be verified
 */
export function fitOlder(slice: Slice, older: readonly OlderColumn[] = OLDER_COLUMNS): Slice {
  const { table, columns, rows } = slice
  const hashes = (HASHES[table] ?? []).map((name) => columns.indexOf(name)).filter((index) => index !== -1)
  if (rows.some((row) => hashes.some((index) => FORMER_HASH.test(String(row[index])))))
    throw new Error(
      `The table ${table} has credentials that this version cannot verify: the version that made the file hashed them in another way. Restore it with that version.`,
    )
  const ofTable = older.filter((one) => one.table === table && columns.includes(one.column))
  const changed = ofTable.filter(({ becomes }) => becomes === undefined || !columns.includes(becomes))
  if (changed.length === 0) return slice
  const names = columns.map((name) => {
    const found = changed.find(({ column }) => column === name)
    return found === undefined ? name : found.becomes
  })
  const keep = (row: Cells): Cells => row.filter((_, index) => names[index] !== undefined)
  return { table, columns: names.filter((name) => name !== undefined), rows: rows.map(keep) }
}
