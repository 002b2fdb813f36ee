import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { postJson, refresh, registerClient, requestToken, type Tokens } from '../../../tools/flow.ts'
import { execute, startPostgres, type Postgres } from '../../../tools/postgres/postgres.ts'
import { untilReadiness } from '../../support/readiness.ts'
import { createAda } from '../../support/accounts.ts'
import { openTestServer, STRICT, type TestServer } from '../../support/server.ts'
import { aGrant } from '../../support/token-answers.ts'
import {
  assertAllRecover,
  assertAllUnavailable,
  openNode,
  openAskedNode,
  selectValue,
  untilAvailable,
  type AskedNode,
} from '../../support/store/postgres-node.ts'

/** Few enough connections to use them all. */
const CONNECTIONS = 20
const RETRY_MS = 30_000
const CANCEL_WAITS = `select pg_cancel_backend(pid) from pg_stat_activity where wait_event = 'SyncRep'`

let cluster: Promise<Postgres> | undefined

async function open(t: TestContext): Promise<{ postgres: Postgres; stage: AskedNode }> {
  const postgres = await openCluster()
  const { url } = await postgres.createDatabase()
  return { postgres, stage: await openAskedNode(t, url) }
}

async function openLight(t: TestContext): Promise<{ postgres: Postgres; server: TestServer }> {
  const postgres = await openCluster()
  const { url } = await postgres.createDatabase()
  return { postgres, server: await openNode(t, url) }
}

/** One cluster for all tests of this file, which run one after the other. It ends with this process. */
function openCluster(): Promise<Postgres> {
  return (cluster ??= startPostgres({ settings: { fsync: 'on', max_connections: String(CONNECTIONS) } }))
}

test('while PostgreSQL is down: 503; once it is up again all recovers', async (t) => {
  const { postgres, stage } = await open(t)
  await postgres.stop('fast')
  await assertAllUnavailable(stage)
  await postgres.start()
  await assertAllRecover(stage)
})

test('a PostgreSQL that restarts while there are no requests is found again', async (t) => {
  const { postgres, server } = await openLight(t)
  const client = await registerClient(server)
  await postgres.stop('fast')
  await postgres.start()
  const ask = () => requestToken(server, client, { grant_type: 'client_credentials' })
  await untilAvailable('client credentials', ask)
})

test('PostgreSQL is killed under load: acknowledged changes are kept, other requests get 503, all recovers', async (t) => {
  const { postgres, stage } = await open(t)
  const { server } = stage
  const given: string[] = []
  const enough = new AbortController()
  const load = Array.from({ length: 8 }, async () => {
    while (!enough.signal.aborted) {
      const answer = await postJson(server, '/v2/oauth/register', {})
      if (answer.statusCode === 201) given.push(answer.json<{ client_id: string }>().client_id)
      else assert.equal(answer.statusCode, 503, answer.body)
    }
  })
  while (given.length < 20) await new Promise((resolve) => setImmediate(resolve))
  await postgres.kill()
  await postgres.start()
  await untilAvailable('register', stage.asks.register)
  enough.abort()
  await Promise.all(load)
  for (const id of given) assert.ok(await server.context.store.findClient(id as never), id)
  await assertAllRecover(stage)
})

test('revoked tokens remain revoked, and redeemed codes remain redeemed, when PostgreSQL is killed', async (t) => {
  const { postgres, stage } = await open(t)
  const { server, client, token } = stage
  assert.equal((await stage.asks.redeem()).statusCode, 200)
  assert.equal((await refresh(server, client, token)).statusCode, 200)
  server.clock.advance(3_600_000)
  assert.equal((await refresh(server, client, token)).statusCode, 400)
  await postgres.kill()
  await postgres.start()
  await untilAvailable('register', stage.asks.register)
  assert.equal((await refresh(server, client, token)).json().error, 'invalid_grant')
  assert.equal((await stage.asks.redeem()).json().error, 'invalid_grant')
})

test('when other clients have taken every connection: 503; once one is free all recovers', async (t) => {
  const { postgres, stage } = await open(t)
  const operator = new pg.Client({ connectionString: postgres.adminUrl() })
  await operator.connect()
  const others: pg.Client[] = []
  await operator.query(`select pg_terminate_backend(pid) from pg_stat_activity where usename = 'grantor'`)
  for (let count = 0; count < CONNECTIONS; count += 1) {
    const other = new pg.Client({ connectionString: postgres.url() })
    other.on('error', () => undefined)
    if (await connects(other)) others.push(other)
  }
  assert.ok(others.length > 0 && others.length < CONNECTIONS)
  await assertAllUnavailable(stage)
  for (const client of [...others, operator]) await client.end()
  await assertAllRecover(stage)
})

