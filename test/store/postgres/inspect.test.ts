import assert from 'node:assert/strict'
import { once } from 'node:events'
import { chownSync, statSync, writeFileSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import type { DatabaseFacts, ServerFacts } from '../../../src/ports/inspection.ts'
import { inspectPostgres, sharesPreparedStatements } from '../../../src/store/postgres/inspect.ts'
import { migrateAt } from '../../../src/store/postgres/schema/migrate-at.ts'
import { startPostgres, type Postgres } from '../../../tools/postgres/postgres.ts'
import { openSession } from '../../support/store/postgres.ts'

/** The doctor's inspection of a PostgreSQL server that these tests start. Its superuser causes the faults. */

const HIDDEN = 'a-hidden-password'

test('an inspection of PostgreSQL returns its version, settings and connections', async (t) => {
  const server = await startPostgres({ settings: { fsync: 'on' } })
  t.after(() => server.remove())
  const { url } = await server.createDatabase()

  await t.test('an empty database can be used, and the inspection leaves it empty', async () => {
    const facts = await inspectOpened(url)
    assert.deepEqual(
      [facts.appliedMigrations, facts.missingMigrations[0], facts.apis, facts.masterKey.check, facts.time?.agreedAt],
      [[], '0001-start', [], undefined, undefined],
    )
    assert.deepEqual(await execute(url, `select relname from pg_class where relnamespace = 'public'::regnamespace`), [])
  })

  await migrateAt(url, 1)

  await t.test('a healthy database: nothing is missing, changed, unsafe or exposed', async () => {
    await execute(
      url,
      `insert into apis (resource, scopes, token_format, jwt_type, application_subject, token_binding, exchange, created_at)
       values ('https://api.acme.test', '[]', 'jwt', 'at+jwt', 0, 'any', '[]', 1)`,
    )
    await execute(url, `insert into settings (name, value) values ('secret-check', 'a check')`)
    await execute(
      url,
      `insert into clients (client_id, issued_at, source, metadata, held_until)
       values ('one', 5, 'registration', '{}', 0), ('two', 7, 'registration', '{}', 0)`,
    )
    const facts = await inspectOpened(url)
    const { changedSettings, unsafeSettings, isExposed, role, connections } = facts.home as ServerFacts
    assert.deepEqual(facts.missingMigrations, [])
    assert.deepEqual(
      [facts.apis, facts.masterKey.check, facts.time?.agreedAt],
      [['https://api.acme.test'], 'a check', 7000],
    )
    assert.deepEqual([changedSettings, unsafeSettings, isExposed, role], [[], [], false, 'grantor'])
    assert.ok(connections.used >= 1 && connections.used < connections.limit)
  })

  await t.test('CID-03: a user who has the id of a client is named', async () => {
    await execute(
      url,
      `insert into clients (client_id, chosen_id, issued_at, source, metadata, held_until)
       values ('gcc_1', 'board', 6, 'operator', '{}', 0), ('gcc_2', 'twin', 6, 'operator', '{}', 0)`,
    )
    await execute(
      url,
      `insert into users (user_id, updated_at, created_at, not_before) values ('twin', 1, 1, 1), ('ada', 1, 1, 1)`,
    )
    assert.deepEqual((await inspectPostgres(url, undefined)).clients?.usersWithClientId, ['twin'])
  })

  await t.test('a client with a slow hash is named, and whether it was used', async () => {
    const slow = [
      { clientId: 'board', isUsed: true },
      { clientId: 'twin', isUsed: false },
    ]
    await execute(url, `update clients set secret_hash = 'slow:$2a$', used_at = case client_id when 'gcc_1' then 6 end`)
    assert.deepEqual((await inspectPostgres(url, undefined)).clients?.importedHashes, slow)
    await execute(url, `update clients set secret_hash = case client_id when 'gcc_1' then 'given:a' end`)
    assert.deepEqual((await inspectPostgres(url, undefined)).clients?.importedHashes, [])
  })

  await t.test('settings that the connection did not get are reported with their values', async () => {
    const { home } = await inspectOpened(`${url}?options=-c%20synchronous_commit%3Doff`)
    const changed = (home as ServerFacts).changedSettings
    assert.deepEqual(changed[0], { name: 'synchronous_commit', value: 'off', wanted: 'on' })
    assert.ok(changed.some(({ name, value }) => name === 'statement_timeout' && value === '0'))
  })

  await t.test(
    'a session that another connection used before is found by what that connection prepared',
    async (part) => {
      const open = (): Promise<pg.Client> => openSession(part, url)
      assert.equal(await sharesPreparedStatements(open), false)
      const openUsed = async (): Promise<pg.Client> => {
        const client = await open()
        await client.query('prepare doctor as select 1')
        return client
      }
      assert.equal(await sharesPreparedStatements(openUsed), true)
      const { home } = await inspectOpened(url)
      assert.equal((home as ServerFacts).sharesPreparedStatements, false)
    },
  )

  await t.test('a clock that differs is measured, with its sign', async (part) => {
    const tenSeconds = 10_000
    for (const [offset, sign] of [
      [tenSeconds, -1],
      [-tenSeconds, 1],
    ] as const) {
      part.mock.timers.enable({ apis: ['Date'], now: Date.now() + offset })
      const { home } = await inspectOpened(url)
      part.mock.timers.reset()
      // The mocked clock does not advance, but the database's does.
      const { clockAheadMs } = home as ServerFacts
      assert.equal(Math.sign(clockAheadMs), sign)
      assert.ok(sign === 1 ? clockAheadMs >= tenSeconds - 10 : clockAheadMs <= 0)
    }
  })

  await t.test('a database that cannot be used is reported with advice, and without the password', async () => {
    await spoil(server, url)
    for (const [why, address, says] of unusableAddresses(server, url)) {
      const { database, keys } = await inspectPostgres(address, undefined)
      assert.ok(database.kind === 'unusable', `${why}: ${database.kind}`)
      assert.match(database.reason, says, why)
      assert.ok(!database.reason.includes(HIDDEN) && !database.reason.includes('postgres://'), database.reason)
      assert.deepEqual(keys, [])
    }
  })

  await t.test('an address that does not respond, or closes the connection, is given up', async (part) => {
    for (const isSilent of [true, false]) {
      const listener = createServer((socket) => {
        socket.on('error', () => undefined)
        if (!isSilent) socket.destroy()
      }).listen(0, '127.0.0.1')
      part.after(() => listener.close())
      await once(listener, 'listening')
      const { port } = listener.address() as AddressInfo
      const { database } = await inspectPostgres(`postgres://ada:${HIDDEN}@127.0.0.1:${port}/grantor`, undefined)
      assert.ok(database.kind === 'unusable')
      assert.match(database.reason, /^PostgreSQL cannot be reached: .*DATABASE_URL/)
    }
  })

  await t.test(
    'a standby cannot be used until it is promoted; settings that lose commits in a crash are reported',
    async () => {
      await execute(server.adminUrl(), 'alter system set full_page_writes = off')
      await server.stop('fast')
      makeStandby(server)
      // The start is complete when it accepts connections that write.
      const started = server.start()
      const reason = await findReason(url, /is a standby.*to the primary/)
      assert.match(reason, /DATABASE_URL/)
      await execute(server.adminUrl(), 'select pg_promote()')
      await started
      const { home } = await inspectOpened(url)
      assert.deepEqual((home as ServerFacts).unsafeSettings, ['full_page_writes'])
    },
  )
})

function makeStandby({ folder }: Postgres): void {
  const data = join(folder, 'data')
  const signal = join(data, 'standby.signal')
  writeFileSync(signal, '')
  const { uid, gid } = statSync(data)
  chownSync(signal, uid, gid)
}

/** Repeats the inspection until the server responds. */
async function findReason(url: string, says: RegExp): Promise<string> {
  for (;;) {
    const { database } = await inspectPostgres(url, undefined)
    const reason = database.kind === 'unusable' ? database.reason : database.kind
    if (says.test(reason)) return reason
    assert.match(reason, /cannot be reached|the database system is/)
    await delay(50)
  }
}

/** Creates roles and databases with one fault each. */
async function spoil(server: Postgres, url: string): Promise<void> {
  const name = new URL(url).pathname.slice(1)
  await execute(
    server.adminUrl(),
    `create role reader login password '${HIDDEN}';
     alter role reader set default_transaction_read_only = on;
     create role stranger login password '${HIDDEN}';
     create role crowded login password '${HIDDEN}' connection limit 0;
     create role banned password '${HIDDEN}' nologin;
     create role locked login password '${HIDDEN}';
     revoke connect on database ${name} from public;
     grant connect on database ${name} to reader, stranger, crowded`,
  )
  await execute(
    server.adminUrl(),
    `create database latin encoding 'LATIN1' locale_provider libc locale 'C' template template0`,
  )
}

function unusableAddresses(
  server: Postgres,
  url: string,
): readonly (readonly [why: string, address: string, says: RegExp])[] {
  const change = (parts: Partial<Pick<URL, 'username' | 'password' | 'port' | 'pathname' | 'hostname' | 'search'>>) =>
    Object.assign(new URL(url), parts).href
  const as = (username: string, address = url): string =>
    Object.assign(new URL(address), { username, password: HIDDEN }).href
  return [
    ['no server listens', change({ port: '1' }), /cannot be reached: .*ECONNREFUSED.*DATABASE_URL/],
    ['no such host', change({ hostname: 'db.acme.invalid' }), /cannot be reached: .*DATABASE_URL/],
    ['another password', change({ password: HIDDEN }), /refused: password authentication failed.*DATABASE_URL/],
    ['no password', change({ password: '' }), /requires a password/],
    ['a role that may not log in', as('banned'), /refused: .*not permitted to log in.*pg_hba/],
    ['no such database', change({ pathname: '/nothere' }), /refused: database "nothere" does not exist\. Run createdb/],
    ['no privilege to connect', as('locked'), /refused: permission denied for database.*own the database/],
    ['no TLS there', change({ search: '?sslmode=verify-full' }), /does not offer TLS.*sslmode/],
    ['a file that is not there', change({ search: '?sslrootcert=/nothere' }), /names a file that cannot be read/],
    ['a parameter of no PostgreSQL', change({ search: '?options=-c%20nothere%3D1' }), /refused: .*"nothere"/],
    ['no schema', change({ search: '?options=-c%20search_path%3Dnothere' }), /search_path names none/],
    ['read-only', as('reader'), /read-only.*Turn that off/],
    [
      'tables of another role',
      as('stranger'),
      /may not read and change .*admin_.*, memberships.*grant select.* to "stranger"/,
    ],
    ['no right to create tables', as('stranger', server.url('postgres')), /may not create tables.*grantor migrate/],
    ['too many connections', as('crowded'), /refused: too many connections.*Raise/],
    ['not UTF-8', server.adminUrl('latin'), /encoded in LATIN1.*createdb --encoding=UTF8/],
  ]
}

async function inspectOpened(url: string): Promise<DatabaseFacts> {
  const { database } = await inspectPostgres(url, undefined)
  assert.ok(database.kind === 'opened', JSON.stringify(database))
  return database
}

async function execute(url: string, sql: string): Promise<readonly unknown[]> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    return (await client.query<Record<string, unknown>>(sql)).rows
  } finally {
    await client.end()
  }
}
