import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { EpochMs } from '../../src/base/brand.ts'
import { compareSchema, digestOf, listMigrations, readScript, type Migration } from '../../src/store/migrations.ts'

const migration = (sql: string): Migration => ({ version: 7, name: 'example', sql })
const textsOf = (sql: string, dialect: 'sqlite' | 'postgres') =>
  readScript(migration(sql), dialect).statements.map((statement) => statement.sql)

test('each database reads its own dialect comments, and no other comment', () => {
  const sql = `-- About it;
create table a (id text /*postgres collate "C"*/ not null) /*sqlite without rowid*/ /*postgres with
  (fillfactor = 85)*/; -- a remark;
/* a comment */ /*postgres create index concurrently b on a (id);*/
`
  assert.deepEqual(textsOf(sql, 'sqlite'), ['create table a (id text  not null) without rowid'])
  assert.deepEqual(textsOf(sql, 'postgres'), [
    'create table a (id text collate "C" not null)  with\n  (fillfactor = 85)',
    'create index concurrently b on a (id)',
  ])
})

test('a semicolon within a line does not end a statement', () => {
  assert.deepEqual(textsOf(`insert into a values ('b;c');\ninsert into a values (1);`, 'sqlite'), [
    `insert into a values ('b;c')`,
    'insert into a values (1)',
  ])
})

test('the first line gives each statement its own transaction, and a mark before a statement repeats it', () => {
  const script = readScript(
    migration(
      '-- each statement by itself\nselect 1;\n-- repeat until no row changes\nupdate a set b = 1 where b = 0;\n',
    ),
    'postgres',
  )
  assert.deepEqual(script, {
    isStepwise: true,
    statements: [
      { sql: 'select 1', repeats: false },
      { sql: 'update a set b = 1 where b = 0', repeats: true },
    ],
  })
  assert.equal(readScript(migration('select 1;'), 'postgres').isStepwise, false)
})

test('a repeated statement in one transaction is rejected: it would hold its locks until the last row', () => {
  assert.throws(
    () => readScript(migration('-- repeat until no row changes\nupdate a set b = 1;'), 'sqlite'),
    /Migration 7 repeats a statement, so its first line must be: -- each statement by itself/,
  )
})

test('a migration can be for one database only', () => {
  const alone = migration('-- A comment.\n/*sqlite\ncreate table a (b text);\n\ncreate index c on a (b);\n*/\n')
  assert.deepEqual(
    readScript(alone, 'sqlite').statements.map(({ sql }) => sql),
    ['create table a (b text)', 'create index c on a (b)'],
  )
  assert.deepEqual(readScript(alone, 'postgres').statements, [])
})

test('a migration that was applied from another text is reported, and comments and the database make no other text', () => {
  const sql = 'create table a (b text /*postgres collate "C"*/);'
  const digest = digestOf(migration(sql))
  assert.equal(digestOf(migration(`-- A comment.\n\n${sql} -- another`)), digest)
  const applied = (one: string | undefined) => [{ version: 7, name: 'example', appliedAt: 1 as EpochMs, digest: one }]
  assert.deepEqual(compareSchema(applied(digest), [migration(sql)], true).changed, [])
  for (const other of [digestOf(migration(sql.replace('"C"', '"de"'))), undefined])
    assert.deepEqual(compareSchema(applied(other), [migration(sql)], true).changed, applied(other))
  // A newer release applied it.
  assert.deepEqual(compareSchema(applied('x'), [], true).changed, [])
})

test('the migrations of this release have versions that rise one by one, and are readable', () => {
  for (const [index, one] of listMigrations().entries()) {
    assert.equal(one.version, index + 1)
    const statements = (['sqlite', 'postgres'] as const).flatMap((dialect) => readScript(one, dialect).statements)
    assert.ok(statements.length > 0)
  }
})

test('a statement with its own transaction on PostgreSQL can run again after a kill', () => {
  for (const one of listMigrations()) {
    const { isStepwise, statements } = readScript(one, 'postgres')
    for (const { sql } of isStepwise ? statements : [])
      assert.match(sql, /\bif (not )?exists\b|^(update|delete)\b/i, sql)
    for (const { sql } of isStepwise ? [] : statements) assert.doesNotMatch(sql, /\bconcurrently\b/i, sql)
  }
})

test('statements that take long on a table with rows are not in one transaction', () => {
  for (const one of listMigrations()) {
    const { isStepwise, statements } = readScript(one, 'postgres')
    const made = statements.map(({ sql }) => /^create table (\w+)/i.exec(sql)?.[1])
    for (const { sql } of isStepwise ? [] : statements) {
      const table = /^(?:create (?:unique )?index \w+ on|update|delete from) (\w+)/i.exec(sql)?.[1]
      assert.ok(table === undefined || made.includes(table), `${one.name}: ${sql}`)
    }
  }
})

test('PostgreSQL builds an index on a table with rows concurrently', () => {
  for (const one of listMigrations()) {
    const { isStepwise, statements } = readScript(one, 'postgres')
    for (const { sql } of isStepwise ? statements : [])
      assert.doesNotMatch(sql, /^create (unique )?index (?!concurrently)/i)
  }
})
