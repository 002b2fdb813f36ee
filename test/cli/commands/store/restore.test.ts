import assert from 'node:assert/strict'
import fs, { existsSync, readdirSync, type PathLike } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test, type TestContext } from 'node:test'
import { renewRootSecret, rootSecretPath } from '../../../../src/keys/root-secret.ts'
import { openBackup } from '../../../../src/store/backup/read.ts'
import { endEverything, type RestoreTimes } from '../../../../src/store/backup/tables.ts'
import { loadPostgres } from '../../../../src/store/postgres/snapshot.ts'
import { authorizeUrl, pushedUrl, registerClient } from '../../../../tools/flow.ts'
import { withClient } from '../../../../tools/postgres/postgres.ts'
import { runHere } from '../../../support/command.ts'
import { openTestDatabase } from '../../../support/store/postgres.ts'
import { openPlace, withDatabase, type Place } from '../../../support/process.ts'
import { poll, startDevice } from '../../../../tools/device-flow.ts'
import { createDeviceClient, DEVICES_ON } from '../../../support/sign-in/devices.ts'
import { openTestServer } from '../../../support/server.ts'

/** Other processes that use the place of a SQLite database while it is restored. */

interface PlaceWithBackup {
  readonly place: Place
  readonly path: string
  readonly backup: string
}

/** A store with the organization Acme, a backup of it, and the organization Later, which is not in the backup. */
async function openPlaceWithBackup(t: TestContext): Promise<PlaceWithBackup> {
  const place = await openPlace(t)
  const [path, backup] = [join(place.folder, 'grantor.db'), join(place.folder, 'one.backup')]
  for (const words of [
    ['org', 'create', 'Acme'],
    ['backup', '--to', backup],
    ['org', 'create', 'Later'],
  ]) {
    const { code, stderr } = await runHere(place, words)
    assert.equal(code, 0, stderr)
  }
  return { place, path, backup }
}

/** Calls `work` once, before the restore makes its draft. */
function beforeDraft(t: TestContext, { path }: PlaceWithBackup, work: () => void): void {
  const { rmSync } = fs
  let isDone = false
  t.mock.method(fs, 'rmSync', (file: string, options: object) => {
    if (file === `${path}.restoring` && !isDone) {
      isDone = true
      work()
    }
    rmSync(file, options)
  })
  useMocks(t)
}

/** Calls `work` just before the draft gets the name of the database. */
function beforeExchange(t: TestContext, { path }: PlaceWithBackup, work: () => void): void {
  const { renameSync } = fs
  t.mock.method(fs, 'renameSync', (from: PathLike, to: PathLike) => {
    if (from === `${path}.restoring` && to === path) work()
    renameSync(from, to)
  })
  useMocks(t)
}

function useMocks(t: TestContext): void {
  syncBuiltinESMExports()
  t.after(() => {
    t.mock.restoreAll()
    syncBuiltinESMExports()
  })
}

const restoreFrom = ({ place, backup }: PlaceWithBackup, ...more: readonly string[]) =>
  runHere(place, ['restore', '--from', backup, ...more])

test('BAK-01: a command that opens the previous database while it is replaced writes no log beside the restored one', async (t) => {
  const opened = await openPlaceWithBackup(t)
  const { place, path } = opened
  const connections: DatabaseSync[] = []
  t.after(() => connections.forEach((one) => one.close()))
  beforeExchange(t, opened, () => {
    const [early, late] = [new DatabaseSync(path, { timeout: 0 }), new DatabaseSync(path, { timeout: 0 })]
    connections.push(early, late)
    assert.throws(() => early.exec('pragma journal_mode = wal; create table t (x)'), /locked/)
  })
  const { code, stderr } = await restoreFrom(opened, '--replace')
  assert.equal(code, 0, stderr)
  for (const connection of connections)
    assert.throws(() => connection.exec('pragma journal_mode = wal; create table t (x)'), /readonly/)
  assert.deepEqual(
    readdirSync(place.folder).filter((name) => /restoring|-wal|-shm|-journal/.test(name)),
    [],
  )
  const { stdout } = await runHere(place, ['org', 'list'])
  assert.deepEqual([/Acme/.test(stdout), /Later/.test(stdout)], [true, false])
})

