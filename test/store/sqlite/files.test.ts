import assert from 'node:assert/strict'
import { once } from 'node:events'
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { Worker } from 'node:worker_threads'
import { readRootSecret } from '../../../src/keys/root-secret.ts'
import { openDatabase, requirePragmas } from '../../../src/store/sqlite/database.ts'
import { findDamage } from '../../../src/store/sqlite/inspect.ts'
import { securePath } from '../../../src/store/sqlite/file/database-file.ts'
import { createAda } from '../../support/accounts.ts'
import { obtainTokens, registerClient } from '../../../tools/flow.ts'
import { openTestServer, temporaryFolder } from '../../support/server.ts'
import { placeBlankDatabase } from '../../support/store/blank-database.ts'
import { dumpStore } from '../../support/store/dump.ts'

/** Bytes of a page of SQLite. */
const PAGE = 4096

test('STO-09: a connection syncs every commit, checks foreign keys and does not trust the schema', (t) => {
  const database = openDatabase(join(temporaryFolder(t), 'grantor.db'))
  const pragma = (name: string): unknown => Object.values(database.prepare(`pragma ${name}`).get() ?? {})[0]
  const names = ['journal_mode', 'synchronous', 'foreign_keys', 'trusted_schema', 'busy_timeout']
  assert.deepEqual(names.map(pragma), ['wal', 2, 1, 0, 0])
  database.close()
})

test('STO-09: a connection that lacks one of these pragmas is rejected, and the error names it', (t) => {
  const wrong = [
    ['journal_mode', 'delete'],
    ['synchronous', 'normal'],
    ['foreign_keys', 'off'],
    ['trusted_schema', 'on'],
  ] as const
  for (const [name, value] of wrong) {
    const database = openDatabase(join(temporaryFolder(t), 'grantor.db'))
    assert.doesNotThrow(() => requirePragmas(database))
    database.exec(`pragma ${name} = ${value}`)
    assert.throws(() => requirePragmas(database), new RegExp(name))
    database.close()
  }
})

test('STO-11: every file is accessible to its owner only, also after a whole flow, and so is a folder that the server creates', async (t) => {
  const folder = join(temporaryFolder(t), 'new', 'data')
  const server = await openTestServer(t, { folder })
  await createAda(server)
  await obtainTokens(server, await registerClient(server))
  assert.equal(modeOf(folder), 0o700)
  const files = readdirSync(folder)
  assert.deepEqual(files.toSorted(), [
    'grantor.db',
    'grantor.db-shm',
    'grantor.db-wal',
    'grantor.db.lock',
    'grantor.db.state',
    'grantor.secret',
  ])
  for (const name of files) assert.equal(modeOf(join(folder, name)), 0o600, name)
})

test('STO-11: the umask of the process does not change the permissions of the files', (t) => {
  const before = process.umask(0)
  t.after(() => process.umask(before))
  const folder = join(temporaryFolder(t), 'data')
  const database = openDatabase(join(folder, 'grantor.db'))
  readRootSecret(join(folder, 'grantor.secret'))
  assert.equal(modeOf(folder), 0o700)
  for (const name of readdirSync(folder)) assert.equal(modeOf(join(folder, name)), 0o600, name)
  database.close()
})

test('STO-11: a database that other users may read is rejected, and the message says what to do', (t) => {
  for (const mode of [0o644, 0o640, 0o604, 0o660]) {
    const path = join(temporaryFolder(t), 'grantor.db')
    writeFileSync(path, '')
    chmodSync(path, mode)
    assert.throws(() => openDatabase(path), /chmod 600/)
  }
})

test('STO-11: a folder that other users may write to is rejected', (t) => {
  const folder = join(temporaryFolder(t), 'open')
  mkdirSync(folder)
  chmodSync(folder, 0o777)
  assert.throws(() => openDatabase(join(folder, 'grantor.db')), /chmod go-w/)
  assert.deepEqual(readdirSync(folder), [])
})

test('STO-11: a symbolic link in the database’s place is rejected, and its target is unchanged', (t) => {
  const folder = temporaryFolder(t)
  const [target, missing] = [join(folder, 'target'), join(folder, 'missing')]
  writeFileSync(target, '', { mode: 0o600 })
  for (const [index, named] of [target, missing].entries()) {
    const path = join(folder, `link-${index}`)
    symlinkSync(named, path)
    assert.throws(() => openDatabase(path), /symbolic link/)
  }
  assert.equal(statSync(target).size, 0)
  assert.equal(existsSync(missing), false)
})

