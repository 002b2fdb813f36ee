import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test, type TestContext } from 'node:test'
import type { Worker } from 'node:worker_threads'
import { StoreUnavailable } from '../../../../src/ports/store.ts'
import { beginWriting } from '../../../../src/store/sqlite/file/begin-writing.ts'
import type { StoreDriver } from '../../../../src/ports/store.ts'
import { checkpoint } from '../../../../src/store/sqlite/file/checkpoint.js'
import { openSqliteStore } from '../../../../src/store/sqlite/store.ts'
import { openTransactions } from '../../../../src/store/sqlite/file/transactions.ts'
import { aClient } from '../../../support/records.ts'
import { temporaryFolder } from '../../../support/server.ts'

const MEGABYTE = 1024 * 1024

test('when the checkpoint thread is gone SQLite makes checkpoints itself, and the store closes', async (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] })
  const path = join(temporaryFolder(t), 'grantor.db')
  const started = once(process, 'worker') as Promise<[Worker]>
  const store = openSqliteStore({ path, patienceMs: 10_000, checkpoints: 'worker' })
  await registerClients(store, 1000)
  t.mock.timers.tick(1000)
  const [worker] = await started
  t.mock.timers.reset()
  await worker.terminate()
  await registerClients(store, 20_000)
  assert.ok(statSync(path).size > 5 * MEGABYTE)
  assert.ok(logBytes(path) < 12 * MEGABYTE, String(logBytes(path)))
  await store.close()
})

test('a store with few writes starts no thread, and neither does one that was closed', async (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] })
  const started = t.mock.fn()
  process.on('worker', started)
  t.after(() => process.off('worker', started))
  const path = join(temporaryFolder(t), 'grantor.db')
  // The migrations of a new file write almost enough. Closing empties the log.
  await openSqliteStore({ path, patienceMs: 1000, checkpoints: 'inline' }).close()
  const store = openSqliteStore({ path, patienceMs: 1000, checkpoints: 'worker' })
  await registerClients(store, 10)
  t.mock.timers.tick(60_000)
  assert.ok(logBytes(path) > 0)
  await registerClients(store, 2000)
  assert.ok(logBytes(path) > MEGABYTE)
  await store.close()
  t.mock.timers.tick(60_000)
  assert.equal(started.mock.callCount(), 0)
})

async function registerClients(store: StoreDriver, count: number): Promise<void> {
  for (let done = 0; done < count; done += 500) {
    const clients = Array.from({ length: Math.min(500, count - done) }, () => aClient())
    await store.commit(clients.map((input) => ({ name: 'registerClient', input }) as const))
  }
}

const LIMITS = { cutBytes: MEGABYTE, restPages: 16, mostBytes: 4 * MEGABYTE }

test('a log that is too long is truncated, and a shorter one is only moved', (t) => {
  const { path, write, mover } = openLogged(t)
  write(0.5)
  const cuts: number[] = []
  const onCutting = (): void => void cuts.push(logBytes(path))
  assert.equal(checkpoint(mover, logBytes(path), LIMITS, onCutting), 'moved')
  assert.deepEqual(cuts, [])
  write(1)
  const before = logBytes(path)
  assert.equal(checkpoint(mover, before, LIMITS, onCutting), 'cut')
  assert.deepEqual([...cuts, logBytes(path)], [before, 0])
})

test('while much of the log cannot be moved no writer has to wait for truncation, until the log is far too long', (t) => {
  const { path, write, mover } = openLogged(t)
  const reader = new DatabaseSync(path)
  reader.exec('begin; select count(*) from pieces')
  write(2)
  assert.equal(checkpoint(mover, logBytes(path), LIMITS, assert.fail), 'moved')
  reader.exec('rollback')
  reader.close()
  write(3)
  // With this limit there are always too many missing pages, and yet the log is truncated.
  const tooLong = { ...LIMITS, restPages: -1 }
  assert.equal(
    checkpoint(mover, logBytes(path), tooLong, () => undefined),
    'cut',
  )
})

