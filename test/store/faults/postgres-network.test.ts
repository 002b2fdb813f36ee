import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { openChaosProxy, type ChaosProxy } from '../../support/store/chaos-proxy.ts'
import { postJson, refresh, REDIRECT_URI, registerClient, requestToken } from '../../../tools/flow.ts'
import { openMigratedDatabase } from '../../support/store/migrated-database.ts'
import {
  assertAllRecover,
  assertAllUnavailable,
  assertUnavailable,
  assertUnchanged,
  LIMIT_MS,
  openNode,
  openAskedNode,
  type AskedNode,
} from '../../support/store/postgres-node.ts'

interface Setting {
  readonly url: string
  readonly proxy: ChaosProxy
  readonly stage: AskedNode
}

const DOCUMENTS = [
  '/v2/oauth/jwks',
  '/.well-known/oauth-authorization-server',
  '/.well-known/openid-configuration',
  '/health/alive',
  '/version',
]
/** An answer from memory comes within 200 ms, which is more on a machine that is busy with other work. */
const PROMPT_MS = 2000
/** All steps of a request wait 4 s together. The limit is doubled for such a machine. */
const SHARED_LIMIT_MS = 8000

async function open(t: Parameters<typeof openMigratedDatabase>[0]): Promise<Setting> {
  const url = await openMigratedDatabase(t)
  const proxy = await openChaosProxy(t, url)
  return { url, proxy, stage: await openAskedNode(t, proxy.url) }
}

describe('the network between node and PostgreSQL', { concurrency: true }, () => {
  test('a refused connection fails at once, changes nothing, and all recovers', async (t) => {
    const { url, proxy, stage } = await open(t)
    await proxy.refuse()
    await assertUnchanged(url, () => assertAllUnavailable(stage))
    await assertUnavailable('ready', () => stage.server.inject({ url: '/health/ready' }))
    for (const path of ['/health/alive', '/v2/oauth/jwks'])
      assert.equal((await stage.server.inject({ url: path })).statusCode, 200, path)
    await proxy.accept()
    await assertAllRecover(stage)
  })

  test('open connections that no longer respond are given up in time, and all recovers', async (t) => {
    const { url, proxy, stage } = await open(t)
    assert.ok(proxy.size() > 0)
    proxy.stall('everything')
    await assertUnchanged(url, () => assertAllUnavailable(stage))
    proxy.resume()
    await assertAllRecover(stage)
  })

  test('a request of several steps has one limit, and what is in memory does not wait for the database', async (t) => {
    const { proxy, stage } = await open(t)
    const { server } = stage
    await postJson(server, '/v2/oauth/register', { redirect_uris: [REDIRECT_URI] })
    // Every copy of what the database has is too old.
    server.clock.advance(5000)
    proxy.stall('everything')
    const documents = DOCUMENTS.map(async (url) => {
      const start = performance.now()
      const { statusCode, body } = await server.inject({ url })
      assert.equal(statusCode, 200, `${url}: ${body}`)
      const elapsed = performance.now() - start
      assert.ok(elapsed < PROMPT_MS, `${url} was answered after ${elapsed} ms`)
    })
    const asks = Object.entries(stage.asks).map(async ([name, ask]) => {
      const elapsed = await assertUnavailable(name, ask)
      assert.ok(elapsed < SHARED_LIMIT_MS, `${name} was answered after ${elapsed} ms`)
    })
    await Promise.all([...documents, ...asks])
    proxy.resume()
    await assertAllRecover(stage)
  })

  test('new connections that never respond are given up in time, and all recovers', async (t) => {
    const { url, proxy, stage } = await open(t)
    proxy.cut()
    proxy.stall('answers')
    await assertUnchanged(url, () => assertAllUnavailable(stage))
    proxy.resume()
    await assertAllRecover(stage)
  })

  test('responses that are slow but in time cause no error', async (t) => {
    const { proxy, stage } = await open(t)
    proxy.slowDown(150)
    const { register, refresh: rotate, authorize, useClient } = stage.asks
    const answers = await Promise.all([register, rotate, authorize, useClient].map(async (ask) => ask()))
    for (const answer of answers) assert.ok(answer.statusCode < 400, answer.body)
  })

  test('responses that come too late are not waited for, and all recovers', async (t) => {
    const { proxy, stage } = await open(t)
    proxy.slowDown(20_000)
    const { register, authorize } = stage.asks
    await Promise.all([assertUnavailable('register', register), assertUnavailable('authorize', authorize)])
    proxy.slowDown(0)
    await assertAllRecover(stage)
  })

  test('requests that wait for a database that does not respond do not wait for each other', async (t) => {
    const { proxy, stage } = await open(t)
    const clients = await Promise.all(Array.from({ length: 100 }, () => registerClient(stage.server)))
    proxy.stall('everything')
    const asks = clients.flatMap((client) => [
      () => postJson(stage.server, '/v2/oauth/register', { redirect_uris: [REDIRECT_URI] }),
      () => requestToken(stage.server, client, { grant_type: 'client_credentials' }),
      () => refresh(stage.server, stage.client, stage.token),
    ])
    const elapsed = await Promise.all(asks.map((ask) => assertUnavailable('ask', ask)))
    assert.ok(Math.max(...elapsed) < LIMIT_MS)
    proxy.resume()
    await assertAllRecover(stage)
  })

  test('connections that are cut repeatedly under load leave no broken one in the pool', async (t) => {
    const { url, proxy, stage } = await open(t)
    const { server } = stage
    const given: string[] = []
    for (let round = 0; round < 20; round += 1) {
      const asks = Array.from({ length: 20 }, () => postJson(server, '/v2/oauth/register', {}))
      await Promise.race(asks)
      asks.push(postJson(server, '/v2/oauth/register', {}))
      // In every second round in the middle of a transaction.
      if (round % 2 === 0) await proxy.cutAtCommit('before')
      proxy.cut()
      for (const answer of await Promise.all(asks)) {
        assert.ok([201, 503].includes(answer.statusCode), answer.body)
        if (answer.statusCode === 201) given.push(answer.json<{ client_id: string }>().client_id)
      }
    }
    const found = await openNode(t, url)
    for (const id of given) assert.ok(await found.context.store.findClient(id as never), id)
    await assertAllRecover(stage)
    assert.ok(proxy.size() <= 4, String(proxy.size()))
  })

  test('a node closes although its database does not respond', async (t) => {
    const { proxy, stage } = await open(t)
    proxy.stall('everything')
    const asks = Object.entries(stage.asks).map(([name, ask]) => assertUnavailable(name, ask))
    const start = performance.now()
    const closed = stage.server.close()
    await Promise.all([...asks, closed])
    assert.ok(performance.now() - start < LIMIT_MS)
  })

  test('a node that closes completes running requests', async (t) => {
    const { proxy, stage } = await open(t)
    proxy.slowDown(150)
    const answer = refresh(stage.server, stage.client, stage.token)
    await new Promise((resolve) => setImmediate(resolve))
    const registered = stage.server.context.store.findUserByEmail('nobody@acme.test')
    await stage.server.close()
    assert.equal(await registered, undefined)
    assert.ok([200, 503].includes((await answer).statusCode))
  })
})
