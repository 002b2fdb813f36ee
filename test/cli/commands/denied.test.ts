import assert from 'node:assert/strict'
import fs, { chmodSync, mkdirSync, readdirSync, writeFileSync, type PathLike } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { runHere } from '../../support/command.ts'
import { openTestDatabase } from '../../support/store/postgres.ts'
import { openPlace, withDatabase, type Place } from '../../support/process.ts'
import { databasePath } from '../../support/store/dump.ts'

/** Files and folders that a command may not use. The tests may run as root, whom the system denies nothing. */

type Call = 'accessSync' | 'mkdirSync' | 'openSync'

/** The system refuses a call on paths that match. */
function refuse(t: TestContext, call: Call, code: string, paths: RegExp): void {
  const original = fs[call] as (path: PathLike, ...rest: readonly unknown[]) => unknown
  t.mock.method(fs, call, (path: PathLike, ...rest: readonly unknown[]) => {
    if (!paths.test(String(path))) return original(path, ...rest)
    const syscall = call.replace('Sync', '')
    throw Object.assign(new Error(`${code}: refused, ${syscall} '${String(path)}'`), { code, syscall, path })
  })
  syncBuiltinESMExports()
  t.after(() => {
    t.mock.restoreAll()
    syncBuiltinESMExports()
  })
}

async function openWithStore(t: TestContext): Promise<{ readonly place: Place; readonly folder: string }> {
  const place = await openPlace(t)
  assert.equal((await runHere(place, ['org', 'create', 'Acme'])).code, 0)
  const folder = join(place.folder, 'backups')
  mkdirSync(folder, { mode: 0o700 })
  return { place, folder }
}

const TARGETS: Readonly<Record<string, RegExp>> = {
  EACCES: /backups belongs to the user .*Run: chmod u\+rwX .*backups\. Or name another folder with --to\.\n$/,
  EROFS: /its file system is read-only\. Name another folder with --to; .*ReadWritePaths=\.\n$/,
  ENOSPC: /there is no space left on its disk\. Free some space, or name another folder with --to\.\n$/,
}

for (const [code, advice] of Object.entries(TARGETS)) {
  test(`a backup that cannot be written names the path and what to do: ${code}`, async (t) => {
    const { place, folder } = await openWithStore(t)
    refuse(t, 'openSync', code, /backups\/.+\.partial$/)
    for (const to of [folder, join(folder, 'one.backup')]) {
      const { code: exit, stdout, stderr } = await runHere(place, ['backup', '--to', to])
      assert.deepEqual([exit, stdout], [1, ''])
      assert.match(stderr, new RegExp(`^grantor: ${to}\\S* could not be written: `))
      assert.match(stderr, advice)
    }
    assert.deepEqual(readdirSync(folder), [])
  })
}

test('a backup into a folder that does not exist, or that is a file, names the folder and what to do', async (t) => {
  const { place, folder } = await openWithStore(t)
  const inMissing = await runHere(place, ['backup', '--to', join(folder, 'none', 'one.backup')])
  assert.deepEqual(
    [inMissing.code, inMissing.stderr],
    [
      1,
      `grantor: ${folder}/none/one.backup could not be written: there is no folder ${folder}/none. Create it with the mode 0700. A folder that --to names with a / at its end is created.\n`,
    ],
  )
  writeFileSync(join(folder, 'file'), '')
  for (const to of ['file/', 'file/one.backup']) {
    const { stderr } = await runHere(place, ['backup', '--to', join(folder, to)])
    assert.match(stderr, /file\/.* could not be written: a part of the path is a file and not a folder\./, to)
  }
  refuse(t, 'mkdirSync', 'EACCES', /backups\/new\/$/)
  assert.match((await runHere(place, ['backup', '--to', `${folder}/new/`])).stderr, /backups belongs to the user/)
})

test('a file of the database that this user may not open is named with its owner, by commands and by the doctor', async (t) => {
  const { place } = await openWithStore(t)
  const path = databasePath(place)
  const secret = join(place.folder, 'grantor.secret')
  for (const file of [path, `${path}-wal`, secret]) {
    writeFileSync(file, '', { flag: 'a', mode: 0o600 })
    t.mock.restoreAll()
    refuse(t, file === secret ? 'openSync' : 'accessSync', 'EACCES', new RegExp(`${RegExp.escape(file)}$`))
    const owned = new RegExp(`${RegExp.escape(file)} belongs to the user .*Run: chmod u\\+rwX ${RegExp.escape(file)}\n`)
    const command = await runHere(place, ['org', 'list'])
    assert.deepEqual([command.code, owned.test(command.stderr)], [1, true], command.stderr)
    assert.match((await runHere(place, ['doctor'])).stdout, owned)
  }
})

test('a configuration or a secret that this user may not read is named with its owner', async (t) => {
  const place = await openPlace(t)
  const file = join(place.folder, 'grantor.env')
  writeFileSync(file, 'GRANTOR_NAME=Acme\n')
  chmodSync(file, 0o600)
  refuse(t, 'openSync', 'EACCES', /grantor\.env$/)
  for (const name of ['GRANTOR_CONFIG', 'GRANTOR_SECRET_FILE']) {
    const { stderr } = await runHere(place, ['org', 'list'], { environment: { [name]: file } })
    assert.match(stderr, new RegExp(`${name} names ${file}, which cannot be read: ${file} belongs to the user `), name)
  }
})

test('restore --replace is refused for PostgreSQL, whose database is never replaced', async (t) => {
  const place = withDatabase(await openPlace(t), await openTestDatabase(t))
  const { code, stderr } = await runHere(place, ['restore', '--from', 'any', '--replace'])
  assert.equal(code, 2)
  assert.match(stderr, /^grantor: --replace is for a SQLite file\. postgres:\/\/.* is not replaced: create an empty/)
})
