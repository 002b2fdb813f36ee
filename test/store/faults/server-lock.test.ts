import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test, type TestContext } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { takeServerLock } from '../../../src/store/sqlite/file/server-lock.ts'
import { postJson, registerClient } from '../../../tools/flow.ts'
import { openTestServer, temporaryFolder, type TestServer } from '../../support/server.ts'
import { databasePath } from '../../support/store/dump.ts'

const IN_USE = /grantor\.db is in use by another process\. A SQLite file has one server\./

const readinessOf = async (server: TestServer): Promise<number> =>
  (await server.inject({ url: '/health/ready' })).statusCode

async function open(
  t: TestContext,
): Promise<{ readonly server: TestServer; readonly path: string; readonly lock: string }> {
  const server = await openTestServer(t)
  const path = databasePath(server)
  return { server, path, lock: `${path}.lock` }
}

test('STO-18: a server whose lock file was removed takes the lock again, so that a second server is refused', async (t) => {
  const { server, path, lock } = await open(t)
  for (const remove of [() => rmSync(lock), () => renameSync(lock, `${lock}.aside`)]) {
    remove()
    assert.equal(await readinessOf(server), 200)
    assert.ok(existsSync(lock))
    await assert.rejects(openTestServer(t, { folder: server.folder }), IN_USE)
    assert.throws(() => takeServerLock(path), IN_USE)
  }
})

test('STO-18: a server whose readiness is never checked takes the lock again as well', async (t) => {
  const { server, path, lock } = await open(t)
  rmSync(lock)
  while (!existsSync(lock)) await delay(20)
  assert.throws(() => takeServerLock(path), IN_USE)
  assert.equal(await readinessOf(server), 200)
})

test('STO-18: if a second server took the lock first, the first one writes nothing more, until the second one ends', async (t) => {
  const { server, path, lock } = await open(t)
  rmSync(lock)
  const second = takeServerLock(path)
  assert.equal(await readinessOf(server), 503)
  const refused = await postJson(server, '/v2/oauth/register', {})
  assert.deepEqual([refused.statusCode, refused.json().error], [503, 'temporarily_unavailable'])
  assert.match(server.log(), /"reason":"store_unavailable".*grantor\.db is in use by another process/)
  second.release()
  assert.equal(await readinessOf(server), 200)
  await registerClient(server)
  assert.throws(() => takeServerLock(path), IN_USE)
})

test('STO-07: on a full disk a server takes its lock without writing its number, and names no process that has ended', (t) => {
  const path = join(temporaryFolder(t), 'grantor.db')
  const ended = spawnSync('true').pid
  const before = new DatabaseSync(`${path}.lock`)
  before.exec(`pragma user_version = ${ended}`)
  before.close()
  chmodSync(`${path}.lock`, 0o600)
  const exec = Object.getOwnPropertyDescriptor(DatabaseSync.prototype, 'exec')?.value as (sql: string) => void
  const full = Object.assign(new Error('database or disk is full'), { code: 'ERR_SQLITE_ERROR', errcode: 13 })
  t.mock.method(DatabaseSync.prototype, 'exec', function spy(this: DatabaseSync, sql: string) {
    if (sql.startsWith('pragma user_version =')) throw full
    exec.call(this, sql)
  })
  const lock = takeServerLock(path)
  assert.throws(() => takeServerLock(path), IN_USE)
  lock.release()
  takeServerLock(path).release()
})

test('a lock is released by its owner, whether or not it was taken again', (t) => {
  const path = join(temporaryFolder(t), 'grantor.db')
  const first = takeServerLock(path)
  assert.equal(first.keep(), undefined)
  rmSync(`${path}.lock`)
  assert.equal(first.keep(), undefined)
  first.release()
  const second = takeServerLock(path)
  assert.equal(second.keep(), undefined)
  second.release()
})