/** A process whose snapshots of so many milliseconds overlap, so that there is always one. */
const READERS = `
  const { DatabaseSync } = require('node:sqlite')
  const [, path, ms] = process.argv
  const begin = (reader) => reader.exec('begin; select count(*) from pieces where rowid = 1')
  let [now, next] = [new DatabaseSync(path), new DatabaseSync(path)]
  begin(now)
  console.log('reading')
  setInterval(() => {
    begin(next)
    now.exec('commit')
    ;[now, next] = [next, now]
  }, Number(ms))`

test('a log that is far too long is truncated while snapshots of another process overlap, but not during a long one', async (t) => {
  const { path, write, mover } = openLogged(t)
  const read = async (ms: number) => {
    const child = spawn(process.execPath, ['-e', READERS, path, String(ms)], { stdio: ['ignore', 'pipe', 'inherit'] })
    t.after(() => child.kill())
    await once(child.stdout, 'data')
    return child
  }
  write(0.1)
  const overlapping = await read(100)
  write(5)
  let isCut = false
  // A machine that is busy makes a snapshot long.
  while (checkpoint(mover, logBytes(path), LIMITS, () => (isCut = true)) !== 'cut');
  assert.deepEqual([isCut, logBytes(path)], [true, 0])
  overlapping.kill()
  await once(overlapping, 'exit')
  const long = await read(60_000)
  write(5)
  assert.equal(checkpoint(mover, logBytes(path), LIMITS, assert.fail), 'held')
  long.kill()
  await once(long, 'exit')
  assert.equal(
    checkpoint(mover, logBytes(path), LIMITS, () => undefined),
    'cut',
  )
})

test('a commit waits as long as its own process truncates the log, but no longer than its patience for another process', async (t) => {
  const { path } = openLogged(t)
  const [holder, waiting] = [new DatabaseSync(path), new DatabaseSync(path)]
  t.after(() => [holder, waiting].forEach((one) => one.close()))
  const transactions = openTransactions(waiting, () => undefined)
  const disk = { failed: (cause: unknown) => new StoreUnavailable('a fault of the disk', cause) }
  holder.exec('begin immediate')
  await assert.rejects(beginWriting(transactions, { patienceMs: 0, isCutting: () => false, disk }), /SQLite is locked/)
  let asked = 0
  const isCutting = (): boolean => {
    asked += 1
    if (asked === 5) holder.exec('rollback')
    return true
  }
  await beginWriting(transactions, { patienceMs: 0, isCutting, disk })
  assert.equal(asked, 5)
})

test('STO-07: a truncation of the log that does not end fails a commit, which would wait forever', async (t) => {
  const { path } = openLogged(t)
  const [holder, waiting] = [new DatabaseSync(path), new DatabaseSync(path)]
  t.after(() => [holder, waiting].forEach((one) => one.close()))
  const disk = { failed: (cause: unknown) => new StoreUnavailable('a fault of the disk', cause) }
  let now = 0
  t.mock.method(performance, 'now', () => (now += 500))
  holder.exec('begin immediate')
  const transactions = openTransactions(waiting, () => undefined)
  const begun = beginWriting(transactions, { patienceMs: 0, isCutting: () => true, disk })
  await assert.rejects(begun, /SQLite is locked/)
})

/** A database whose log is moved by `mover` only, and a function that writes megabytes to it. */
function openLogged(t: TestContext): { path: string; mover: DatabaseSync; write: (megabytes: number) => void } {
  const path = join(temporaryFolder(t), 'grantor.db')
  const [writer, mover] = [new DatabaseSync(path), new DatabaseSync(path)]
  t.after(() => [writer, mover].forEach((one) => one.close()))
  writer.exec('pragma journal_mode = wal; pragma wal_autocheckpoint = 0; create table pieces (piece blob)')
  const insert = writer.prepare('insert into pieces values (randomblob(4000))')
  return {
    path,
    mover,
    write(megabytes) {
      writer.exec('begin')
      for (let piece = 0; piece < megabytes * 256; piece += 1) insert.run()
      writer.exec('commit')
    },
  }
}

function logBytes(path: string): number {
  return statSync(`${path}-wal`).size
}
