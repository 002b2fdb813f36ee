import assert from 'node:assert/strict'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test, type TestContext } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import type pg from 'pg'
import type { StoreDriver } from '../../src/ports/store.ts'
import { KEY_COLUMNS } from '../../src/store/operator-tables.ts'
import { openPostgresStore } from '../../src/store/postgres/store.ts'
import { openSqliteStore } from '../../src/store/sqlite/store.ts'
import { perform } from './contract/harness.ts'
import { aKey } from '../support/records.ts'
import { openSession, openTestDatabase } from '../support/postgres.ts'
import { temporaryFolder } from '../support/server.ts'

/** As a release without key rotation stores it. */
const ONE_KEY = `insert into signing_keys (key_id, algorithm, public_jwk, encrypted_private_key, created_at)
  values ('000000000001AAAAAAAAAAAAAAAAAAAAAA', 'ES256', '{}', 'x', 1)`
const READ = {
  id: '000000000001AAAAAAAAAAAAAAAAAAAAAA',
  purpose: 'access',
  algorithm: 'ES256',
  publicJwk: '{}',
  encryptedPrivateKey: 'x',
}

test('sqlite: a key from a release without rotation has signed since it was created, and gets a successor', async (t) => {
  const path = join(temporaryFolder(t), 'grantor.db')
  const store = openSqliteStore({ path, patienceMs: 1000, checkpoints: 'inline' })
  t.after(() => store.close())
  const older = new DatabaseSync(path)
  older.exec(ONE_KEY)
  older.close()
  assert.deepEqual(await store.listKeys(), [{ ...READ, createdAt: 1, activeFrom: 1 }])
  assert.equal(await perform(store, 'addKey', { key: aKey(), follows: READ.id as never }), 'added')
})

test('postgres: a key from a release without rotation has signed since it was created, and gets a successor', async (t) => {
  const url = await openTestDatabase(t)
  const store = await openPostgresStore({ url, connections: 1 })
  t.after(() => store.close())
  const older = await openSession(t, url)
  await older.query(ONE_KEY)
  assert.deepEqual(await store.listKeys(), [{ ...READ, createdAt: 1, activeFrom: 1 }])
  assert.equal(await perform(store, 'addKey', { key: aKey(), follows: READ.id as never }), 'added')
})

test('postgres: a release with one algorithm and this one start on an empty store; the one that waits uses the other’s key', async (t) => {
  const { store, older, watcher } = await openBoth(t)
  await older.query('begin')
  await older.query(FIRST_KEY_THEN, [...KEY_COLUMNS.write(aKey())])
  const asked = perform(store, 'addFirstKey', aKey())
  await someoneWaits(watcher)
  await older.query('commit')
  const keys = await store.listKeys()
  assert.equal(keys.length, 1)
  assert.deepEqual(await asked, keys[0])
})

test('postgres: a release with one algorithm adds no first key where this release has one', async (t) => {
  const { store, older } = await openBoth(t)
  const first = await perform(store, 'addFirstKey', aKey(0, 'EdDSA'))
  await older.query(FIRST_KEY_THEN, [...KEY_COLUMNS.write(aKey())])
  assert.deepEqual(await store.listKeys(), [first])
})

test('postgres: a store from a release with one algorithm keeps its first key, and gets one of another algorithm', async (t) => {
  const { store, older } = await openBoth(t)
  const first = aKey()
  await older.query(FIRST_KEY_THEN, [...KEY_COLUMNS.write(first)])
  assert.deepEqual(await perform(store, 'addFirstKey', aKey()), first)
  const other = await perform(store, 'addFirstKey', aKey(1, 'RS256'))
  assert.deepEqual(await store.listKeys(), [first, other])
})

test('postgres: a node that waited for the first key of another algorithm then adds its own', async (t) => {
  const { store, older, watcher } = await openBoth(t)
  await older.query('begin')
  const first = aKey(0, 'RS256')
  await older.query(FIRST_KEY_THEN, [...KEY_COLUMNS.write(first)])
  const own = aKey(1)
  const asked = perform(store, 'addFirstKey', own)
  await someoneWaits(watcher)
  await older.query('commit')
  assert.deepEqual(await asked, own)
  assert.deepEqual(await store.listKeys(), [first, own])
})

/** As a release with a single algorithm stores the first key. */
const FIRST_KEY_THEN = `with won as (
    insert into settings (name, value) values ('first-key', $1) on conflict (name) do nothing returning name)
  insert into signing_keys (key_id, algorithm, public_jwk, encrypted_private_key, created_at, active_from)
  select $1, $2, $3, $4, $5, $6 from won`

interface Both {
  readonly store: StoreDriver
  readonly older: pg.Client
  readonly watcher: pg.Client
}

async function openBoth(t: TestContext): Promise<Both> {
  const url = await openTestDatabase(t)
  const store = await openPostgresStore({ url, connections: 2 })
  t.after(() => store.close())
  return { store, older: await openSession(t, url), watcher: await openSession(t, url) }
}

/**
 * Waits until a session waits for another one's lock. It polls outside a transaction, which would always see the first
 * state.
 */
async function someoneWaits(watcher: pg.Client): Promise<void> {
  const waiting = `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
  while ((await watcher.query(waiting)).rowCount === 0) await delay(5)
}
