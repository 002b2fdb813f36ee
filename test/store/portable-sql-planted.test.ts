import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import type { OperationName } from '../../src/ports/operations/index.ts'
import { openSession, openTestDatabase } from '../support/store/postgres.ts'
import { decisionFaults } from './decisions.ts'
import { keyFaults, schemaFaults, statementFaults } from './portable-sql.ts'
import { literalsOf } from './recorded-statements.ts'
import { planOnPostgres, planOnSqlite, readPostgresObjects, readSqliteObjects } from './statement-plans.ts'

/** Shows that each rule of portable-sql.ts finds a planted fault: a rule that cannot fail checks nothing. */

const PLANTED: readonly (readonly [fault: string, sql: string])[] = [
  ['a sequence', 'create table things (id bigserial primary key)'],
  ['a sequence', 'create table things (id bigint generated always as identity)'],
  ['a sequence', 'create sequence if not exists things_id'],
  ['a sequence', `select nextval('things_id')`],
  ['a sequence', 'create table things (id integer primary key autoincrement)'],
  ['a trigger', 'create trigger stamp before update on clients execute stamp()'],
  ['a procedure or function', 'create function stamp() returns text as $$ $$'],
  ['a procedure or function', 'do $$ begin end $$'],
  ['a procedure or function', 'call tidy_up()'],
  ['a foreign key', 'create table things (user_id text not null references users (user_id))'],
  ['a foreign key', 'alter table things add foreign key (user_id) to users'],
  ['an advisory lock', 'select pg_advisory_xact_lock($1)'],
  ['an advisory lock', 'select pg_try_advisory_lock($1)'],
  ['LISTEN or NOTIFY', 'listen changes'],
  ['LISTEN or NOTIFY', `notify changes, 'clients'`],
  ['LISTEN or NOTIFY', `select pg_notify('changes', $1)`],
  ['a row or table lock', 'select * from grants where grant_id = $1 for update'],
  ['a row or table lock', 'select * from grants where grant_id = $1 for no key update'],
  ['a row or table lock', 'lock table grants'],
  ['SKIP LOCKED', 'select * from grants where grant_id = $1 for update skip locked'],
  ['a savepoint', 'savepoint before_grants'],
  ['a savepoint', 'rollback to before_grants'],
  ['OFFSET', 'select * from clients order by client_id limit $1 offset $2'],
  ['a count over a hot table', 'select count(*) from grants where user_id = $1'],
  ['a count over a hot table', 'select (select count(client_id) from clients) as clients'],
  [
    'a subquery in ON CONFLICT',
    'insert into consents values ($1) on conflict (user_id) do update set scope = (select max(token) from unnest($2) as token)',
  ],
  [
    'a lateral join',
    'select l.* from c cross join lateral (select * from audit_links as m where m.chain_id = c.chain_id limit 1) as l',
  ],
  [
    'a change of a copied table that reads a table',
    'insert into signing_keys (key_id) select $1 from (select max(key_id) as newest from signing_keys) as known',
  ],
  [
    'a change of a copied table that reads a table',
    'delete from signing_keys where key_id = $1 and exists (select 1 from signing_keys where key_id = $2)',
  ],
  [
    'a change of a copied table that reads a table',
    'with won as (insert into settings (name) select $1 where not exists (select 1 from signing_keys) returning name) select 1 from won',
  ],
  [
    'rows that are found by arrays, without their shards',
    'delete from grants as g using unnest($1::text[]) as i (id) where g.grant_id = i.id',
  ],
  ['JSON in the database', `select metadata->>'client_name' from clients where client_id = $1`],
  ['JSON in the database', 'select metadata::jsonb from clients where client_id = $1'],
  ['JSON in the database', `select json_extract(metadata, '$.client_name') from clients where client_id = ?`],
  ['an id made by the database', 'insert into clients (client_id) values (gen_random_uuid())'],
  ["the database's clock", 'update grants set revoked_at = now() where grant_id = $1'],
  ["the database's clock", 'update grants set revoked_at = current_timestamp where grant_id = $1'],
  ["the database's clock", `update grants set revoked_at = unixepoch() where grant_id = ?`],
]

