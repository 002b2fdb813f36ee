import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openTestServer, type TestServer } from '../../support/server.ts'
import { define } from '../../support/store/dump.ts'
import { jwks } from '../../../src/endpoints/well-known/jwks.ts'

test('the document of the same keys is the same object, so that it is serialized once', async () => {
  let published: readonly object[] = [{ kid: 'a' }]
  const keys = {
    published: () => Promise.resolve({ keys: published, isComplete: true }),
    create: () => assert.fail('no key was requested'),
    ensureIdTokenKey: () => assert.fail('no key was requested'),
  }
  const bodyOf = async () => {
    const reply = await jwks({ keys })
    assert.equal(reply.kind, 'json')
    return reply.body
  }
  const first = await bodyOf()
  assert.equal(await bodyOf(), first)
  published = [{ kid: 'a' }, { kid: 'b' }]
  assert.deepEqual(await bodyOf(), { keys: published })
})

test('OP-14: the first key set of a server has a key for ID tokens of each algorithm', async (t) => {
  const { algorithms } = await keySetOf(await openTestServer(t))
  assert.deepEqual(algorithms.toSorted(), ['ES256', 'ES256', 'EdDSA', 'RS256'])
})

test('a server without the authorization code grant offers no algorithm for ID tokens, and creates no key for them', async (t) => {
  const server = await openTestServer(t, { grantTypes: ['client_credentials'] })
  assert.deepEqual((await keySetOf(server)).algorithms, ['ES256'])
})

test('a key set that lacks keys because the store cannot be written is served, and is not cached', async (t) => {
  const server = await openTestServer(t)
  define(
    server,
    `create trigger full before insert on signing_keys when new.purpose = 'id' begin select raise(abort, 'full'); end`,
  )
  for (const _ of [1, 2]) {
    const lacking = await keySetOf(server)
    assert.deepEqual([lacking.algorithms, lacking.caching], [['ES256'], 'no-store'])
  }
  define(server, 'drop trigger full')
  server.clock.advance(5000)
  const { algorithms, caching } = await keySetOf(server)
  assert.deepEqual([algorithms.length, caching], [4, 'public, max-age=300'])
})

async function keySetOf(server: TestServer) {
  const answer = await server.inject({ method: 'GET', url: '/v2/oauth/jwks' })
  const { keys } = answer.json<{ readonly keys: readonly { readonly kid: string; readonly alg: string }[] }>()
  return {
    kids: keys.map(({ kid }) => kid),
    algorithms: keys.map(({ alg }) => alg),
    caching: answer.headers['cache-control'],
  }
}
