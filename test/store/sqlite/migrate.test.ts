import assert from 'node:assert/strict'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test, type TestContext } from 'node:test'
import { listMigrations, type Migration } from '../../../src/store/migrations.ts'
import { openDatabase } from '../../../src/store/sqlite/database.ts'
import { migrate, readSqliteSchema, schemaState } from '../../../src/store/sqlite/migrate.ts'
import { openSqliteStore } from '../../../src/store/sqlite/store.ts'
import { temporaryFolder } from '../../support/server.ts'
import { runAtOnce } from '../at-once.ts'
import { appliedOf, PLANTED, ROWS, VERSIONS, versionsOf } from '../planted-migrations.ts'

const NOW = 1_700_000_000_000

test('migrations are applied once, in order, and each is recorded', (t) => {
  const database = open(t)
  assert.deepEqual(versionsOf(migrate(database, NOW, PLANTED)), VERSIONS)
  assert.deepEqual(migrate(database, NOW + 1, PLANTED), [])
  const { applied, missing, unknown, changed } = schemaState(database, PLANTED)
  assert.deepEqual(
    applied,
    PLANTED.map((migration) => appliedOf(migration, NOW)),
  )
  assert.deepEqual([missing, unknown, changed], [[], [], []])
  assert.equal(database.prepare('select count(*) as count from things where size = 3').get()?.['count'], ROWS)
})

for (const moment of ['before', 'after'] as const) {
  test(`STO-10: killed ${moment} any statement, the next start ends with the same schema and the same records`, (t) => {
    const undisturbed = open(t)
    const count = countCalls(undisturbed)
    const expected = dump(undisturbed)
    for (let fatal = 1; fatal <= count; fatal += 1) {
      const path = join(temporaryFolder(t), 'killed.db')
      const database = openFile(path)
      assert.throws(() => migrate(dyingAt(database, fatal, moment), NOW, PLANTED), `call ${fatal} of ${count}`)
      const next = openFile(path)
      migrate(next, NOW, PLANTED)
      assert.deepEqual(dump(next), expected, `killed ${moment} call ${fatal} of ${count}`)
      next.close()
    }
  })
}

test('a migration that fails leaves nothing behind, and earlier ones remain', (t) => {
  const database = open(t)
  const broken: Migration = {
    version: 2,
    name: 'broken',
    sql: 'create table half (a text);\ncreate table things (a text);',
  }
  assert.throws(() => migrate(database, NOW, [PLANTED[0] as Migration, broken]), /table things already exists/)
  assert.deepEqual(versionsOf(schemaState(database, PLANTED).applied), [1])
  assert.equal(database.prepare(`select 1 from sqlite_master where name = 'half'`).get(), undefined)
  assert.deepEqual(versionsOf(migrate(database, NOW, PLANTED)), [2, 3, 4])
})

test('a release that knows fewer migrations starts on a database that has more', async (t) => {
  const path = join(temporaryFolder(t), 'grantor.db')
  const options = { path, patienceMs: 1000, checkpoints: 'inline' } as const
  const later: Migration = { version: 9999, name: 'later', sql: 'alter table clients add column colour text;' }
  const database = openDatabase(path)
  migrate(database, NOW, [...listMigrations(), later])
  assert.deepEqual(migrate(database, NOW), [])
  assert.deepEqual(versionsOf(schemaState(database).unknown), [9999])
  database.close()
  const store = openSqliteStore(options)
  t.after(() => store.close())
  assert.equal(await store.ping(), undefined)
})

test('missing migrations can be listed without creating the file', (t) => {
  const path = join(temporaryFolder(t), 'none.db')
  assert.deepEqual(readSqliteSchema(path), {
    applied: [],
    missing: listMigrations(),
    unknown: [],
    changed: [],
    isUnrecorded: false,
  })
  assert.deepEqual(readSqliteSchema(path).applied, [])
})

test('of eight processes that migrate one file at the same time each succeeds, and every step runs once', async (t) => {
  const path = join(temporaryFolder(t), 'grantor.db')
  const finished = await runAtOnce<readonly number[]>(
    t,
    8,
    `const { openDatabase } = await import('./store/sqlite/database.ts')
     const { migrate } = await import('./store/sqlite/migrate.ts')
     await ready()
     const database = openDatabase(${JSON.stringify(path)})
     done(migrate(database, ${NOW}).map(({ version }) => version))
     database.close()`,
  )
  assert.deepEqual(
    finished.flat().toSorted((one, other) => one - other),
    versionsOf(listMigrations()),
  )
  assert.deepEqual(readSqliteSchema(path).missing, [])
})

test('two handles that take turns in migrating share the steps and lose none', (t) => {
  const path = join(temporaryFolder(t), 'shared.db')
  const [first, second] = [openFile(path), openFile(path)]
  t.after(() => first.close())
  t.after(() => second.close())
  // The other handle applies everything as soon as the first one has read what is missing.
  let isInterrupted = false
  const interrupted = onCall(first, (sql) => {
    if (isInterrupted || !sql.includes('begin')) return
    isInterrupted = true
    assert.deepEqual(versionsOf(migrate(second, NOW, PLANTED)), VERSIONS)
  })
  assert.deepEqual(migrate(interrupted, NOW, PLANTED), [])
  assert.equal(isInterrupted, true)
})

function open(t: TestContext): DatabaseSync {
  const database = openFile(join(temporaryFolder(t), 'grantor.db'))
  t.after(() => database.close())
  return database
}

/** Without waiting for the disk, because these tests create hundreds of files. */
function openFile(path: string): DatabaseSync {
  const database = new DatabaseSync(path)
  database.exec('pragma journal_mode = wal; pragma synchronous = off')
  return database
}

/** The same handle, which reports each call before it runs. */
function onCall(
  database: DatabaseSync,
  before: (sql: string) => void,
  after: () => void = () => undefined,
): DatabaseSync {
  const traced =
    (sql: string, run: (...input: never[]) => unknown) =>
    (...input: never[]): unknown => {
      before(sql)
      const result = run(...input)
      after()
      return result
    }
  const handle = {
    exec: (sql: string) => traced(sql, () => database.exec(sql))(),
    prepare(sql: string) {
      const statement = database.prepare(sql)
      return {
        run: traced(sql, (...input) => statement.run(...input)),
        get: traced(sql, (...input) => statement.get(...input)),
        all: traced(sql, (...input) => statement.all(...input)),
      }
    },
  }
  return handle as unknown as DatabaseSync
}

function countCalls(database: DatabaseSync): number {
  let count = 0
  migrate(
    onCall(database, () => void (count += 1)),
    NOW,
    PLANTED,
  )
  return count
}

/** A handle whose process is killed at a call: the file is closed with its transaction open. */
function dyingAt(database: DatabaseSync, fatal: number, moment: 'before' | 'after'): DatabaseSync {
  let count = 0
  const die = (): void => {
    if (count !== fatal) return
    database.close()
    throw new Error('killed')
  }
  return onCall(
    database,
    () => {
      count += 1
      if (moment === 'before') die()
    },
    () => {
      if (moment === 'after') die()
    },
  )
}

function dump(database: DatabaseSync): unknown {
  return {
    schema: database.prepare('select type, name, sql from sqlite_master order by type, name').all(),
    notes: database.prepare('select * from migrations order by version').all(),
    progress: database.prepare('select * from migration_progress').all(),
    rows: database.prepare('select * from things order by id').all(),
  }
}