for (const [fault, sql] of PLANTED) {
  test(`planted: ${fault} is found in: ${sql}`, () => {
    assert.ok(statementFaults(sql).includes(fault), statementFaults(sql).join(', '))
    assert.ok(statementFaults(sql.toUpperCase()).includes(fault), 'in capitals')
  })
}

test('text that only looks like a fault is not reported', () => {
  for (const sql of [
    'insert into hits (bucket, window_start, count) values ($1, $2, $3) on conflict (bucket, window_start) do nothing',
    'update hits set count = count + 1 where bucket = $1 and window_start = i.now',
    'select count(*) from apis',
    'delete from grants as g using unnest($1::text[]) as i (id) where g.grant_id = i.id /*citus and g.grant_id = any($1::text[])*/',
    `insert into settings (name, value) values ($1, $2) on conflict (name) do update set value = excluded.value`,
    'create table links (link_id text not null primary key, sequence bigint not null)',
    `select * from settings where name = 'offset; now() for update'`,
    'select * from clients -- not for update\n where client_id = $1',
  ]) {
    assert.deepEqual(statementFaults(sql), [], sql)
  }
})

const BAD_TABLES: readonly string[] = [
  'create table things (id text not null primary key)',
  'create table sessions (session_hash text not null, session_id text not null, primary key (session_hash, session_id))',
  'create table clients (client_id text not null primary key, email text not null)',
  'create unique index clients_email on clients (email)',
  'create table hits (bucket text not null, made integer not null)',
  'create table users (user_id text not null primary key, made bigint not null default 0)',
  'create table grants (grant_id text not null primary key, user_id text references users (user_id))',
]
const BAD_EVERYWHERE: readonly string[] = [
  'things has no shard key in this test',
  'hits.made is integer',
  'users.made is made by the database',
  'hits has no primary key',
  'the primary key of sessions does not start with session_id',
  'clients_email on clients does not start with client_id',
]

test('planted: a schema that cannot be distributed is reported on PostgreSQL', async (t) => {
  const client = await openSession(t, await openTestDatabase(t))
  for (const sql of BAD_TABLES) await client.query(sql)
  await client.query('create sequence numbers')
  await client.query(`create function stamp() returns trigger language plpgsql as 'begin return new; end'`)
  await client.query('create trigger stamped before update on clients execute function stamp()')
  assertSameItems(schemaFaults(await readPostgresObjects(client)), [
    ...BAD_EVERYWHERE,
    'there is foreign key grants_user_id_fkey',
    'there is function stamp',
    'there is sequence numbers',
    'there is trigger stamped',
  ])
})

test('planted: a schema that cannot be distributed is reported on SQLite', (t) => {
  const database = new DatabaseSync(':memory:')
  t.after(() => database.close())
  for (const sql of BAD_TABLES) database.exec(sql)
  database.exec('create trigger stamped after update on clients begin select 1; end')
  assertSameItems(schemaFaults(readSqliteObjects(database)), [
    ...BAD_EVERYWHERE,
    'there is foreign key to users',
    'there is trigger stamped',
  ])
})

const TABLES: readonly string[] = [
  'create table clients (client_id text not null primary key, used_at bigint)',
  'create table grants (grant_id text not null primary key, client_id text not null, expires_at bigint)',
  'create index grants_expiry on grants (expires_at)',
]
/** Statements with their faults. */
const KEYED: readonly (readonly [sql: string, faults: readonly string[]])[] = [
  ['select * from grants where grant_id = $1', []],
  ['update grants set expires_at = $1 where client_id = $2', ['grants is not reached by grant_id']],
  ['delete from grants where expires_at = $1', ['grants is not reached by grant_id']],
  ['select * from grants where grant_id > $1', ['grants is not reached by grant_id']],
  ['select * from grants where lower(grant_id) = $1', ['grants is not reached by grant_id']],
  ['select 1 from grants join clients on clients.client_id = grants.client_id where grants.grant_id = $1', []],
  [
    'delete from grants where grant_id = $1 and client_id not in (select client_id from clients where used_at = $2)',
    ['clients is not reached by client_id'],
  ],
]

