import assert from 'node:assert/strict'
import { describe, test, type TestContext } from 'node:test'
import { obtainTokens, postJson, refresh, registerClient, requestToken } from '../../../tools/flow.ts'
import { openMigratedDatabase } from '../../support/store/migrated-database.ts'
import {
  assertAllRecover,
  assertAllUnavailable,
  assertUnavailable,
  assertUnchanged,
  openAskedNode,
  openNode,
  selectValue,
  untilAvailable,
  type AskedNode,
} from '../../support/store/postgres-node.ts'
import { execute } from '../../../tools/postgres/postgres.ts'
import { openSession } from '../../support/store/postgres.ts'
import { assertNotReady, assertReady, untilReadiness } from '../../support/readiness.ts'
import { isActive } from '../../support/token-questions.ts'

async function open(t: TestContext): Promise<{ readonly url: string; readonly stage: AskedNode }> {
  const url = await openMigratedDatabase(t)
  return { url, stage: await openAskedNode(t, url) }
}

/** Makes every change of a table fail with an error of PostgreSQL; if a count is given, only so many times. */
async function sabotage(url: string, condition: string, times?: number): Promise<void> {
  const raise = `raise exception using errcode = '${condition}', message = 'a test'`
  await execute(
    url,
    'create sequence attempts',
    `create function fail() returns trigger language plpgsql as $$ begin
      ${times === undefined ? `${raise};` : `if nextval('attempts') <= ${times} then ${raise}; end if;`}
      return new; end $$`,
    ...TABLES.map(
      (name) => `create trigger fail before insert or update on ${name} for each row execute function fail()`,
    ),
  )
}

async function repair(url: string): Promise<void> {
  await execute(url, 'drop function fail cascade', 'drop sequence attempts')
}

const TABLES = ['clients', 'authorizations', 'grants', 'sessions', 'hits', 'consents', 'settings', 'leases']
/** Terminates all other connections to this database. */
const TERMINATE = `select pg_terminate_backend(pid) from pg_stat_activity
  where datname = current_database() and pid <> pg_backend_pid()`

