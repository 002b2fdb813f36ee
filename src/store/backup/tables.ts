import type { StoredMasterKey } from '../../ports/records/key.ts'
import {
  CLOSED,
  CREDENTIAL_OF_ORGANIZATION,
  DECLARING,
  DECLARING_PROVIDER,
  RESTORING,
} from '../nouns/server/settings.ts'

/**
 * What a backup does with each table of the schema. A final export, which moves a store, has the `moved` tables too. A test
 * compares the list with the schema.
 */
export const BACKUP_TABLES: Readonly<Record<string, 'stored' | 'moved' | 'omitted'>> = {
  clients: 'stored',
  users: 'stored',
  browsers: 'stored',
  second_factors: 'stored',
  recovery_codes: 'stored',
  passkeys: 'stored',
  consents: 'stored',
  apis: 'stored',
  domain_rules: 'stored',
  providers: 'stored',
  identities: 'stored',
  organizations: 'stored',
  memberships: 'stored',
  user_groups: 'stored',
  protected_groups: 'stored',
  access_rules: 'stored',
  group_members: 'stored',
  installations: 'stored',
  initial_tokens: 'stored',
  admin_credentials: 'stored',
  settings: 'stored',
  audit_links: 'stored',
  figures: 'stored',
  // What is in these ends at a restore, which could not know which of it was revoked since. A store that is moved keeps it.
  authorizations: 'moved',
  pushed_requests: 'moved',
  devices: 'moved',
  grants: 'moved',
  sessions: 'moved',
  logout_notices: 'moved',
  roles: 'moved',
  // A restored store must not send what the other one has sent.
  mails: 'moved',
  links: 'moved',
  email_codes: 'moved',
  interactions: 'moved',
  identity_proofs: 'moved',
  opaque_tokens: 'moved',
  signing_keys: 'moved',
  revoked_tokens: 'moved',
  // A restored store rejects assertions that were issued before the restore.
  consumed: 'moved',
  // `grantor database distribute` makes these of the users, their rows, and the clients.
  user_rows: 'omitted',
  emails: 'omitted',
  shared_clients: 'omitted',
  // The node that sweeps makes these of the users again.
  user_search: 'omitted',
  search_due: 'omitted',
  search_marks: 'omitted',
  // Counters of attempts and registrations end after minutes or a day.
  hits: 'moved',
  registration_counts: 'moved',
  // The first node takes it again.
  leases: 'omitted',
  // The header has the version of the schema.
  migrations: 'omitted',
  migration_progress: 'omitted',
  migration_lease: 'omitted',
}

export const STORED_TABLES: readonly string[] = Object.keys(BACKUP_TABLES).filter(
  (name) => BACKUP_TABLES[name] === 'stored',
)

const MOVED_TABLES: readonly string[] = Object.keys(BACKUP_TABLES).filter((name) => BACKUP_TABLES[name] !== 'omitted')

/** The tables of a backup. Those of a final export are the store as it is. */
export function tablesOf({ final }: { readonly final?: true }): readonly string[] {
  return final === true ? MOVED_TABLES : STORED_TABLES
}

export type Cell = string | number | null
export type Cells = readonly Cell[]

/** Some rows of one table, with the values in the order of the columns. */
export interface Slice {
  readonly table: string
  readonly columns: readonly string[]
  readonly rows: readonly Cells[]
}

/** One consistent state of a store. */
export interface Snapshot {
  /** The version of its newest migration. */
  readonly schema: number
  /** `schemaDigest` of the migrations up to it. */
  readonly schemaDigest: string
  readonly issuer: string | undefined
  readonly masterKey: StoredMasterKey
  /** The rows of these tables. Each table has a slice, also if it has no rows. */
  readonly slices: (tables: readonly string[]) => AsyncIterable<Slice>
}

/** Settings that no other place has: they say what was being done with the store. */
const UNMOVED_SETTINGS: readonly string[] = [
  CLOSED,
  CREDENTIAL_OF_ORGANIZATION,
  DECLARING,
  DECLARING_PROVIDER,
  RESTORING,
]
/** Settings that belong to keys that a restored store does not have, and those that the restore sets. */
const OMITTED_SETTINGS = /^(first-key|last-backup$|not-before$|row-counts$|sweep-rounds$)/

/** The time of the backup and that of the restore, in milliseconds. */
export interface RestoreTimes {
  readonly madeAt: number
  readonly now: number
}

/**
 * Changes rows so that a restored store accepts nothing from before: the server's not-before time, and revoked administrators and
 * initial access tokens.
 *
 * @throws Error if a column that the change needs is missing
 */
export function endEverything(slice: Slice, { madeAt, now }: RestoreTimes): Slice {
  const { table, columns, rows } = keepEverything(slice)
  if (table === 'admin_credentials' || table === 'initial_tokens') {
    const revokedAt = columnOf(columns, 'revoked_at')
    return { table, columns, rows: rows.map((row) => row.with(revokedAt, row[revokedAt] ?? now)) }
  }
  if (table !== 'settings') return { table, columns, rows }
  const name = columnOf(columns, 'name')
  const value = columnOf(columns, 'value')
  const blank: Cells = columns.map(() => null)
  const setting = (key: string, text: string): Cells => blank.with(name, key).with(value, text)
  const kept = rows.filter((row) => !OMITTED_SETTINGS.test(String(row[name])))
  return {
    table,
    columns,
    rows: [...kept, setting('not-before', String(now)), setting('last-backup', String(madeAt))],
  }
}

/** Returns rows of a final export as the store has them that they move to: everything stays valid. */
export function keepEverything(slice: Slice): Slice {
  if (slice.table !== 'settings') return slice
  const name = columnOf(slice.columns, 'name')
  return { ...slice, rows: slice.rows.filter((row) => !UNMOVED_SETTINGS.includes(String(row[name]))) }
}

/** A column of a table, and whether each row must have a value in it. */
export interface TableColumn {
  readonly name: string
  readonly isRequired: boolean
}

/**
 * Refuses columns that the table does not have, because their names become part of a statement, and rows without a column that the
 * table requires. Both are in a file that was made with another text of a migration.
 */
export function checkColumns({ table, columns }: Slice, known: readonly TableColumn[]): void {
  const names = known.map(({ name }) => name)
  if (columns.length === 0 || !columns.every((name) => names.includes(name))) {
    throw new Error(`The backup has a column of the table ${table} that its schema does not have. ${OTHER_VERSION}`)
  }
  const missing = known.find(({ name, isRequired }) => isRequired && !columns.includes(name))
  if (missing !== undefined) {
    throw new Error(`The backup lacks the column ${missing.name} of the table ${table}. ${OTHER_VERSION}`)
  }
}

const OTHER_VERSION = 'A version with another 0001-start.sql made it. Restore it with that version.'

function columnOf(columns: readonly string[], name: string): number {
  const index = columns.indexOf(name)
  if (index === -1) throw new Error(`The backup is damaged: the column ${name} is missing.`)
  return index
}
