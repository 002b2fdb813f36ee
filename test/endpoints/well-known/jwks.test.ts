import assert from 'node:assert/strict'
import { test } from 'node:test'
import { authorizeUrl, registerClient } from '../../../tools/flow.ts'
import { aClient } from '../../support/records.ts'
import { perform } from '../../support/tasks.ts'
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

const EDDSA = { id_token_signed_response_alg: 'EdDSA' }
const REDIRECT = { redirect_uris: ['https://app.example/callback'] }
/** What the first client that chose EdDSA does. */
const FIRST_USES: Readonly<Record<string, (server: TestServer) => Promise<unknown>>> = {
  'it registers': (server) => registerClient(server, EDDSA),
  async 'it registered, and changes its registration'(server) {
    const { registration_client_uri, registration_access_token } = await registerClient(server)
    const { pathname, search } = new URL(String(registration_client_uri))
    const authorization = `Bearer ${String(registration_access_token)}`
    const query = Object.fromEntries(new URLSearchParams(search))
    const payload = { client_id: query['client_id'], ...REDIRECT, ...EDDSA }
    const options = { method: 'PUT', url: pathname, query, headers: { authorization }, payload } as const
    assert.equal((await server.inject(options)).statusCode, 200)
  },
  'an administrator creates it': ({ context }) =>
    perform(context, 'client.create', { client_name: 'App', ...REDIRECT, ...EDDSA }),
  async 'an administrator changes it'({ context }) {
    const { client_id } = await perform(context, 'client.create', { client_name: 'App', ...REDIRECT })
    await perform(context, 'client.update', { client_id, ...EDDSA })
  },
  async 'it was imported, and signs a user in'(server) {
    const client = aClient({ metadata: { ...aClient().metadata, idTokenAlgorithm: 'EdDSA' } })
    assert.equal(await server.context.store.createClient(client), 'created')
    const [redirect_uri = ''] = client.metadata.redirectUris
    const url = authorizeUrl({ client_id: client.id }, { redirect_uri, scope: 'openid' })
    assert.equal((await server.inject({ url })).statusCode, 303)
  },
}

test('OP-14: the first key set has keys for ID tokens that any library reads, and EdDSA once a client chose it', async (t) => {
  const early = ['ES256', 'ES256', 'RS256']
  for (const [what, use] of Object.entries(FIRST_USES)) {
    const server = await openTestServer(t)
    await registerClient(server)
    assert.deepEqual((await keySetOf(server)).algorithms.toSorted(), early)
    await use(server)
    assert.deepEqual((await keySetOf(server)).algorithms.toSorted(), ['ES256', 'ES256', 'EdDSA', 'RS256'], what)
  }
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
  assert.deepEqual([algorithms.length, caching], [3, 'public, max-age=300'])
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
