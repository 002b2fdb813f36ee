import assert from 'node:assert/strict'
import { test } from 'node:test'
import { postJson, registerClient, requestToken } from '../../tools/flow.ts'
import { openTestServer } from '../support/server.ts'

const METADATA = '/.well-known/oauth-authorization-server'
const ALL = ['authorization_code', 'client_credentials', 'refresh_token'] as const

test('REG-12: a grant type that is not offered is neither registered nor advertised nor usable', async (t) => {
  const whole = await openTestServer(t)
  const before = await registerClient(whole, { grant_types: ALL })
  await whole.close()
  const offered = ['authorization_code', 'refresh_token'] as const
  const server = await openTestServer(t, { folder: whole.folder, grantTypes: offered })
  const client = await registerClient(server, { grant_types: ALL })
  assert.deepEqual(client['grant_types'], offered)
  const alone = await postJson(server, '/v2/oauth/register', { grant_types: ['client_credentials'] })
  assert.equal(alone.statusCode, 400)
  assert.deepEqual(alone.json<{ detail: { ctx: object }[] }>().detail[0]?.ctx, { expected: offered })
  const metadata = (await server.inject({ method: 'GET', url: METADATA })).json<Record<string, unknown>>()
  assert.deepEqual(metadata['grant_types_supported'], offered)
  for (const one of [before, client]) {
    const answer = await requestToken(server, one, { grant_type: 'client_credentials' })
    assert.deepEqual([answer.statusCode, answer.json<{ error: string }>().error], [422, 'unsupported_grant_type'])
  }
})

test('RFC 8414 §2: an endpoint of a grant type that is not offered is neither served nor advertised', async (t) => {
  const server = await openTestServer(t, { grantTypes: ['client_credentials'] })
  const metadata = (await server.inject({ method: 'GET', url: METADATA })).json<Record<string, unknown>>()
  assert.ok('token_endpoint' in metadata && !('authorization_endpoint' in metadata))
  for (const method of ['GET', 'POST'] as const)
    assert.equal((await server.inject({ method, url: '/v2/oauth/authorize' })).statusCode, 404)
})
