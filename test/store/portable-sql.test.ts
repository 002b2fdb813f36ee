import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { SHARD_KEYS } from '../../src/store/postgres/distribution.ts'
import { openSqliteStore } from '../../src/store/sqlite/store.ts'
import { openMigratedDatabase } from '../support/store/migrated-database.ts'
import { openSession } from '../support/store/postgres.ts'
import { temporaryFolder } from '../support/server.ts'
import { schemaFaults, WHOLE_TABLES } from './portable-sql.ts'
import { listSource } from './recorded-statements.ts'
import { isExcepted, KEYLESS, LOCKS_AND_CLOCKS, NOT_RUN } from './statement-rules.ts'
import { readPostgresObjects, readSqliteObjects } from './statement-plans.ts'

const TABLES = [...Object.keys(SHARD_KEYS), ...WHOLE_TABLES]

const BY_OPERATOR = 'an operator adds its rows, and deletes them'
const BY_MIGRATION = 'its rows are few, and end with their migration or stay'
/** The tables whose rows do not expire, with the reason. */
const NOT_SWEPT: Readonly<Record<string, string>> = {
  users: BY_OPERATOR,
  organizations: BY_OPERATOR,
  memberships: BY_OPERATOR,
  installations: 'an installation is removed with its client, also by a sweep',
  emails: 'an email is deleted with its user',
  user_rows: 'the name of a row is deleted with it',
  user_search: 'a row is removed after its user (indexUsers)',
  user_groups: BY_OPERATOR,
  protected_groups: BY_OPERATOR,
  access_rules: BY_OPERATOR,
  search_due: 'a row is removed when the index is written (indexUsers)',
  search_marks: 'it has one row',
  shared_clients: 'a key is deleted with its client',
  apis: BY_OPERATOR,
  domain_rules: BY_OPERATOR,
  providers: BY_OPERATOR,
  identities: 'an identity is removed by its user, or deleted with the user or the provider',
  roles: 'a user has at most one, which an operator sets',
  browsers: 'a user has at most BROWSER_LIMIT, and they are deleted with the user',
  second_factors: 'a user has at most one, and it is deleted with the user',
  passkeys: 'a user has at most PASSKEY_LIMIT, and they are deleted with the user',
  recovery_codes: 'a user has at most ten, and they are deleted with the user',
  settings: 'it has one row for each name',
  signing_keys: 'a key is removed when no token needs it (src/admin/key/key.ts)',
  leases: 'it has one row for each name',
  admin_credentials: 'the audit names revoked credentials, and an operator creates each',
  migrations: BY_MIGRATION,
  migration_progress: BY_MIGRATION,
}

/** Dropped where the tables are distributed (src/store/postgres/distribution.ts). */
const UNIQUE_OVER_ALL = [
  'clients_shared on clients does not start with client_id',
  'users_email on users does not start with user_id',
]

test('postgres: the schema consists of text and bigint, and each primary key starts with the shard key', async (t) => {
  const client = await openSession(t, await openMigratedDatabase(t))
  assert.deepEqual(schemaFaults(await readPostgresObjects(client)), ['user_search.grams is ARRAY', ...UNIQUE_OVER_ALL])
})

test('sqlite: the schema consists of text and bigint, and each primary key starts with the shard key', (t) => {
  const path = join(temporaryFolder(t), 'grantor.db')
  void openSqliteStore({ path, patienceMs: 1000, checkpoints: 'inline' }).close()
  const database = new DatabaseSync(path)
  t.after(() => database.close())
  // SQLite tables are not distributed: their rows have a number made of the key.
  const numbered = ['clients', 'grants', 'user_search'].flatMap((table) => [
    `${table}.slot is integer`,
    `${table} has no primary key`,
  ])
  assert.deepEqual(schemaFaults(readSqliteObjects(database)).toSorted(), [...numbered, ...UNIQUE_OVER_ALL].toSorted())
})

test('every exception from the rules of statements is needed', () => {
  const both = [...listSource('postgres'), ...listSource('sqlite')]
  const idle = [...LOCKS_AND_CLOCKS, ...KEYLESS, ...NOT_RUN].filter(
    (exception) => !both.some((statement) => isExcepted([exception], statement)),
  )
  assert.deepEqual(idle, [])
})

test('every table of the schema is listed as distributed or copied, and is swept or has a reason', (t) => {
  const path = join(temporaryFolder(t), 'grantor.db')
  void openSqliteStore({ path, patienceMs: 1000, checkpoints: 'inline' }).close()
  const database = new DatabaseSync(path)
  t.after(() => database.close())
  const tables = [...new Set(readSqliteObjects(database).columns.map(({ table }) => table))]
  assert.deepEqual(
    tables.filter((table) => !TABLES.includes(table)),
    [],
    'Add the table to SHARD_KEYS or COPIED_TABLES in src/store/postgres/distribution.ts, then run: npm run docs',
  )
  const sweeps = [...listSource('sqlite'), ...listSource('postgres')].filter(({ file }) =>
    /\/(expired|examined)-rows\.ts$/.test(file),
  )
  const source = readFileSync('src/store/nouns/server/expired-rows.ts', 'utf8')
  const isSwept = (table: string) =>
    source.includes(`removal('${table}', `) || sweeps.some(({ text }) => text.startsWith(`delete from ${table} `))
  assert.deepEqual(
    tables.filter((table) => isSwept(table) === table in NOT_SWEPT),
    [],
    'Remove the expired rows of the table in src/store/nouns/server/expired-rows.ts, or add it with a reason to NOT_SWEPT in test/store/portable-sql.test.ts.',
  )
})
