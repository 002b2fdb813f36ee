import assert from 'node:assert/strict'
import { once } from 'node:events'
import { test } from 'node:test'
import { ENDPOINTS } from '../../src/endpoints/index.ts'
import type { ClientRecord } from '../../src/ports/records/client.ts'
import { postJson, registerClient, requestToken, REDIRECT_URI } from '../../tools/flow.ts'
import { openTestServer } from '../support/server.ts'
import { openSocket } from '../support/hosts/raw-socket.ts'

const BUSY_LIMIT = 500

test('decision 0005: beyond five hundred requests in progress only those of high priority are answered', async (t) => {
  const server = await openTestServer(t)
  const client = await registerClient(server)
  const { access_token: token } = (await requestToken(server, client, { grant_type: 'client_credentials' })).json()
  const { store } = server.context
  const { promise: released, resolve: release } = Promise.withResolvers<void>()
  const registerClientNow = store.registerClient.bind(store)
  const full = Promise.withResolvers<void>()
  let underWay = 0
  t.mock.method(store, 'registerClient', async (record: ClientRecord) => {
    underWay += 1
    if (underWay === BUSY_LIMIT) full.resolve()
    await released
    return registerClientNow(record)
  })
  const register = () => postJson(server, '/v2/oauth/register', { redirect_uris: [REDIRECT_URI] })
  const waiting = Array.from({ length: BUSY_LIMIT }, async () => register())
  await full.promise
  const shed = Array.from({ length: 20 }, async () => register())
  const highPriority = await Promise.all([
    server.inject({ url: '/v2/oauth/jwks' }),
    server.inject({ url: '/.well-known/oauth-authorization-server' }),
    server.inject({ url: '/health/alive' }),
    server.inject({
      method: 'POST',
      url: '/v2/oauth/introspect',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      payload: new URLSearchParams({
        client_id: client.client_id,
        client_secret: client.client_secret ?? '',
        token,
      }).toString(),
    }),
  ])
  for (const { statusCode } of highPriority) assert.equal(statusCode, 200)
  for (const answer of await Promise.all(shed)) {
    assert.equal(answer.statusCode, 503)
    assert.equal(answer.json().error, 'temporarily_unavailable')
    assert.equal(answer.headers['retry-after'], '1')
  }
  assert.equal(underWay, BUSY_LIMIT)
  release()
  for (const { statusCode } of await Promise.all(waiting)) assert.equal(statusCode, 201)
  assert.equal((await register()).statusCode, 201)
  assert.match(server.log(), /"reason":"overloaded"/)
})

test('decision 0005: requests that arrive in the same turn of the event loop are counted one by one', async (t) => {
  const server = await openTestServer(t, { listen: true })
  const { promise: released, resolve: release } = Promise.withResolvers<void>()
  const { store } = server.context
  const registerClientNow = store.registerClient.bind(store)
  let underWay = 0
  let shed = 0
  const releaseWhenAllCame = (): void => void (underWay + shed === BUSY_LIMIT + 20 && release())
  t.mock.method(store, 'registerClient', async (record: ClientRecord) => {
    underWay += 1
    releaseWhenAllCame()
    await released
    return registerClientNow(record)
  })
  const sockets = Array.from({ length: BUSY_LIMIT + 20 }, () => openSocket(t, server))
  await Promise.all(sockets.map((socket) => once(socket, 'connect')))
  const body = JSON.stringify({ redirect_uris: [REDIRECT_URI] })
  const head = `POST /v2/oauth/register HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n`
  for (const socket of sockets) socket.write(`${head}Content-Length: ${body.length}\r\n\r\n${body}`)
  await Promise.all(
    sockets.map(async (socket) => {
      const [answer] = (await once(socket, 'data')) as [Buffer]
      if (answer.toString('latin1').startsWith('HTTP/1.1 503 ')) shed += 1
      releaseWhenAllCame()
    }),
  )
  assert.deepEqual({ underWay, shed }, { underWay: BUSY_LIMIT, shed: 20 })
})

test('decision 0005: refusals and requests of high priority are answered before other waiting requests', async (t) => {
  const server = await openTestServer(t)
  // The first request creates keys.
  await server.inject({ url: '/v2/oauth/jwks' })
  const answered: number[] = []
  const note = ({ statusCode }: { readonly statusCode: number }): void => void answered.push(statusCode)
  const work = Array.from({ length: BUSY_LIMIT }, async () => {
    note(await postJson(server, '/v2/oauth/register', { redirect_uris: [REDIRECT_URI] }))
  })
  const others = [
    server.inject({ url: '/v2/oauth/jwks' }),
    server.inject({ method: 'POST', url: '/v2/oauth/register', payload: 'x' }),
  ].map(async (answer) => note(await answer))
  await Promise.all([...work, ...others])
  assert.equal(answered.filter((status) => status === 201).length, BUSY_LIMIT)
  assert.ok(answered.indexOf(200) < BUSY_LIMIT / 2 && answered.indexOf(415) < BUSY_LIMIT / 2, answered.join())
})

test('revocation, health checks and the endpoints that APIs use have high priority', () => {
  const highPriority = new Set(ENDPOINTS.filter((row) => row.priority === 'high').map(({ name }) => name))
  const last = ['alive', 'introspect', 'jwks', 'metadata', 'protected-resource', 'ready', 'revoke', 'version']
  assert.deepEqual([...highPriority].toSorted(), last)
})