test('planted: a statement without the shard key is reported on PostgreSQL', async (t) => {
  const client = await openSession(t, await openTestDatabase(t))
  for (const sql of TABLES) await client.query(sql)
  await client.query('set enable_seqscan = off')
  await client.query('set enable_hashjoin = off')
  await client.query('set enable_mergejoin = off')
  await client.query('set plan_cache_mode = force_generic_plan')
  for (const [sql, faults] of KEYED) {
    assert.deepEqual(keyFaults(await planOnPostgres(client, sql)), faults, sql)
  }
  const whole = await planOnPostgres(client, 'select * from clients where used_at = $1')
  assert.deepEqual(whole, [{ table: 'clients', keys: [], isWhole: true }])
  const first = await planOnPostgres(client, 'select * from clients order by client_id desc limit 1')
  assert.deepEqual(first, [{ table: 'clients', keys: [], isWhole: false }])
})

test('planted: a statement without the shard key is reported on SQLite', (t) => {
  const database = new DatabaseSync(':memory:')
  t.after(() => database.close())
  for (const sql of TABLES) database.exec(sql)
  for (const [sql, faults] of KEYED) assert.deepEqual(keyFaults(planOnSqlite(database, sql)), faults, sql)
})

/** The statements of an operation, and what they read on other shards. */
const DECIDING: readonly (readonly [statements: readonly string[], reads: string])[] = [
  [
    ['delete from sessions where session_id = $1', 'update grants set revoked_at = $1 where user_id = $2'],
    'all grants',
  ],
  [['update users set name = $1 where user_id = $2', 'select * from emails where email = $1'], 'email'],
  [
    ['update links set used_at = $1 where user_id = $2', 'insert into emails values ($1) on conflict do nothing'],
    'email',
  ],
  [['update users set name = $1 where user_id = $2', 'select * from providers where provider_id = $1'], 'copies'],
  [['update users set name = $1 where user_id = $2', 'insert into sessions values ($1)'], ''],
  [['update users set name = $1 where user_id = $2', 'delete from links where user_id = $1'], ''],
  [
    ['update users set password_hash = password_hash where user_id = $1', 'delete from sessions where user_id = $1'],
    '',
  ],
]

test('planted: an operation that decides by a row of another shard is reported, and so is one that did not run', () => {
  for (const [statements, reads] of DECIDING) {
    const expected = reads === '' ? [] : [`endThings reads ${reads}, not nothing`]
    assert.deepEqual(decisionFaults([{ name: 'endThings' as OperationName, statements }], ['endThings']), expected)
  }
  assert.deepEqual(decisionFaults([], ['endThings']), ['endThings was not run without others'])
  const statements = ['update clients set shared_key = null where client_id = $1']
  const needless = ['adoptClient reads nothing, not shared_key']
  assert.deepEqual(decisionFaults([{ name: 'adoptClient', statements }], ['adoptClient']), needless)
})

test('string literals are read from source, and comments are not', () => {
  const source = [
    `// it's no 'literal'`,
    `const a = 'one' /* nor 'this' */`,
    "const b = `two ${three} it's` // `four`",
    `/** What \`unnest\` takes. */ const c = 'it\\'s'`,
  ].join('\n')
  assert.deepEqual(literalsOf(source), ['one', `two \${three} it's`, `it\\'s`])
})

function assertSameItems(actual: readonly string[], expected: readonly string[]): void {
  assert.deepEqual(actual.toSorted(), expected.toSorted())
}
