import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { BETTER_AUTH } from '../../src/import/sources/better-auth.ts'
import type { UserId } from '../../src/protocol/ids.ts'
import { WHOLE_FILE } from '../support/authorize-answers.ts'
import { addProvider } from '../support/provider/providers.ts'
import { openTestServer } from '../support/server.ts'
import { importFile, outcomesOf, writeInput } from './importing.ts'

const server = await openTestServer(WHOLE_FILE)
await addProvider(server, { issuer: 'https://idp.example' })

/** The tables as better-auth 1.7 makes them in SQLite, with its plugins admin, twoFactor and passkey. */
const TABLES = `
  create table user (id text not null primary key, name text not null, email text not null unique, emailVerified integer not null,
    image text, createdAt date not null, updatedAt date not null, role text, banned integer, banReason text, banExpires date,
    twoFactorEnabled integer);
  create table account (id text not null primary key, accountId text not null, providerId text not null, userId text not null,
    accessToken text, password text, createdAt date not null, updatedAt date not null);
  create table passkey (id text not null primary key, name text, publicKey text not null, userId text not null, credentialID text not null);
  insert into user values
    ('q-1', 'A "quoted" name', 'q-1@acme.test', 1, null, '2026-01-01', '2026-01-01', 'user', 0, null, null, 0),
    ('q-2', 'B', 'q-2@acme.test', 0, null, '2026-01-01', '2026-01-01', 'user', 1, null, '2999-01-01T00:00:00.000Z', 1),
    ('q-3', 'C', 'q-3@acme.test', 0, null, '2026-01-01', '2026-01-01', 'user', 0, null, null, 0);
  insert into account values ('a-1', '109', 'google', 'q-1', null, null, '2026-01-01', '2026-01-01');
  insert into passkey values ('p-1', null, 'x', 'q-3', 'y');`

test('better-auth: the query of examples/import for SQLite loses neither an identity, nor a factor, nor a ban', async (t) => {
  const query = readFileSync('examples/import/better-auth.sqlite.sql', 'utf8')
  const database = new DatabaseSync(':memory:')
  t.after(() => database.close())
  database.exec(TABLES)
  const rows = database.prepare(query).all() as readonly Readonly<Record<string, unknown>>[]
  const file = writeInput(t, rows.map((row) => `${String(Object.values(row)[0])}\n`).join(''))
  const imported = await importFile(t, server, file, {
    source: BETTER_AUTH,
    mayLoseFactors: true,
    providers: new Map([['google', 'idp']]),
  })
  assert.deepEqual(outcomesOf(imported), [
    'created',
    'created ban_unlimited second_factor_lost',
    'created second_factor_lost needs_link',
  ])
  const user = await server.context.store.findUser('q-1' as UserId)
  assert.ok(user?.emailVerifiedAt !== undefined && user.name === 'A "quoted" name')
})
