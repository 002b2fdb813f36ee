import assert from 'node:assert/strict'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test, type TestContext } from 'node:test'
import { BACKUP_TABLES } from '../../../src/store/backup/tables.ts'
import { LEASE_TABLE } from '../../../src/store/postgres/schema/migration-lease.ts'
import { runHere, runJsonHere } from '../../support/command.ts'
import { openTestDatabase } from '../../support/store/postgres.ts'
import { openMigratedDatabase } from '../../support/store/migrated-database.ts'
import { withClient } from '../../../tools/postgres/postgres.ts'
import { openPlace, type Place } from '../../support/process.ts'
import { withChecksum, withHeader, withoutTable } from '../../support/store/backup-lines.ts'
import { dumpStore } from '../../support/store/dump.ts'

interface PlaceWithBackup {
  readonly place: Place
  /** A backup of the place. */
  readonly lines: readonly string[]
  /** Restores these lines over the store, which must refuse them and stay as it is. Returns the message. */
  readonly refuse: (lines: readonly string[], environment?: Readonly<Record<string, string>>) => Promise<string>
}

const DAMAGES: readonly (readonly [
  claim: string,
  damage: (lines: readonly string[]) => readonly string[],
  message: RegExp,
])[] = [
  ['an empty file', () => [], /incomplete|not a backup/],
  ['another file', () => ['{"users":[]}\n'], /is not a backup/],
  ['a file without its last line', (lines) => lines.slice(0, -1), /incomplete/],
  ['a file that is cut within a line', (lines) => [lines.join('').slice(0, -10)], /damaged/],
  ['a file without a row', (lines) => lines.filter((line) => !line.includes('Acme')), /damaged: its checksum/],
  [
    'a file with a changed letter',
    (lines) => lines.map((line) => line.replace('Acme', 'Bcme')),
    /damaged: its checksum/,
  ],
  ['a file that continues', (lines) => [...lines, '[]\n'], /continues after its end/],
  ['two files in one', (lines) => [...lines, ...lines], /continues after its end/],
  [
    'a changed row with a new checksum',
    (lines) => withChecksum(lines.map((line) => line.replace('Acme', 'Bcme'))),
    /was changed after it was made/,
  ],
  [
    'a table that no release knows',
    (lines) => lines.toSpliced(1, 0, '{"table":"sqlite_master","columns":["name"]}\n'),
    /a table that this release does not know\. /,
  ],
  [
    'a table whose name has control characters',
    (lines) => lines.toSpliced(1, 0, `{"table":"\\u001b[2J\\u009b2J","columns":["name"]}\n`),
    /^grantor: [ -~]+ has a table that this release does not know\.[ -~]+\n$/,
  ],
  [
    'a table twice',
    (lines) => [...lines.slice(0, -1), lines[1] ?? '', ...lines.slice(-1)],
    /damaged: it has a table twice/,
  ],
  [
    'a header that is too long',
    (lines) => lines.with(0, (lines[0] ?? '').replace('{', `{${' '.repeat(64 * 1024)}`)),
    /is not a backup/,
  ],
  [
    'a header without a time',
    (lines) => lines.with(0, (lines[0] ?? '').replace('"made_at"', '"time"')),
    /is not a backup/,
  ],
  [
    'a row that is too long',
    (lines) => [...lines.slice(0, -1), `["${'x'.repeat(1024 * 1024)}"]\n`, ...lines.slice(-1)],
    /incomplete/,
  ],
]

for (const [claim, damage, message] of DAMAGES) {
  test(`BAK-02: ${claim} is refused before anything is written`, async (t) => {
    const { lines, refuse } = await open(t)
    assert.match(await refuse(damage(lines)), message)
  })
}

test('BAK-02: each flipped bit of a backup is found', async (t) => {
  const { lines, refuse } = await open(t)
  const bytes = Buffer.from(lines.join(''))
  for (let round = 0; round < 25; round += 1) {
    const changed = Buffer.from(bytes)
    const place = Math.floor((round / 25) * bytes.length)
    changed[place] = (changed[place] ?? 0) ^ 1
    await refuse([changed.toString('latin1')])
  }
})