test('PAR-10: a restored store has no request that was pushed before the backup', async (t) => {
  const { place, path, backup } = await openPlaceWithBackup(t)
  const before = await openTestServer(t, { folder: place.folder })
  const client = await registerClient(before)
  const url = await pushedUrl(before, client)
  assert.equal((await before.inject({ url })).statusCode, 303)
  const again = `${backup}.again`
  assert.equal((await runHere(place, ['backup', '--to', again])).code, 0)
  await before.close()
  const { code, stderr } = await runHere(place, ['restore', '--from', again, '--replace'])
  assert.equal(code, 0, stderr)
  assert.ok(existsSync(path))
  const after = await openTestServer(t, { folder: place.folder })
  assert.equal((await after.inject({ url })).statusCode, 400)
  assert.equal((await after.inject({ url: authorizeUrl(client) })).statusCode, 303)
})

test('DEV-13: a restored store has no device that waited at the backup', async (t) => {
  const { place, backup } = await openPlaceWithBackup(t)
  const options = { folder: place.folder, env: DEVICES_ON }
  const before = await openTestServer(t, options)
  const client = await createDeviceClient(before)
  const device = await startDevice(before, client)
  const again = `${backup}.again`
  assert.equal((await runHere(place, ['backup', '--to', again])).code, 0)
  await before.close()
  assert.equal((await runHere(place, ['restore', '--from', again, '--replace'])).code, 0)
  const restored = await openTestServer(t, options)
  assert.equal((await poll(restored, client, device)).json().error, 'expired_token')
})

test('a command that opened the previous database before it is replaced makes the restore fail', async (t) => {
  const opened = await openPlaceWithBackup(t)
  let connection: DatabaseSync | undefined
  t.after(() => connection?.close())
  beforeDraft(t, opened, () => {
    connection = new DatabaseSync(opened.path)
    connection.prepare('select * from organizations').all()
  })
  const { code, stderr } = await restoreFrom(opened, '--replace')
  assert.deepEqual([code, /is in use by another process/.test(stderr)], [1, true], stderr)
  connection?.close()
  connection = undefined
  assert.match((await runHere(opened.place, ['org', 'list'])).stdout, /Later/)
})

test('a damaged database that a process has opened gets its name back when that process makes a log', async (t) => {
  const opened = await openPlaceWithBackup(t)
  const { path, place } = opened
  fs.writeFileSync(path, 'not a database', { mode: 0o600 })
  beforeExchange(t, opened, () => fs.writeFileSync(`${path}-wal`, 'a log', { mode: 0o600 }))
  const { code, stderr } = await restoreFrom(opened, '--replace')
  assert.deepEqual([code, /Another process has opened/.test(stderr)], [1, true], stderr)
  assert.equal(fs.readFileSync(path, 'utf8'), 'not a database')
  assert.deepEqual(
    readdirSync(place.folder).filter((name) => name.includes('restor')),
    [],
  )
})

test('a database that was created during a restore is not replaced without --replace', async (t) => {
  const opened = await openPlaceWithBackup(t)
  const { path } = opened
  const elsewhere = `${path}.elsewhere`
  fs.renameSync(path, elsewhere)
  beforeDraft(t, opened, () => fs.renameSync(elsewhere, path))
  assert.match((await restoreFrom(opened)).stderr, /There is a database at .*--replace/)
  assert.match((await runHere(opened.place, ['org', 'list'])).stdout, /Later/)
})

test('a root secret that is changed during a restore makes it fail, and the previous database stays', async (t) => {
  const opened = await openPlaceWithBackup(t)
  beforeDraft(t, opened, () => void renewRootSecret(rootSecretPath(opened.path)))
  const { code, stderr } = await restoreFrom(opened, '--replace')
  assert.deepEqual([code, /secret was changed during the restore/.test(stderr)], [1, true], stderr)
  assert.match((await runHere(opened.place, ['org', 'list'])).stdout, /Later/)
})

test('a backup under the previous root secret is restored with the file of that, and the next step is a rotation', async (t) => {
  const opened = await openPlaceWithBackup(t)
  const { place, path } = opened
  renewRootSecret(rootSecretPath(path))
  const { code, stdout, stderr } = await restoreFrom(opened, '--replace')
  assert.deepEqual([code, /under the previous root secret[^]*grantor secret rotate/.test(stdout)], [0, true], stderr)
  assert.equal((await runHere(place, ['secret', 'rotate'])).code, 0)
  assert.equal(existsSync(`${rootSecretPath(path)}.previous`), false)
  assert.match((await runHere(place, ['org', 'list'])).stdout, /Acme/)
})

