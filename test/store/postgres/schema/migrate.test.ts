import assert from 'node:assert/strict'
import { test } from 'node:test'
import { listMigrations, type Migration } from '../../../../src/store/migrations.ts'
import { migrateAt, readPostgresSchema } from '../../../../src/store/postgres/schema/migrate-at.ts'
import { migratePostgres, schemaState, type MigrationTiming } from '../../../../src/store/postgres/schema/migrate.ts'
import { openSession, openTestDatabase } from '../../../support/store/postgres.ts'
import { runAtOnce } from '../../at-once.ts'
import { appliedOf, PLANTED, ROWS, VERSIONS, versionsOf } from '../../planted-migrations.ts'
import { addressOf, dump, dyingAt, enterSchema, newSchema, onQuery } from '../schema.ts'

const NOW = 1_700_000_000_000
/** A node that dies is replaced at once, and waiting has no practical limit. */
const QUICK: MigrationTiming = { leaseMs: 20, pollMs: 5, patienceMs: 600_000, lockTimeoutMs: 500 }

test('migrations are applied once, in order, and each is recorded', async (t) => {
  const client = await openSession(t, await openTestDatabase(t))
  assert.deepEqual(versionsOf(await migratePostgres(client, NOW, PLANTED)), VERSIONS)
  assert.deepEqual(await migratePostgres(client, NOW + 1, PLANTED), [])
  const { applied, missing, unknown, changed } = await schemaState(client, PLANTED)
  assert.deepEqual(
    applied,
    PLANTED.map((migration) => appliedOf(migration, NOW)),
  )
  assert.deepEqual([missing, unknown, changed], [[], [], []])
  const { rowCount } = await client.query('select 1 from things where size = 3')
  assert.equal(rowCount, ROWS)
})

test('a session gets its own timeouts back', async (t) => {
  const client = await openSession(t, await openTestDatabase(t))
  const timeouts = `select current_setting('lock_timeout') as lock, current_setting('statement_timeout') as statement`
  const before = await client.query(timeouts)
  await migratePostgres(client, NOW, PLANTED)
  assert.deepEqual((await client.query(timeouts)).rows, before.rows)
})

for (const moment of ['before', 'after'] as const) {
  test(`STO-10: killed ${moment} any statement, the next start ends with the same schema and the same records`, async (t) => {
    const url = await openTestDatabase(t)
    const undisturbed = await openSession(t, await newSchema(url))
    let count = 0
    const counting = onQuery(undisturbed, () => void (count += 1))
    await migratePostgres(counting, NOW, PLANTED, QUICK)
    const expected = await dump(undisturbed)
    // Another session than the one that dies. All rounds share it, because opening one takes longer than a round.
    const next = await openSession(t, url)
    for (let fatal = 1; fatal <= count; fatal += 1) {
      const schema = await enterSchema(next)
      const dying = dyingAt(await openSession(t, addressOf(url, schema)), fatal, moment)
      // If it is killed at the very end, everything is done and it reports no error.
      await Promise.allSettled([migratePostgres(dying, NOW, PLANTED, QUICK)])
      await migratePostgres(next, NOW, PLANTED, QUICK)
      assert.deepEqual(await dump(next), expected, `killed ${moment} query ${fatal} of ${count}`)
    }
  })
}

test('of eight nodes that start at once one migrates, and the others wait for it', async (t) => {
  const url = await openTestDatabase(t)
  const nodes = await Promise.all(Array.from({ length: 8 }, () => openSession(t, url)))
  const applied = await Promise.all(nodes.map((node) => migratePostgres(node, NOW, PLANTED)))
  assert.deepEqual(applied.filter(({ length }) => length > 0).map(versionsOf), [VERSIONS])
  const quiet = await openSession(t, await newSchema(url))
  await migratePostgres(quiet, NOW, PLANTED)
  const [node] = nodes
  assert.ok(node)
  assert.deepEqual(await dump(node), await dump(quiet))
})

test('of eight processes that migrate one database at the same time each succeeds, and every step runs once', async (t) => {
  const url = await openTestDatabase(t)
  const finished = await runAtOnce<readonly number[]>(
    t,
    8,
    `const { migrateAt } = await import('./store/postgres/schema/migrate-at.ts')
     await ready()
     done((await migrateAt(${JSON.stringify(url)}, ${NOW})).map(({ version }) => version))`,
  )
  assert.deepEqual(
    finished.flat().toSorted((one, other) => one - other),
    versionsOf(listMigrations()),
  )
  assert.deepEqual((await readPostgresSchema(url)).missing, [])
})

test('a migration that fails leaves nothing behind, earlier ones remain, and the lease is released', async (t) => {
  const client = await openSession(t, await openTestDatabase(t))
  const broken: Migration = {
    version: 2,
    name: 'broken',
    sql: 'create table half (a text);\ncreate table things (a text);',
  }
  await assert.rejects(
    migratePostgres(client, NOW, [PLANTED[0] as Migration, broken]),
    /relation "things" already exists/,
  )
  assert.deepEqual(versionsOf((await schemaState(client, PLANTED)).applied), [1])
  assert.equal((await client.query(`select 1 where to_regclass('half') is not null`)).rowCount, 0)
  assert.equal((await client.query('select 1 from migration_lease')).rowCount, 0)
  assert.deepEqual(versionsOf(await migratePostgres(client, NOW, PLANTED)), [2, 3, 4])
})

test('a release that knows fewer migrations starts on a database that has more', async (t) => {
  const url = await openTestDatabase(t)
  const later: Migration = { version: 9999, name: 'later', sql: 'alter table clients add column colour text;' }
  await migratePostgres(await openSession(t, url), NOW, [...listMigrations(), later])
  assert.deepEqual(await migrateAt(url, NOW), [])
  const { missing, unknown } = await readPostgresSchema(url)
  assert.deepEqual([missing, versionsOf(unknown)], [[], [9999]])
})

test('missing migrations can be listed without changing anything', async (t) => {
  const url = await openTestDatabase(t)
  assert.deepEqual(await readPostgresSchema(url), {
    applied: [],
    missing: listMigrations(),
    unknown: [],
    changed: [],
    isUnrecorded: false,
  })
  const client = await openSession(t, url)
  const { rows } = await client.query(`select 1 from pg_class where relnamespace = current_schema()::regnamespace`)
  assert.deepEqual(rows, [])
})

test('on PostgreSQL every key of the schema is compared byte by byte', async (t) => {
  const client = await openSession(t, await openTestDatabase(t))
  await migratePostgres(client, NOW)
  const { rows } = await client.query(
    `select attrelid::regclass as relation, attname from pg_attribute
     join pg_class on pg_class.oid = attrelid and relkind = 'i' and relnamespace = current_schema()::regnamespace
     where atttypid = 'text'::regtype and attcollation <> 'pg_catalog."C"'::regcollation
       and relname not in ('migration_lease_pkey')`,
  )
  assert.deepEqual(rows, [])
})

test('an address that does not respond, or refuses, is reported with an explanation for the operator', async (t) => {
  await assert.rejects(
    readPostgresSchema('postgres://grantor@127.0.0.1:1/none'),
    /^Error: PostgreSQL cannot be reached: .*DATABASE_URL/,
  )
  const url = new URL(await openTestDatabase(t))
  url.pathname = 'no_such_database'
  await assert.rejects(
    readPostgresSchema(url.href),
    /^Error: PostgreSQL refused: database "no_such_database" does not exist\. .*DATABASE_URL\.$/,
  )
})
