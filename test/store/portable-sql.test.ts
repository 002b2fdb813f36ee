import assert from 'node:assert/strict'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test, type TestContext } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type pg from 'pg'
import { OPERATIONS } from '../../src/store/operations/index.ts'
import { SHARD_KEYS } from '../../src/store/postgres/distribution.ts'
import { SESSION_SETTINGS } from '../../src/store/postgres/connection/database.ts'
import { inspectPostgres } from '../../src/store/postgres/inspect.ts'
import { readPostgresSchema } from '../../src/store/postgres/schema/migrate-at.ts'
import { openPostgresStore } from '../../src/store/postgres/store.ts'
import { openDatabase } from '../../src/store/sqlite/database.ts'
import { inspectDatabase } from '../../src/store/sqlite/inspect.ts'
import { readSqliteSchema } from '../../src/store/sqlite/migrate.ts'
import { openSqliteStore } from '../../src/store/sqlite/store.ts'
import { openTestChains } from './contract/chains.ts'
import { oneBatchAtATime, type Stores } from './contract/harness.ts'
import { CONTRACT } from './contract/store-contract.ts'
import { openSession, openTestDatabase } from '../support/store/postgres.ts'
import { temporaryFolder } from '../support/server.ts'
import { decisionFaults, notingDecisions, type Decision } from './decisions.ts'
import { keyFaults, type Access, schemaFaults, statementFaults, WHOLE_TABLES } from './portable-sql.ts'
import {
  listSource,
  recordPostgres,
  recordSqlite,
  type SourceStatement,
  type StoreKind,
} from './recorded-statements.ts'
import {
  fillUnanalyzed,
  planOnPostgres,
  planOnSqlite,
  readPostgresObjects,
  readSqliteObjects,
} from './statement-plans.ts'

const TABLES = [...Object.keys(SHARD_KEYS), ...WHOLE_TABLES]
const ROWS = 20_000

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

interface Exception {
  readonly why: string
  readonly file?: RegExp
  readonly text?: RegExp
}

/** Statements that read the database's clock, or lock tables. */
const LOCKS_AND_CLOCKS: readonly Exception[] = [
  {
    why: 'the clock check compares the clocks',
    text: /^select floor\(extract\(epoch from clock_timestamp\(\)\) \* 1000\)::bigint as now$/,
  },
  { why: 'the lease is by one clock, not by each node’s', file: /\/migration-lease\.ts$/ },
  { why: 'a restore fills an empty database that no server uses', file: /postgres\/snapshot\.ts$/ },
  { why: 'a store that is distributed is not closed', file: /\/closing\.ts$/ },
  {
    why: 'a redemption does not change the row of its code (decision 0032)',
    text: /^insert into grants .+ for share of a\b/,
  },
]