test('a node that is started before PostgreSQL waits for it, and logs that', async (t) => {
  const postgres = await openCluster()
  const { url } = await postgres.createDatabase()
  await postgres.stop('fast')
  const { promise: said, resolve } = Promise.withResolvers<void>()
  const node = openNode(t, url, (line) => {
    if (line.includes('store.unavailable')) resolve()
  })
  await said
  await postgres.start()
  const server = await node
  const client = await registerClient(server)
  assert.ok(client.client_id)
})

test('a node that is started with a wrong password fails at once', async (t) => {
  const { url } = await (await openCluster()).createDatabase()
  const wrong = new URL(url)
  wrong.password = 'wrong'
  await assert.rejects(openNode(t, wrong.href), /password/)
})

test('a commit that waits for a missing synchronous standby, also canceled, is a 503; without the standby all recovers', async (t) => {
  const { postgres, server } = await openLight(t)
  const register = () => postJson(server, '/v2/oauth/register', {})
  const reload = 'select pg_reload_conf()'
  await execute(postgres.adminUrl(), `alter system set synchronous_standby_names = 'nobody'`, reload)
  // PostgreSQL needs a short time to notice.
  let answer = await register()
  while (answer.statusCode === 201) answer = await register()
  assert.equal(answer.statusCode, 503)
  // A commit whose wait is canceled succeeds with a warning, although no standby has it.
  const answered = new AbortController()
  const canceled = register().finally(() => answered.abort())
  while (!answered.signal.aborted) await execute(postgres.adminUrl(), CANCEL_WAITS)
  assert.equal((await canceled).statusCode, 503)
  await execute(postgres.adminUrl(), 'alter system reset synchronous_standby_names', reload)
  await untilAvailable('register', register)
})

test('STO-07, RT-04: a missing synchronous standby: readiness follows, writes use up no connection, and no lost answer ends a grant', async (t) => {
  const postgres = await openCluster()
  const { url } = await postgres.createDatabase()
  const env = { ...STRICT, DATABASE_URL: url, GRANTOR_SECRET: 'a root secret that is long enough for it' }
  const server = await openTestServer(t, { env, listen: true })
  const idle = await openTestServer(t, { env, clock: server.clock })
  await createAda(server)
  const { client, token } = await aGrant(server)
  const reload = 'select pg_reload_conf()'
  const sessions = () =>
    selectValue(url, `select count(*)::int from pg_stat_activity where datname = current_database()`)
  const accepts = async () => (await server.sample(false)).find(({ name }) => name === 'grantor_store_accepts_writes')
  const isAccepting = async () => Object.assign({ value: undefined }, await accepts()).value
  assert.equal(await isAccepting(), 1)
  await execute(postgres.adminUrl(), `alter system set synchronous_standby_names = 'nobody'`, reload)
  // The node notices it by its own commits, and the other node by those. PostgreSQL may need a moment, and answer before.
  let lost = token
  let answer = await refresh(server, client, lost)
  for (; answer.statusCode === 200; answer = await refresh(server, client, lost))
    lost = answer.json<Tokens>().refresh_token ?? ''
  assert.equal(answer.statusCode, 503)
  for (const node of [server, idle]) await untilReadiness(node, 'commits_wait')
  while ((await isAccepting()) !== 0) await delay(100)
  server.clock.advance(10 * RETRY_MS)
  const before = await sessions()
  for (let count = 0; count < CONNECTIONS; count += 1)
    assert.equal((await postJson(server, '/v2/oauth/register', {})).statusCode, 503)
  // The node's own write may have begun or ended meanwhile.
  assert.ok(Number(await sessions()) <= Number(before) + 1)
  assert.equal((await server.inject({ url: '/v2/oauth/jwks' })).statusCode, 200)
  assert.match(server.log(), /"event":"store\.refuses-writes","reason":"commits_wait"/)
  await execute(postgres.adminUrl(), 'alter system reset synchronous_standby_names', reload)
  while ((await isAccepting()) !== 1) await delay(100)
  for (const node of [server, idle]) await untilReadiness(node, undefined)
  // RT-04: the window of a lost answer begins when the store answers again, on each node.
  server.clock.advance(RETRY_MS - 1000)
  const successors = await Promise.all([server, idle].map((node) => refresh(node, client, lost)))
  assert.deepEqual(new Set(successors.map(({ statusCode }) => statusCode)), new Set([200]))
  assert.equal(new Set(successors.map((one) => one.json<Tokens>().refresh_token)).size, 1)
  server.clock.advance(RETRY_MS)
  assert.equal((await refresh(idle, client, lost)).json().error, 'invalid_grant')
  assert.equal((await requestToken(server, client, { grant_type: 'client_credentials' })).statusCode, 200)
})

async function connects(client: pg.Client): Promise<boolean> {
  try {
    await client.connect()
    return true
  } catch {
    return false
  }
}
