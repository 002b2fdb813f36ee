import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { closeSync, existsSync, openSync, truncateSync, writeFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test, type TestContext } from 'node:test'
import { withClient } from '../../../tools/postgres/postgres.ts'
import { openBackup, type CheckedBackup } from '../../../src/store/backup/read.ts'
import { endEverything, STORED_TABLES, type Slice } from '../../../src/store/backup/tables.ts'
import { writeBackup, type BackupHeader } from '../../../src/store/backup/write.ts'
import { listMigrations } from '../../../src/store/migrations.ts'
import { loadPostgres } from '../../../src/store/postgres/snapshot.ts'
import { loadSqlite, withSqliteSnapshot } from '../../../src/store/sqlite/snapshot.ts'
import { openTestDatabase } from '../../support/store/postgres.ts'
import { temporaryFolder } from '../../support/server.ts'

const SCHEMA = listMigrations().at(-1)?.version ?? 0
/** More than two chunks of the reader. */
const ROWS = 3000
const VALUE = 'x'.repeat(1000)

const CHANGES = {
  'its first row': (path: string, { first }: Places) => overwrite(path, first),
  'its last row': (path: string, { last }: Places) => overwrite(path, last),
  'its length, to less': (path: string, { last }: Places) => truncateSync(path, last),
  'its length, to a whole chunk': (path: string) => truncateSync(path, 1024 * 1024),
  'its length, to nothing': (path: string) => truncateSync(path, 0),
  'its length, to more': (path: string) => writeFileSync(path, '["later","row"]\n', { flag: 'a' }),
} as const

interface Places {
  readonly first: number
  readonly last: number
}

for (const [what, change] of Object.entries(CHANGES)) {
  test(`BAK-02: a file that changes ${what} between its check and its use is refused, and SQLite has no row of it`, async (t) => {
    const { path, backup, places } = await openLarge(t)
    change(path, places)
    const draft = join(temporaryFolder(t), 'draft.db')
    assert.throws(() => loadSqlite(draft, SCHEMA, backup.slices()), /was changed while it was restored/)
    assert.deepEqual(settingsOf(draft), [])
  })
}

test('BAK-02: a file that changes its last row between its check and its use is refused, and PostgreSQL has no row of it', async (t) => {
  const { path, backup, places } = await openLarge(t)
  CHANGES['its last row'](path, places)
  const url = await openTestDatabase(t)
  await assert.rejects(
    loadPostgres(url, { schema: SCHEMA, mark: backup.sha256 }, () => backup.slices()),
    /was changed while it was restored/,
  )
  const { rows } = await withClient(url, (client) => client.query('select name from settings'))
  assert.deepEqual(rows, [])
})

test('the rows of an unchanged file are those that were written, also on a second reading', async (t) => {
  const { backup } = await openLarge(t)
  for (let round = 0; round < 2; round += 1) {
    const slices = [...backup.slices()]
    assert.equal(slices.flatMap(({ rows }) => rows).length, ROWS)
    assert.deepEqual(
      STORED_TABLES.filter((name) => !slices.some(({ table }) => table === name)),
      [],
    )
  }
})

test('BAK-02: a column that the schema does not have is refused before it is in a statement', async (t) => {
  const columns = ['name', 'value) values (?, ?); --']
  const slice: Slice = { table: 'settings', columns, rows: [['one', 'two']] }
  const draft = join(temporaryFolder(t), 'draft.db')
  assert.throws(() => loadSqlite(draft, SCHEMA, [slice]), /a column of the table settings/)
  assert.deepEqual(settingsOf(draft), [])
  const url = await openTestDatabase(t)
  await assert.rejects(
    loadPostgres(url, { schema: SCHEMA, mark: 'of no backup' }, () => [slice]),
    /a column of the table settings/,
  )
})

test('BAK-01: a table without a column by which its rows end is refused', () => {
  const times = { madeAt: 1, now: 2 }
  for (const [table, columns, missing] of [
    ['admin_credentials', ['credential_id'], /the column revoked_at is missing/],
    ['settings', ['value'], /the column name is missing/],
    ['settings', ['name'], /the column value is missing/],
  ] as const) {
    assert.throws(() => endEverything({ table, columns, rows: [['one']] }, times), missing)
  }
})

test('a backup refuses a row that a restore would refuse, and leaves no file', async (t) => {
  const path = join(temporaryFolder(t), 'one.backup')
  const row = ['one', 'é'.repeat(600 * 1024)]
  await assert.rejects(write(t, path, [row]), /The row one of settings has more than 1048576 bytes/)
  assert.equal(existsSync(path), false)
})

async function openLarge(t: TestContext): Promise<{ path: string; backup: CheckedBackup; places: Places }> {
  const path = join(temporaryFolder(t), 'one.backup')
  await write(
    t,
    path,
    Array.from({ length: ROWS }, (_, index) => [`name-${index}`, VALUE]),
  )
  const backup = openBackup(path)
  t.after(() => backup.close())
  const { length } = VALUE
  const end = ROWS * length
  return { path, backup, places: { first: length, last: end } }
}

function write(t: TestContext, path: string, rows: readonly (readonly string[])[]) {
  const header: BackupHeader = {
    format: 'grantor-backup',
    version: 1,
    release: '0.0.0',
    schema: SCHEMA,
    schema_digest: '',
    issuer: 'http://localhost',
    made_at: '2026-01-31T00:00:00.000Z',
    master_key: null,
    secret_check: '',
  }
  const authenticate = (sha256: string) => createHash('sha256').update(sha256).digest('hex')
  const empty = join(temporaryFolder(t), 'empty.db')
  loadSqlite(empty, SCHEMA, [])
  return withSqliteSnapshot(empty, ({ slices }) =>
    writeBackup(path, header, withSettings(slices(STORED_TABLES), rows), authenticate),
  )
}

async function* withSettings(
  slices: AsyncIterable<Slice>,
  rows: readonly (readonly string[])[],
): AsyncGenerator<Slice> {
  for await (const slice of slices) yield slice.table === 'settings' ? { ...slice, rows } : slice
}

function overwrite(path: string, place: number): void {
  const file = openSync(path, 'r+')
  writeSync(file, 'y', place)
  closeSync(file)
}

function settingsOf(path: string): readonly unknown[] {
  const database = new DatabaseSync(path)
  try {
    return database.prepare('select name from settings').all()
  } finally {
    database.close()
  }
}