/** Statements that do not find their rows by the shard key. */
const KEYLESS: readonly Exception[] = [
  { why: 'a server with a file that noted no time yet looks for its newest row', text: /^select max\(at\) as at from/ },
  {
    why: 'a person signs in by email',
    text: /^select (\*|coalesce\(max\(user_id\), \S+\) as user_id) from users where email = \S+$/,
  },
  { why: 'only the doctor', text: /^select (min\(due_at\) as due_at from mails$|r\.\*, |chosen_id.* from clients )/ },
  { why: 'the operator pages through a list', text: /^select \* from \w+ where .+ < .+ (desc|order by email) limit/ },
  {
    why: 'an operator counts in slices',
    text: /^select (user_id from passkeys where user_id > |i\.user_id from identities )/,
  },
  {
    why: 'what belongs to a user or an organization goes with it, once',
    text: /^delete from (sessions|memberships|installations|identities|roles) where (user|organization)_id = \S+$/,
  },
  {
    why: 'a leaked secret ends all initial access tokens, once',
    text: /^update initial_tokens set revoked_at = \S+ where expires_at > \S+ and revoked_at is null$/,
  },
  {
    why: 'the sweep adds up the new clients of a day, one row for 15 minutes',
    text: /^select window_start, count from registration_counts order by window_start desc limit/,
  },
  {
    why: 'a sign-out ends the logins of a session, an account page shows and ends what a user has, and a sweep ends codes',
    text: /^(delete from sessions where user_id = \S+ and (session_id <>|created_at >=)|select \* from identities where user_id =|select \* from authorizations where user_id =|select \* from (grants|\( select \*, row_number\(\) over \(partition by client_id, organization_id order by grant_id desc\) as place from grants) where user_id = \S+ and revoked_at is null|update authorizations set status = 'burned' where (authorization_id >|\$\{)|update grants set revoked_at = \S+ where user_id =)/,
  },
  {
    why: 'a sign-in removes the oldest sessions of a user who has too many',
    text: /^(select session_id from sessions where user_id = \S+ and session_id < \S+ order by|delete from sessions where user_id = \S+ and session_id <= )/,
  },
  {
    why: 'an account page shows and changes the identities of a user, and they are deleted with the user or the provider',
    text: /^(select identity_key from identities where user_id = |select i\.identity_key from identities as i join |delete from identities where (provider_id = |user_id = \S+ and ))/,
  },
  {
    why: 'the open proofs of a provider are deleted with it, and are found by their end',
    text: /^delete from identity_proofs where expires_at > \S+ and provider_id = /,
  },
  {
    why: 'a node looks once a second for the notices and mails that are due, by an index of those alone',
    text: /^select \* from (logout_notices|mails) where due_at <= /,
  },
  { why: 'an operator changes an address', text: /^select user_id from users where email = \S+ and user_id <>/ },
  {
    why: 'the operator ends what a store that was restored could revive, once',
    text: /^delete from (roles where user_id > |(links|email_codes|interactions|pushed_requests|devices|identity_proofs|logout_notices|mails) where (expires_at|kept_until) > \S+$)/,
  },
  {
    why: 'a node looks for older links only if the store lacks the one that it remembers',
    text: /^select link_id from audit_links where link_id < \S+ order by link_id desc limit 1$/,
  },
  { why: 'a revocation also ends what a clock that was ahead has issued', file: /\/not-before\.ts$/ },
  {
    why: 'on Citus, a change of rows on any shard looks first whether there are such rows',
    file: /\/user-rows\.ts$/,
    text: /^select 1 from /,
  },
  { why: 'sweeps go by time, in slices, over all shards', file: /\/sweep\.ts$/ },
  { why: 'metrics and searches walk over all shards, in slices', file: /\/walks\.ts$/ },
  { why: 'the audit is read by time, in slices; its chains are found once a minute', file: /\/audit\.ts$/ },
  { why: 'the doctor looks for the youngest row', file: /\/inspect\.ts$/, text: /limit 1/ },
  { why: 'on SQLite rows have a number made of the key', text: /\bslot = (\?|slot_of)/ },
]

const REMEDY =
  'Find the rows by the shard key of their table. Where that is impossible, add the statement with its reason to KEYLESS in test/store/portable-sql.test.ts.'

/** Statements that the contract run below does not execute. */
const NOT_RUN: readonly Exception[] = [
  {
    why: 'run by postgres/settle.test.ts, where a part of a commit is late',
    file: /\/settle\.ts$/,
    text: /^(insert into|delete from) (sessions|identities|emails) |set status = status/,
  },
  { why: 'run by npm run prove:citus', file: /\/distribution\.ts$/ },
  { why: 'run by cli/commands/store/move.test.ts', file: /\/closing\.ts$/ },
  {
    why: 'run by migrate-postgres.test.ts and migrate-sqlite.test.ts, over planted migrations',
    file: /\/migrate\.ts$/,
    text: /migration_progress/,
  },
  { why: 'run by migrate-postgres.test.ts after a kill', text: /invalid|indisvalid|^drop index concurrently/ },
  {
    why: 'run by migrate-postgres.test.ts when a lock is not to be had',
    file: /\/migrat\w*.*\.ts$/,
    text: /^rollback$|lock_timeout = /,
  },
  { why: 'run by cli/commands/store/backup.test.ts', file: /\/snapshot\.ts$/ },
  { why: 'run by store/faults/postgres-refusals.test.ts', file: /\/write-check\.ts$/ },
]

interface Recorded {
  readonly executed: ReadonlySet<string>
  readonly source: readonly SourceStatement[]
  /** The operations on PostgreSQL, as where Citus distributes the tables. */
  readonly decisions?: readonly Decision[]
}

const recorded: Record<StoreKind, (t: TestContext) => Promise<Recorded>> = {
  postgres: once(async (t) => {
    const url = await openTestDatabase(t)
    const cleaner = await openSession(t, url)
    const decisions: Decision[] = []
    const executed = await recordPostgres(async () => {
      const options = { url, connections: 4 }
      await readPostgresSchema(url)
      const open = (isDistributed: boolean) => openPostgresStore({ ...options, isDistributed, audit: openTestChains() })
      // Truncating takes a hundred times as long.
      const emptying = emptied().map((table) => `delete from ${table}`)
      const empty = async () => void (await cleaner.query(emptying.join('; ')))
      await runContract({ first: await open(false), second: await open(false) }, empty)
      const distributed = async () => notingDecisions(await open(true), decisions)
      await runContract({ first: await distributed(), second: await distributed() }, empty)
      await inspectPostgres(url, undefined)
    })
    return { executed, source: listSource('postgres'), decisions }
  }),
  sqlite: once(async (t) => {
    const path = join(temporaryFolder(t), 'grantor.db')
    const executed = await recordSqlite(async () => {
      const options = { path, patienceMs: 10_000, checkpoints: 'inline' } as const
      readSqliteSchema(path)
      const open = () => openSqliteStore({ ...options, audit: openTestChains() })
      const [first, second] = [open(), open()]
      const cleaner = new DatabaseSync(path)
      await runContract({ first: oneBatchAtATime(first), second: oneBatchAtATime(second) }, async () =>
        emptied().forEach((table) => cleaner.exec(emptyingOf(table))),
      )
      cleaner.close()
      inspectDatabase(path, undefined)
    })
    return {
      executed: new Set([...executed].filter((sql) => !emptied().some((table) => sql === emptyingOf(table)))),
      source: listSource('sqlite'),
    }
  }),
}

/** Differs from the statements of the store. */
function emptyingOf(table: string): string {
  return `delete from ${table} where true`
}

for (const store of ['postgres', 'sqlite'] as const) {
  test(`${store}: every statement in the source is executed by the contract, and every executed one is in the source`, async (t) => {
    const { executed, source } = await recorded[store](t)
    assert.ok(executed.size > 50, 'too few statements were recorded')
    const idle = source.filter(({ pattern }) => ![...executed].some((sql) => pattern.test(sql)))
    assert.deepEqual(
      idle.filter((statement) => !isExcepted(NOT_RUN, statement)).map(({ file, text }) => `${file}: ${text}`),
      [],
    )
    assert.deepEqual(
      [...executed].filter((sql) => !source.some(({ pattern }) => pattern.test(sql))),
      [],
    )
  })

  test(`${store}: no statement uses features that do not scale out`, async (t) => {
    const { executed, source } = await recorded[store](t)
    const faults = [...source, ...[...executed].map((text) => found(source, text))].flatMap((statement) =>
      isExcepted(LOCKS_AND_CLOCKS, statement)
        ? []
        : statementFaults(statement.text).map((fault) => `${fault}: ${statement.text}`),
    )
    assert.deepEqual(faults, [])
  })
}

/** Dropped where the tables are distributed (src/store/postgres/distribution.ts). */
const UNIQUE_OVER_ALL = [
  'clients_shared on clients does not start with client_id',
  'users_email on users does not start with user_id',
]

test('postgres: the schema consists of text and bigint, and each primary key starts with the shard key', async (t) => {
  const client = await migratedClient(t)
  assert.deepEqual(schemaFaults(await readPostgresObjects(client)), UNIQUE_OVER_ALL)
})

test('sqlite: the schema consists of text and bigint, and each primary key starts with the shard key', (t) => {
  const path = join(temporaryFolder(t), 'grantor.db')
  void openSqliteStore({ path, patienceMs: 1000, checkpoints: 'inline' }).close()
  const database = new DatabaseSync(path)
  t.after(() => database.close())
  // SQLite tables are not distributed: their rows have a number made of the key.
  const numbered = ['clients', 'grants'].flatMap((table) => [`${table}.slot is integer`, `${table} has no primary key`])
  assert.deepEqual(schemaFaults(readSqliteObjects(database)).toSorted(), [...numbered, ...UNIQUE_OVER_ALL].toSorted())
})

test('postgres: hot statements use the shard key, and none reads a whole table, empty or grown without statistics', async (t) => {
  const statements = dataStatements(await recorded.postgres(t))
  const client = await migratedClient(t)
  for (const size of [0, ROWS]) {
    if (size > 0) await fillUnanalyzed(client, size)
    const faults: string[] = []
    for (const statement of statements) {
      const accesses = await planOnPostgres(client, statement.text)
      const whole = accesses.filter(({ table, isWhole }) => isWhole && table in SHARD_KEYS)
      faults.push(...whole.map(({ table }) => `reads all of ${table}: ${statement.text}`))
      if (!isExcepted(KEYLESS, statement))
        faults.push(...keyFaults(accesses).map((fault) => `${fault}: ${statement.text}`))
    }
    assert.deepEqual(faults, [], `With ${size} rows. ${REMEDY}`)
  }
})

test('sqlite: hot statements use the shard key, and none reads a whole table', async (t) => {
  const statements = dataStatements(await recorded.sqlite(t))
  const path = join(temporaryFolder(t), 'grantor.db')
  await openSqliteStore({ path, patienceMs: 1000, checkpoints: 'inline' }).close()
  const database = openDatabase(path)
  t.after(() => database.close())
  const faults = statements.flatMap((statement) => {
    if (statement.file.startsWith('src/store/migrations/')) return []
    const { text } = statement
    const accesses = planOnSqlite(database, text)
    // Those read the last rows of an index, or the few rows of registrations.
    const byOrder = /^select (max\(at\) as at|window_start, count) from /
    const isRead = ({ table, isWhole }: Access) => isWhole && table in SHARD_KEYS && !byOrder.test(text)
    const keyless = isExcepted(KEYLESS, statement) ? [] : keyFaults(accesses)
    return [...keyless, ...accesses.filter(isRead).map(({ table }) => `reads all of ${table}`)].map(
      (fault) => `${fault}: ${text}`,
    )
  })
  assert.deepEqual(faults, [], REMEDY)
})

test('every exception that these tests make is needed', async (t) => {
  const both = [...(await recorded.postgres(t)).source, ...(await recorded.sqlite(t)).source]
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
  const sweeps = [...listSource('sqlite'), ...listSource('postgres')].filter(({ file }) => file.endsWith('/sweep.ts'))
  const isSwept = (table: string) => sweeps.some(({ text }) => text.startsWith(`delete from ${table} `))
  assert.deepEqual(
    tables.filter((table) => isSwept(table) === table in NOT_SWEPT),
    [],
    'Remove the expired rows of the table in src/store/shared/sweep.ts, or add it with a reason to NOT_SWEPT in test/store/portable-sql.test.ts.',
  )
})

test('STO-19: no operation reads a row of another shard that may not be visible yet, or it has a reason', async (t) => {
  const { decisions = [] } = await recorded.postgres(t)
  assert.deepEqual(decisionFaults(decisions, Object.keys(OPERATIONS)), [], 'See test/store/decisions.ts.')
})

/** Statements that read or change rows. */
function dataStatements({ executed, source }: Recorded): readonly SourceStatement[] {
  return [...executed]
    .filter((text) => /^(select|insert|update|delete|with)\b/.test(text))
    .map((text) => found(source, text))
}

function found(source: readonly SourceStatement[], text: string): SourceStatement {
  const { file = '' } = source.find(({ pattern }) => pattern.test(text)) ?? {}
  return { file, text, pattern: /^/ }
}

function isExcepted(exceptions: readonly Exception[], { file, text }: SourceStatement): boolean {
  return exceptions.some((one) => (one.file ?? /^/).test(file) && (one.text ?? /^/).test(text))
}

/** Runs every contract test on the same two handles, and empties the tables after each. */
async function runContract(stores: Stores, empty: () => Promise<void>): Promise<void> {
  const bodies: ((stores: Stores) => Promise<void>)[] = []
  for (const suite of CONTRACT) suite((_, body) => void bodies.push(body))
  for (const body of bodies) {
    await empty()
    // In its own turn, like requests: within a turn a store may continue to read the same snapshot.
    await nextTurn()
    await body(stores)
  }
  await stores.first.ping()
  await Promise.all([stores.first.close(), stores.second.close()])
}

function emptied(): readonly string[] {
  return TABLES.filter((table) => !table.startsWith('migration'))
}

function once<T>(make: (t: TestContext) => Promise<T>): (t: TestContext) => Promise<T> {
  let made: Promise<T> | undefined
  return (t) => (made ??= make(t))
}

async function migratedClient(t: TestContext): Promise<pg.Client> {
  const url = await openTestDatabase(t)
  await (await openPostgresStore({ url, connections: 1 })).close()
  const client = await openSession(t, url)
  for (const [name, value] of Object.entries(SESSION_SETTINGS)) await client.query(`set ${name} = '${value}'`)
  return client
}
