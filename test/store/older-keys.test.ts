import assert from 'node:assert/strict'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { openPostgresStore } from '../../src/store/postgres/store.ts'
import { openSqliteStore } from '../../src/store/sqlite/store.ts'
import { perform } from '../contract/harness.ts'
import { aKey } from '../contract/records.ts'
import { openTestDatabase } from '../postgres.ts'
import { temporaryFolder } from '../server.ts'
import { connect } from './postgres-schema.ts'

/** As a release that did not rotate its key writes it. */
const ONE_KEY = `insert into signing_keys (key_id, algorithm, public_jwk, encrypted_private_key, created_at)
  values ('000000000001AAAAAAAAAAAAAAAAAAAAAA', 'ES256', '{}', 'x', 1)`
const READ = { id: '000000000001AAAAAAAAAAAAAAAAAAAAAA', algorithm: 'ES256', publicJwk: '{}', encryptedPrivateKey: 'x' }

test('sqlite: a key of a release without rotation signs since it was made, and has a successor', async (t) => {
  const path = join(temporaryFolder(t), 'grantor.db')
  const store = openSqliteStore({ path, patienceMs: 1000, checkpoints: 'inline' })
  t.after(() => store.close())
  const older = new DatabaseSync(path)
  older.exec(ONE_KEY)
  older.close()
  assert.deepEqual(await store.listKeys(), [{ ...READ, createdAt: 1, activeFrom: 1 }])
  assert.equal(await perform(store, 'addKey', { key: aKey(), follows: READ.id as never }), 'added')
})

test('postgres: a key of a release without rotation signs since it was made, and has a successor', async (t) => {
  const url = await openTestDatabase(t)
  const store = await openPostgresStore({ url, connections: 1 })
  t.after(() => store.close())
  const older = await connect(t, url)
  await older.query(ONE_KEY)
  assert.deepEqual(await store.listKeys(), [{ ...READ, createdAt: 1, activeFrom: 1 }])
  assert.equal(await perform(store, 'addKey', { key: aKey(), follows: READ.id as never }), 'added')
})