describe('a PostgreSQL that refuses', { concurrency: true }, () => {
  test('no connection is free: 503, nothing changes, and all recovers', async (t) => {
    const { url, stage } = await open(t)
    const operator = await openSession(t, url)
    const name = new URL(url).pathname.slice(1)
    await assertUnchanged(url, async () => {
      await operator.query(`alter database ${name} connection limit 0`)
      await operator.query(TERMINATE)
      await assertAllUnavailable(stage)
      await operator.query(`alter database ${name} connection limit -1`)
    })
    await assertAllRecover(stage)
  })

  test('a database that was made read-only: 503, nothing changes, and all recovers', async (t) => {
    const { url, stage } = await open(t)
    const name = new URL(url).pathname.slice(1)
    const idle = await openNode(t, url)
    await execute(url, `alter database ${name} set default_transaction_read_only = on`, TERMINATE)
    await assertUnchanged(url, async () => {
      for (const { server } of [stage, { server: idle }]) await assertNotReady(server, 'store_read_only')
      await assertAllUnavailable(stage)
    })
    await execute(
      url,
      'set default_transaction_read_only = off',
      `alter database ${name} reset default_transaction_read_only`,
    )
    // Connections that are still read-only are detected and replaced, without an error for any caller.
    for (const { server } of [stage, { server: idle }]) await assertReady(server)
    for (const ask of Object.values(stage.asks)) assert.ok((await ask()).statusCode < 400)
  })

  test('while the database is read-only, keys, metadata, introspection, userinfo and client credentials are answered', async (t) => {
    const { url, stage } = await open(t)
    const { server } = stage
    const [client, machine] = await Promise.all([registerClient(server), registerClient(server)])
    const { access_token: token } = await obtainTokens(server, client, { scope: 'openid email' })
    const machineToken = () => requestToken(server, machine, { grant_type: 'client_credentials' })
    assert.equal((await machineToken()).statusCode, 200)
    await execute(
      url,
      `alter database ${new URL(url).pathname.slice(1)} set default_transaction_read_only = on`,
      TERMINATE,
    )
    // A node that has been running, and one that starts now, whose caches are empty.
    for (const node of [server, await openNode(t, url)]) {
      await assertNotReady(node, 'store_read_only')
      for (const path of ['/v2/oauth/jwks', '/.well-known/oauth-authorization-server'])
        assert.equal((await node.inject({ url: path })).statusCode, 200, path)
      assert.equal(await isActive(node, client, token), true)
      const headers = { authorization: `Bearer ${token}` }
      assert.equal((await node.inject({ url: '/v2/oauth/userinfo', headers })).statusCode, 200)
      assert.equal((await requestToken(node, machine, { grant_type: 'client_credentials' })).statusCode, 200)
    }
    await assertAllUnavailable(stage)
  })

  test('a full disk, no memory, a failing disk, a damaged index: 503, nothing is half-written, all recovers', async (t) => {
    const { url, stage } = await open(t)
    const reasons = {
      disk_full: 'disk_full',
      out_of_memory: 'store_unavailable',
      io_error: 'disk_failed',
      index_corrupted: 'store_unavailable',
    }
    for (const [condition, reason] of Object.entries(reasons)) {
      await sabotage(url, condition)
      await assertUnchanged(url, async () => {
        // Nothing was written yet, so this node does not know.
        await assertReady(stage.server)
        await assertAllUnavailable(stage)
        // A probe that succeeded a moment ago, after the previous condition, is not repeated at once.
        await untilReadiness(stage.server, reason)
      })
      await repair(url)
      await assertUnchanged(url, () => untilReadiness(stage.server, undefined))
    }
    await assertAllRecover(stage)
  })

  test('connections that an operator terminates during work are replaced', async (t) => {
    const { url, stage } = await open(t)
    const operator = await openSession(t, url)
    for (let round = 0; round < 10; round += 1) {
      const asks = Array.from({ length: 10 }, () => postJson(stage.server, '/v2/oauth/register', {}))
      await operator.query(TERMINATE)
      for (const { statusCode, body } of await Promise.all(asks)) assert.ok([201, 503].includes(statusCode), body)
    }
    await assertAllRecover(stage)
  })

  test('a statement that is canceled: 503, and all recovers', async (t) => {
    const { url, stage } = await open(t)
    const blocker = await openSession(t, url)
    await blocker.query('begin')
    await blocker.query('lock table grants in access exclusive mode')
    const operator = await openSession(t, url)
    const asked = assertUnavailable('refresh', stage.asks.refresh)
    const cancel = `select pg_cancel_backend(pid) from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid() and wait_event_type = 'Lock'`
    while (((await operator.query(cancel)).rowCount ?? 0) === 0);
    await asked
    await blocker.query('rollback')
    await assertAllRecover(stage)
  })

  test('a lock that another session holds is not waited for beyond the deadline, and other requests are served meanwhile', async (t) => {
    const { url, stage } = await open(t)
    const blocker = await openSession(t, url)
    await blocker.query('begin')
    await blocker.query('select * from grants for update')
    await assertUnavailable('refresh', stage.asks.refresh)
    assert.equal((await stage.asks.register()).statusCode, 201)
    // Rows that some callers need take no node out of the balancer.
    await assertReady(stage.server)
    await blocker.query('rollback')
    await assertAllRecover(stage)
  })

  test('STO-07: a table that another session locks: not ready while its writes fail, and ready again without a request', async (t) => {
    const { url, stage } = await open(t)
    const blocker = await openSession(t, url)
    await blocker.query('begin')
    // Reads continue.
    await blocker.query('lock table grants in share mode')
    await assertReady(stage.server)
    await assertUnavailable('refresh', stage.asks.refresh)
    await untilReadiness(stage.server, 'store_locked')
    await blocker.query('rollback')
    await untilReadiness(stage.server, undefined)
    await assertAllRecover(stage)
  })

  test('STO-07: a role that lost its privileges: 503 for writes and for readiness, and all recovers', async (t) => {
    const { url, stage } = await open(t)
    const tables = 'insert, update, delete on all tables in schema public'
    await execute(url, `revoke ${tables} from current_user`)
    await assertUnchanged(url, () => assertAllUnavailable(stage))
    await untilReadiness(stage.server, 'store_unavailable')
    await execute(url, `grant ${tables} to current_user`)
    await untilReadiness(stage.server, undefined)
    await assertAllRecover(stage)
  })

  test('a conflict with another transaction is retried; one that never ends returns 503, and all recovers', async (t) => {
    const { url, stage } = await open(t)
    for (const condition of ['serialization_failure', 'deadlock_detected']) {
      await sabotage(url, condition, 3)
      assert.equal((await stage.asks.register()).statusCode, 201)
      assert.equal(await selectValue(url, 'select last_value from attempts'), '4')
      await repair(url)
      await sabotage(url, condition)
      await assertUnchanged(url, () => assertAllUnavailable(stage))
      await repair(url)
    }
    await assertAllRecover(stage)
  })

  test('a deadlock with another session is resolved in time', async (t) => {
    const { url, stage } = await open(t)
    const { server } = stage
    const clients = await Promise.all([registerClient(server), registerClient(server)])
    const [first, last] = clients.toSorted((one, other) => (one.client_id < other.client_id ? -1 : 1))
    assert.ok(first && last)
    const other = await openSession(t, url)
    const touch = 'update clients set held_until = held_until where client_id = $1'
    await other.query('begin')
    await other.query(touch, [last.client_id])
    const answers = Promise.all(
      clients.map((client) => requestToken(server, client, { grant_type: 'client_credentials' })),
    )
    const watcher = await openSession(t, url)
    const waiting = `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
    while (((await watcher.query(waiting)).rowCount ?? 0) === 0);
    await other.query(touch, [first.client_id]).catch(() => undefined)
    await other.query('rollback')
    // 503 if this machine is so busy that the lock’s own limit comes first.
    for (const { statusCode } of await answers) assert.ok([200, 503].includes(statusCode))
    for (const client of clients) {
      const ask = () => requestToken(server, client, { grant_type: 'client_credentials' })
      await untilAvailable('client credentials', ask)
    }
  })

  test('a column that a newer release adds causes no error in this release’s prepared statements', async (t) => {
    const { url, stage } = await open(t)
    const { server, client } = stage
    for (let round = 0; round < 4; round += 1) await requestToken(server, client, { grant_type: 'client_credentials' })
    for (const name of [...TABLES, 'users', 'apis']) await execute(url, `alter table ${name} add column later text`)
    for (const [name, ask] of Object.entries(stage.asks)) assert.ok((await ask()).statusCode < 400, name)
  })

  test('a connection that loses its prepared statements is replaced', async (t) => {
    const { url, stage } = await open(t)
    await sabotage(url, 'invalid_sql_statement_name', 2)
    assert.equal((await stage.asks.refresh()).statusCode, 200)
    await repair(url)
    await untilAvailable('refresh', () => refresh(stage.server, stage.client, stage.token))
  })
})
