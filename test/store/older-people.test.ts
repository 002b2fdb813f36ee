import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { listMigrations } from '../../src/store/migrations.ts'
import type { StoreDriver } from '../../src/ports/store.ts'
import { openPostgresStore } from '../../src/store/postgres/store.ts'
import { migratePostgres } from '../../src/store/postgres/migrate.ts'
import { openDatabase } from '../../src/store/sqlite/database.ts'
import { openSqliteStore } from '../../src/store/sqlite/store.ts'
import { migrate } from '../../src/store/sqlite/migrate.ts'
import { perform } from './contract/harness.ts'
import { aSessionStart, aUser } from '../support/records.ts'
import { openSession, openTestDatabase } from '../support/postgres.ts'
import { temporaryFolder } from '../support/server.ts'

/** Users and sessions as a release stores them that knows only users with an address and a password. */

const MIGRATIONS = listMigrations()
const BEFORE = MIGRATIONS.slice(
  0,
  MIGRATIONS.findIndex(({ name }) => name === 'people'),
)

function insertions(suffix: string): readonly string[] {
  return [
    `insert into users (user_id, email, name, password_hash, created_at, disabled_at, valid_from)
     values ('gus_${suffix}', '${suffix}@acme.test', 'Ada', 'x', 1, null, 2)`,
    `insert into sessions (session_id, session_hash, user_id, created_at, expires_at)
     values ('${suffix}', 'h', 'gus_${suffix}', 3, 4)`,
  ]
}

test('sqlite: users and sessions from before, and those that a node of the previous release adds, are complete', async (t) => {
  const path = join(temporaryFolder(t), 'grantor.db')
  const older = openDatabase(path)
  t.after(() => older.close())
  migrate(older, 1, BEFORE)
  for (const sql of insertions('before')) older.exec(sql)
  const store = openSqliteStore({ path, patienceMs: 1000, checkpoints: 'inline' })
  t.after(() => store.close())
  for (const sql of insertions('after')) older.exec(sql)
  await checkPeople(store)
})

test('postgres: users and sessions from before, and those that a node of the previous release adds, are complete', async (t) => {
  const url = await openTestDatabase(t)
  const older = await openSession(t, url)
  await migratePostgres(older, 1, BEFORE)
  for (const sql of insertions('before')) await older.query(sql)
  const store = await openPostgresStore({ url, connections: 1 })
  t.after(() => store.close())
  for (const sql of insertions('after')) await older.query(sql)
  await checkPeople(store)
})

async function checkPeople(store: StoreDriver): Promise<void> {
  for (const suffix of ['before', 'after']) {
    const [id, email] = [`gus_${suffix}`, `${suffix}@acme.test`]
    const account = { id, email, name: 'Ada', passwordHash: 'x', createdAt: 1, disabledAt: undefined, notBefore: 2 }
    // Neither release stored a profile.
    const nothing = { profile: {}, updatedAt: 1 }
    // It is not known whether they signed in, so no rule may take them for accounts that were never used.
    const user = { ...account, ...nothing, emailVerifiedAt: undefined, firstSignedInAt: undefined }
    assert.deepEqual(await store.findUserByEmail(email), user)
    assert.deepEqual(await store.findSession(suffix as never), {
      id: suffix,
      hash: 'h',
      userId: id,
      rootId: suffix,
      authentication: { methods: ['pwd'], at: 3, providerId: undefined },
      agent: undefined,
      network: undefined,
      seenAt: 3,
      createdAt: 3,
      expiresAt: 4,
    })
    const { session } = aSessionStart()
    const next = { ...session, userId: id as never }
    const start = aSessionStart({ session: next, replaces: suffix as never, passwordHash: 'x' })
    assert.deepEqual(await perform(store, 'startSession', start), { kind: 'started', rootId: suffix })
    assert.deepEqual(await store.findUser(id as never), user)
  }
  assert.equal(await perform(store, 'createUser', aUser({ email: 'before@acme.test' })), 'email-taken')
}