test('BAK-02: another secret, a newer schema, another text of it, a newer format and another issuer are refused', async (t) => {
  const { place, lines, refuse } = await open(t)
  const secret = { GRANTOR_SECRET: 'another root secret, long enough for it' }
  assert.match(await refuse(lines, secret), /another root secret/)
  const withHeaderOf = (change: object) => withHeader(lines, change)
  assert.match(await refuse(withChecksum(withHeaderOf({ version: 2 }))), /newer release/)
  assert.match(await refuse(withChecksum(withHeaderOf({ schema: 9999 }))), /was changed after it was made/)
  const root = readFileSync(join(place.folder, 'grantor.secret'), 'utf8').trim()
  assert.match(await refuse(withChecksum(withHeaderOf({ schema: 9999 }), root)), /has version 9999 of the schema/)
  const lacking = withoutTable(lines, 'figures')
  assert.match(await refuse(withChecksum(lacking, root)), /is damaged: rows are missing in figures/)
  const issuer = { GRANTOR_ISSUER: 'https://auth.acme.test', GRANTOR_HOST: '127.0.0.1' }
  assert.match(await refuse(lines, issuer), /belongs to the issuer http:\/\/localhost/)
})

test('BAK-02: a backup with other columns than those of this version is refused, and the message names the remedy', async (t) => {
  const { place, lines, refuse } = await open(t)
  const root = readFileSync(join(place.folder, 'grantor.secret'), 'utf8').trim()
  const withHead = (table: string, change: (head: string) => string) =>
    withChecksum(
      lines.map((line) => (line.startsWith(`{"table":"${table}"`) ? change(line) : line)),
      root,
    )
  const unknown = withHead('organizations', (head) => head.replace('"not_before"', '"valid_from"'))
  assert.match(
    await refuse(unknown),
    /has a column of the table organizations that its schema does not have\. .* Restore it with that version/,
  )
  const missing = withHead('memberships', (head) => head.replace(',"not_before"', ''))
  assert.match(await refuse(missing), /lacks the column not_before of the table memberships\. .* Restore it with that/)
  const url = await openTestDatabase(t)
  for (const changed of [unknown, missing]) {
    const file = join(place.folder, 'other.backup')
    writeFileSync(file, changed.join(''))
    const environment = { DATABASE_URL: url, GRANTOR_SECRET: root }
    const { code, stderr } = await runHere(place, ['restore', '--from', file], { environment })
    assert.deepEqual([code, /Restore it with that version/.test(stderr)], [1, true], stderr)
  }
})

test('each table of the schema has its place in a backup', async (t) => {
  const place = await openPlace(t)
  await runJsonHere(place, ['org', 'create', 'Acme'])
  const database = new DatabaseSync(join(place.folder, 'grantor.db'), { readOnly: true })
  const onSqlite = database
    .prepare(`select name from pragma_table_list where type = 'table' and schema = 'main' and name not like 'sqlite_%'`)
    .all()
  database.close()
  const known = Object.keys(BACKUP_TABLES).toSorted()
  assert.deepEqual([...onSqlite.map(({ name }) => String(name)), 'migration_lease'].toSorted(), known)
  const onPostgres = await withClient(await openMigratedDatabase(t), async (client) => {
    await client.query(LEASE_TABLE)
    return client.query<{ tablename: string }>(`select tablename from pg_tables where schemaname = current_schema()`)
  })
  assert.deepEqual(onPostgres.rows.map(({ tablename }) => tablename).toSorted(), known)
})

async function open(t: TestContext): Promise<PlaceWithBackup> {
  const place = await openPlace(t)
  await runJsonHere(place, ['org', 'create', 'Acme'])
  const file = join(place.folder, 'one.backup')
  await runJsonHere(place, ['backup', '--to', file])
  const lines = readFileSync(file, 'utf8').split(/(?<=\n)/)
  return {
    place,
    lines,
    async refuse(changed, environment = {}) {
      const damaged = join(place.folder, 'damaged.backup')
      writeFileSync(damaged, changed.join(''), 'latin1')
      const before = dumpStore(place)
      const { code, stderr } = await runHere(place, ['restore', '--from', damaged, '--replace'], { environment })
      assert.equal(code, 1, stderr)
      assert.doesNotMatch(stderr, /This is a bug/)
      assert.deepEqual(dumpStore(place), before)
      assert.equal(existsSync(join(place.folder, 'grantor.db.restoring')), false)
      return stderr
    },
  }
}