test('STO-11: a log beside the database is checked like the database, because SQLite would replay it', (t) => {
  for (const suffix of ['-wal', '-shm', '-journal']) {
    const folder = temporaryFolder(t)
    const path = join(folder, 'grantor.db')
    writeFileSync(path + suffix, '', { mode: 0o600 })
    chmodSync(path + suffix, 0o666)
    assert.throws(() => openDatabase(path), /chmod 600 .*grantor\.db-/)
    rmSync(path + suffix)
    symlinkSync(join(folder, 'target'), path + suffix)
    assert.throws(() => openDatabase(path), /symbolic link/)
  }
})

test('a log that another process removes while it is checked is absent', async (t) => {
  const path = join(temporaryFolder(t), 'grantor.db')
  const other = new Worker(
    `const { rmSync, writeFileSync } = require('node:fs')
     const { parentPort, workerData } = require('node:worker_threads')
     parentPort.postMessage('started')
     for (;;) { writeFileSync(workerData, '', { mode: 0o600 }); rmSync(workerData) }`,
    { eval: true, workerData: `${path}-shm` },
  )
  await once(other, 'message')
  for (let count = 0; count < 2000; count += 1) assert.equal(securePath(path), undefined)
  await other.terminate()
})

test('STO-11: a file that another user put into a folder with the sticky bit is rejected, though root could read it', (t) => {
  const folder = join(temporaryFolder(t), 'shared')
  mkdirSync(folder)
  chmodSync(folder, 0o1777)
  const planted = ['grantor.secret', 'grantor.db', 'grantor.db-wal'].map((name) => join(folder, name))
  const [secret = '', database = '', log = ''] = planted
  const open = (path: string) => (path === secret ? readRootSecret(path) : openDatabase(database))
  for (const path of planted) {
    writeFileSync(path, path === secret ? 'p'.repeat(43) : '', { mode: 0o600 })
    // Only root can change a file's owner. For other users the rule has its own table of cases, in test/protocol.
    if (process.getuid?.() !== 0) continue
    chownSync(path, 12_345, 12_345)
    assert.throws(() => open(path), new RegExp(`${path} belongs to the user 12345.*chown 0 ${path}`))
    chownSync(path, 0, 0)
  }
  rmSync(log)
  assert.equal(readRootSecret(secret), 'p'.repeat(43))
  openDatabase(database).close()
})

test('STO-11: a root secret that is a link, a folder, too permissive or truncated is rejected', (t) => {
  const folder = temporaryFolder(t)
  const good = join(folder, 'good')
  const secret = readRootSecret(good)
  assert.ok(secret.length >= 32)
  assert.equal(readRootSecret(good), secret)
  symlinkSync(good, join(folder, 'link'))
  writeFileSync(join(folder, 'open'), secret, { mode: 0o644 })
  mkdirSync(join(folder, 'folder'))
  writeFileSync(join(folder, 'cut'), secret.slice(0, 20), { mode: 0o600 })
  for (const name of ['link', 'open', 'folder', 'cut']) assert.throws(() => readRootSecret(join(folder, name)), name)
})

test('STO-12: a server with another root secret does not start, changes nothing and releases the file', async (t) => {
  const server = await openTestServer(t)
  await registerClient(server)
  await server.close()
  const before = dumpStore(server)
  const env = { GRANTOR_SECRET: 'another root secret, long enough for it' }
  await assert.rejects(openTestServer(t, { folder: server.folder, env }), /another root secret/)
  // SQLite removes these files when it closes the last connection.
  const files = ['grantor.db', 'grantor.db.lock', 'grantor.db.state', 'grantor.secret']
  assert.deepEqual(readdirSync(server.folder).toSorted(), files)
  assert.deepEqual(dumpStore(server), before)
  await assert.doesNotReject(server.reopen())
})

test('a file that is not a database is rejected and unchanged', (t) => {
  const path = join(temporaryFolder(t), 'grantor.db')
  writeFileSync(path, 'precious notes '.repeat(100), { mode: 0o600 })
  assert.throws(() => openDatabase(path))
  assert.equal(statSync(path).size, 1500)
})

test('the pragma check tests the connection, not the file', (t) => {
  const path = join(temporaryFolder(t), 'grantor.db')
  openDatabase(path).close()
  const plain = new DatabaseSync(path)
  assert.throws(() => requirePragmas(plain))
  plain.close()
})

function modeOf(path: string): number {
  return statSync(path).mode & 0o777
}

test('damage of the beginning of any page is found, also where it ends the check of SQLite', (t) => {
  const path = join(temporaryFolder(t), 'grantor.db')
  placeBlankDatabase(path)
  const sound = readFileSync(path)
  assert.deepEqual(findDamage(path), [])
  for (let from = PAGE; from < sound.length; from += PAGE) {
    writeFileSync(path, Buffer.from(sound).fill('x', from, from + 64))
    assert.notDeepEqual(findDamage(path), [], `the page at ${from}`)
  }
})
