import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ENDPOINTS } from '../../src/endpoints/index.ts'
import type { ClientRecord } from '../../src/ports/records.ts'
import { postJson, registerClient, requestToken, REDIRECT_URI } from '../flow.ts'
import { openTestServer } from '../server.ts'

const BUSY_LIMIT = 500

test('D1: beyond five hundred requests under way, the next is refused at once, and what APIs wait for is answered', async (t) => {
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
  const vital = await Promise.all([
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
  for (const { statusCode } of vital) assert.equal(statusCode, 200)
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

test('what takes tokens back, what APIs read and what machinery asks are shed last', () => {
  const vital = new Set(ENDPOINTS.filter((row) => row.vital === true).map(({ name }) => name))
  const last = ['alive', 'introspect', 'jwks', 'metadata', 'protected-resource', 'ready', 'revoke', 'version']
  assert.deepEqual([...vital].toSorted(), last)
})
