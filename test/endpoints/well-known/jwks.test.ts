import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { authorizeUrl, registerClient } from '../../../tools/flow.ts'
import { openDocumentHost } from '../../support/hosts/document-host.ts'
import { aClient } from '../../support/records.ts'
import { perform } from '../../support/tasks.ts'
import { openTestServer, type TestServer } from '../../support/server.ts'
import { define } from '../../support/store/dump.ts'
import { createInitialToken } from '../../../src/admin/client/initial-token.ts'
import { DEFAULT_TEMPLATE } from '../../../src/protocol/client/registration-template.ts'
import { documentClientId } from '../../../src/protocol/client/identifier.ts'
import { jwks } from '../../../src/endpoints/well-known/jwks.ts'

test('the document of the same keys is the same object, so that it is serialized once', async () => {
  let published: readonly object[] = [{ kid: 'a' }]
  const keys = {
    published: () => Promise.resolve({ keys: published, isComplete: true }),
    idTokenAlgorithms: () => assert.fail('no algorithm was asked for'),
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
/** Registers a client, and changes its registration, after something was done with it. Returns the answer. */
async function changeToEdDsa(server: TestServer, between: (client_id: string) => Promise<unknown> | undefined) {
  const { client_id, registration_client_uri, registration_access_token } = await registerClient(server)
  await between(client_id)
  const { pathname, search } = new URL(String(registration_client_uri))
  const authorization = `Bearer ${String(registration_access_token)}`
  const query = Object.fromEntries(new URLSearchParams(search))
  const payload = { client_id, ...REDIRECT, ...EDDSA }
  const answer = await server.inject({ method: 'PUT', url: pathname, query, headers: { authorization }, payload })
  assert.equal(answer.statusCode, 200)
  return answer.json<object>()
}

/** What a client does that chose EdDSA, and that the operator neither made nor verified. Each returns its registered metadata. */
const BY_STRANGERS: Readonly<Record<string, (server: TestServer, t: TestContext) => Promise<object>>> = {
  'it registers': (server) => registerClient(server, EDDSA),
  'it registers as a public client': (server) =>
    registerClient(server, { ...EDDSA, token_endpoint_auth_method: 'none' }),
  'it registered, and changes its registration': (server) => changeToEdDsa(server, () => undefined),
  async 'its document names it'(server, t) {
    const host = await openDocumentHost(t)
    host.publish(EDDSA)
    const client = host.client()
    assert.equal((await server.inject({ url: authorizeUrl(client, { scope: 'openid' }) })).statusCode, 303)
    const stored = await server.context.store.findClient(documentClientId(client.client_id))
    return { id_token_signed_response_alg: stored?.metadata.id_token_signed_response_alg }
  },
}

/** What the first client that chose EdDSA does, which the operator made or verified. */
const FIRST_USES: Readonly<Record<string, (server: TestServer) => Promise<unknown>>> = {
  async 'it registers with a token for verified clients'({ context, inject }) {
    const { token } = await createInitialToken(context, {
      uses: 1,
      days: 1,
      name: 'partner',
      template: { ...DEFAULT_TEMPLATE, trustLevel: 'verified' },
    })
    const headers = { authorization: `Bearer ${token}` }
    const answer = await inject({
      method: 'POST',
      url: '/v2/oauth/register',
      headers,
      payload: { ...REDIRECT, ...EDDSA },
    })
    assert.equal(answer.statusCode, 201)
  },
  'it was verified, and changes its registration': (server) =>
    changeToEdDsa(server, (client_id) => perform(server.context, 'client.verify', { client_id })),
  'an administrator creates it': ({ context }) =>
    perform(context, 'client.create', { client_name: 'App', ...REDIRECT, ...EDDSA }),
  async 'an administrator changes it'({ context }) {
    const { client_id } = await perform(context, 'client.create', { client_name: 'App', ...REDIRECT })
    await perform(context, 'client.update', { client_id, ...EDDSA })
  },
  async 'it was imported, and signs a user in'(server) {
    const client = aClient({
      source: 'operator',
      metadata: { ...aClient().metadata, id_token_signed_response_alg: 'EdDSA' },
    })
    assert.equal(await server.context.store.createClient(client), 'created')
    const [redirect_uri = ''] = client.metadata.redirect_uris
    const url = authorizeUrl({ client_id: client.id }, { redirect_uri, scope: 'openid' })
    assert.equal((await server.inject({ url })).statusCode, 303)
  },
}

test('OP-19: a stranger that chooses EdDSA gets RS256, and adds no key that verifiers of others may not read', async (t) => {
  const server = await openTestServer(t)
  const before = await keySetOf(server)
  for (const [what, use] of Object.entries(BY_STRANGERS)) {
    assert.equal(algorithmOf(await use(server, t)), 'RS256', what)
    assert.deepEqual((await keySetOf(server)).kids, before.kids, what)
    assert.deepEqual(await offeredBy(server), ['RS256', 'ES256'], what)
  }
  await perform(server.context, 'client.create', { client_name: 'App', ...REDIRECT, ...EDDSA })
  assert.deepEqual(await offeredBy(server), ['RS256', 'ES256', 'EdDSA'])
  for (const [what, use] of Object.entries(BY_STRANGERS)) assert.equal(algorithmOf(await use(server, t)), 'EdDSA', what)
})

test('OP-14: the first key set has keys for ID tokens that any library reads, and EdDSA once the operator chose it', async (t) => {
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

function algorithmOf(metadata: object): unknown {
  return 'id_token_signed_response_alg' in metadata ? metadata.id_token_signed_response_alg : undefined
}

async function offeredBy(server: TestServer): Promise<unknown> {
  const answer = await server.inject({ method: 'GET', url: '/.well-known/openid-configuration' })
  return answer.json<Record<string, unknown>>()['id_token_signing_alg_values_supported']
}

async function keySetOf(server: TestServer) {
  const answer = await server.inject({ method: 'GET', url: '/v2/oauth/jwks' })
  const { keys } = answer.json<{ readonly keys: readonly { readonly kid: string; readonly alg: string }[] }>()
  return {
    kids: keys.map(({ kid }) => kid),
    algorithms: keys.map(({ alg }) => alg),
    caching: answer.headers['cache-control'],
  }
}