test('BAK-07: an answer for a database that is missing, empty, or of an older release is refused, and writes nothing', async (t) => {
  const { place, path } = await openPlaceWithBackup(t)
  new DatabaseSync(path).exec('update migrations set version = 0')
  const missing = join(place.folder, 'other', 'missing.db')
  const url = await openTestDatabase(t)
  const cases: readonly (readonly [Place, RegExp])[] = [
    [place, /has the schema of an older release. Run: grantor migrate/],
    [{ ...place, environment: { ...place.environment, DATABASE_URL: `sqlite:${missing}` } }, /There is no database at/],
    [withDatabase(place, url), /has no Grantor schema/],
  ]
  for (const [at, refusal] of cases) {
    for (const answer of ['--in-place', '--nothing-lost']) {
      const { code, stderr } = await runHere(at, ['restore', answer])
      assert.deepEqual([code, refusal.test(stderr)], [1, true], stderr)
    }
  }
  assert.equal(existsSync(join(place.folder, 'other')), false)
  const counted = await withClient(url, (client) => client.query(`select 1 from pg_tables where schemaname = 'public'`))
  assert.equal(counted.rowCount, 0)
  const { eras } = new DatabaseSync(path)
    .prepare(`select count(*) as eras from settings where name = 'store-eras'`)
    .get() as {
    readonly eras: number
  }
  assert.equal(eras, 0)
})

test('BAK-03: a restore into PostgreSQL that was killed is completed by a repeat, and no server starts before', async (t) => {
  const { place, backup } = await openPlaceWithBackup(t)
  const secret = fs.readFileSync(rootSecretPath(join(place.folder, 'grantor.db')), 'utf8').trim()
  const environment = { DATABASE_URL: await openTestDatabase(t), GRANTOR_SECRET: secret }
  const url = environment.DATABASE_URL
  const opened = openBackup(backup)
  const { header, sha256 } = opened
  const times = { madeAt: Date.parse(header.made_at), now: Date.now() }
  await loadPostgres(url, { schema: header.schema, mark: sha256 }, () =>
    Array.from(opened.slices(), (slice) => endEverything(slice, times)),
  )
  opened.close()
  const command = (...words: readonly string[]) => runHere(place, words, { environment })
  const repeat = async () => {
    const { code, stdout, stderr } = await command('restore', '--from', backup)
    assert.deepEqual([code, /new administrator.*: gad_/.test(stdout)], [0, true], stderr)
  }
  const open = () => openTestServer(t, { env: environment })
  await assert.rejects(open(), /A backup is being restored into postgres:.*run the same command again/)
  const other = join(place.folder, 'other.backup')
  assert.equal((await runHere(place, ['backup', '--to', other])).code, 0)
  assert.match((await command('restore', '--from', other)).stderr, /has the rows of another backup/)
  await repeat()
  assert.match((await command('org', 'list')).stdout, /Acme/)
  assert.match((await command('audit', 'list')).stdout, /server\.restored/)
  // As a kill leaves it after the administrator was created.
  await withClient(url, (client) =>
    client.query('insert into settings (name, value) values ($1, $2)', ['restoring', sha256]),
  )
  await assert.rejects(open(), /is being restored/)
  const later = join(place.folder, 'later.backup')
  assert.equal((await command('backup', '--to', later)).code, 0)
  assert.doesNotMatch(settingsIn(later, times).join(), /restoring/)
  await repeat()
  const { credentials } = JSON.parse((await command('admin', 'list', '--json')).stdout) as {
    readonly credentials: readonly { readonly revoked_at: string | null }[]
  }
  assert.deepEqual([credentials.length, credentials.filter(({ revoked_at: at }) => at === null).length], [2, 1])
  await (await open()).close()
  assert.match((await command('restore', '--from', backup)).stderr, /The database has rows\..*grantor admin create/)
})

/** The names of the settings that a restore of a backup inserts. */
function settingsIn(path: string, times: RestoreTimes): readonly unknown[] {
  const backup = openBackup(path)
  const slices = [...backup.slices()].filter(({ table }) => table === 'settings')
  backup.close()
  return slices.flatMap((slice) => endEverything(slice, times).rows.map((row) => row[slice.columns.indexOf('name')]))
}
