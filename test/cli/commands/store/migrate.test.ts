import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import pg from 'pg'
import { listMigrations } from '../../../../src/store/migrations.ts'
import { openDatabase } from '../../../../src/store/sqlite/database.ts'
import { openTestDatabase } from '../../../support/store/postgres.ts'
import { runHere } from '../../../support/command.ts'
import { openPlace, withDatabase, type Place } from '../../../support/process.ts'

interface Status {
  readonly database: string
  readonly up_to_date: boolean
  readonly applied: readonly { readonly version: number; readonly name: string; readonly applied_at: string }[]
  readonly missing: readonly { readonly version: number; readonly name: string }[]
  readonly newer: readonly { readonly version: number; readonly name: string; readonly applied_at: string }[]
}

interface Database {
  readonly place: Place
  /** As it is shown. */
  readonly location: string
  readonly execute: (sql: string) => Promise<void>
}

const KNOWN = listMigrations().map(({ version, name }) => ({ version, name }))
const NEWEST = KNOWN.at(-1)?.version

for (const [kind, open] of [
  ['SQLite', openSqliteStage],
  ['PostgreSQL', openPostgresStage],
] as const) {
  test(`${kind}: migrate status shows the missing migrations, and later when they were applied`, async (t) => {
    const { place, location } = await open(t)
    const before = await status(place)
    assert.deepEqual(before, {
      code: 3,
      document: { database: location, up_to_date: false, applied: [], missing: KNOWN, newer: [] },
    })
    const words = await runHere(place, ['migrate', 'status'])
    assert.equal(words.code, 3)
    assert.match(words.stdout, /^VERSION +NAME +STATE +APPLIED \(UTC\)\n0001 +start +missing +–\n/)
    assert.ok(words.stdout.endsWith(`\n${location} is not up to date. Run: grantor migrate\n`))

    const started = Date.now()
    const migrated = await runHere(place, ['migrate'])
    assert.equal(migrated.stdout, `Migrated ${location} to version ${NEWEST}.\n`)
    const { code, document } = await status(place)
    assert.equal(code, 0)
    assert.deepEqual([document.up_to_date, document.missing, document.newer], [true, [], []])
    assert.deepEqual(
      document.applied.map(({ version, name }) => ({ version, name })),
      KNOWN,
    )
    for (const { applied_at: at } of document.applied)
      assert.ok(Date.parse(at) >= started && Date.parse(at) <= Date.now())
    assert.match(
      (await runHere(place, ['migrate', 'status'])).stdout,
      /\n0001 +start +applied +20\d\d-.*\n.* is up to date\.\n$/s,
    )
  })

  test(`${kind}: migrate status lists migrations of a newer release without an error`, async (t) => {
    const { place, execute } = await open(t)
    await runHere(place, ['migrate'])
    await execute(`insert into migrations (version, name, applied_at, digest) values (9999, 'later', 7, '')`)
    const { code, document } = await status(place)
    assert.equal(code, 0)
    assert.deepEqual(
      [document.up_to_date, document.newer],
      [true, [{ version: 9999, name: 'later', applied_at: '1970-01-01T00:00:00.007Z' }]],
    )
    assert.match(
      (await runHere(place, ['migrate', 'status'])).stdout,
      /\n9999 +later +of a newer release +1970-01-01 00:00\n/,
    )
    const refused = await runHere(place, ['migrate'])
    assert.equal(refused.code, 1)
    assert.match(refused.stderr, /^grantor: The database was migrated by a newer release than this one\./)
    for (const words of [
      ['user', 'list'],
      ['user', 'create', '--email', 'ada@acme.test', '--no-password'],
      ['backup', '--to', 'x'],
      ['secret', 'rotate'],
    ]) {
      const command = await runHere(place, words)
      assert.deepEqual([command.code, command.stdout], [1, ''], words.join(' '))
      assert.match(command.stderr, /^grantor: \S+ has the schema of a newer release\. Run the command of that release/)
    }
  })

  test(`${kind}: a store whose table of migrations is empty is refused, and nothing is written`, async (t) => {
    const { place, execute } = await open(t)
    await runHere(place, ['migrate'])
    await execute('delete from migrations')
    for (const words of [['migrate'], ['migrate', 'status'], ['user', 'list'], ['export', '--to', 'x'], ['serve']]) {
      const { code, stdout, stderr } = await runHere(place, words)
      assert.deepEqual([code, stdout], [1, ''], words.join(' '))
      assert.match(stderr, /^grantor: The database has tables of Grantor, but its table "migrations" is empty/)
    }
    const doctor = await runHere(place, ['doctor'])
    assert.match(doctor.stdout + doctor.stderr, /its table "migrations" is empty/)
  })

  test(`${kind}: a store that was made from another 0001-start.sql is refused, and the message names export and import`, async (t) => {
    const { place, execute } = await open(t)
    await runHere(place, ['migrate'])
    for (const change of [`update migrations set digest = 'another'`, 'alter table migrations drop column digest']) {
      await execute(change)
      for (const words of [['migrate'], ['migrate', 'status'], ['user', 'list'], ['export', '--to', 'x'], ['serve']]) {
        const { code, stdout, stderr } = await runHere(place, words)
        assert.deepEqual([code, stdout], [1, ''], words.join(' '))
        assert.match(stderr, /another 0001-start\.sql.*"export" .*"import grantor"/, words.join(' '))
      }
      const { stdout } = await runHere(place, ['doctor'])
      assert.match(stdout, /another 0001-start\.sql/)
    }
  })

  test(`${kind}: migrate prints no password, and a second migration applies nothing`, async (t) => {
    const { place, location } = await open(t)
    await runHere(place, ['migrate'])
    const { code, stdout, stderr } = await runHere(place, ['migrate'])
    assert.deepEqual([code, stdout, stderr], [0, `${location} is up to date (version ${NEWEST}).\n`, ''])
  })
}

test('migrate status creates no file', async (t) => {
  const { place, location } = await openSqliteStage(t)
  assert.equal((await status(place)).code, 3)
  assert.equal(existsSync(location), false)
})

test('migrate status fails when PostgreSQL cannot be reached, with another exit code than for missing migrations', async (t) => {
  const place = withDatabase(await openPlace(t), 'postgres://grantor:hidden@127.0.0.1:1/none')
  const { code, stderr } = await runHere(place, ['migrate', 'status'])
  assert.equal(code, 1)
  assert.match(stderr, /^grantor: PostgreSQL cannot be reached: .*DATABASE_URL/)
  assert.doesNotMatch(stderr, /hidden/)
})

async function openSqliteStage(t: TestContext): Promise<Database> {
  const place = await openPlace(t)
  const location = join(place.folder, 'grantor.db')
  return {
    place,
    location,
    async execute(sql) {
      const database = openDatabase(location)
      database.exec(sql)
      database.close()
    },
  }
}

async function openPostgresStage(t: TestContext): Promise<Database> {
  const url = await openTestDatabase(t)
  const { host, pathname } = new URL(url)
  return {
    place: withDatabase(await openPlace(t), url),
    location: `postgres://${host}${pathname}`,
    async execute(sql) {
      const client = new pg.Client({ connectionString: url })
      await client.connect()
      await client.query(sql)
      await client.end()
    },
  }
}

async function status(place: Place): Promise<{ readonly code: number | null; readonly document: Status }> {
  const { code, stdout, stderr } = await runHere(place, ['migrate', 'status', '--json'])
  assert.equal(stderr, '')
  return { code, document: JSON.parse(stdout) as Status }
}
