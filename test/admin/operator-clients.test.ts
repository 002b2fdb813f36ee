import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ClientDocument } from '../../src/admin/client/document.ts'
import type { CreatedClientDocument } from '../../src/admin/client/tasks.ts'
import {
  authorizeUrl,
  obtainCode,
  obtainTokens,
  postJson,
  redeem,
  refresh,
  registerClient,
  requestToken,
  type RegisteredClient,
  type Tokens,
} from '../../tools/flow.ts'
import { consentedBrowser, isCodeAnswer } from '../support/authorize-answers.ts'
import { declareApi, JWT_API, knowApis } from '../support/apis.ts'
import { evaluateDomain } from '../support/domains.ts'
import { authentication } from '../support/key-clients.ts'
import type { TestServer } from '../support/server.ts'
import { makeClientKey, type ClientKey } from '../../tools/client-assertion.ts'
import { assertRefused, openOffice } from './office.ts'

/** Those that a client of an operator has if nothing is said. */
const RULES = { consent: 'asked', pkce: 'nonce', claims: 'id-token', profile: 'standard' } as const
const MACHINE = { grant_type: 'client_credentials' }
const APP = { client_name: 'Board', redirect_uris: ['https://app.example/callback'] }

test('WAY-05: a created machine gets tokens with its secret, and the answer is that of a registration', async (t) => {
  const { stage, perform } = await openOffice(t)
  const created = await perform<CreatedClientDocument>('client.create', { client_name: 'Nightly' })
  assert.deepEqual(Object.keys(JSON.parse(JSON.stringify(created)) as object), [
    'client_id',
    'client_secret',
    'client_id_issued_at',
    'client_secret_expires_at',
    'redirect_uris',
    'token_endpoint_auth_method',
    'grant_types',
    'response_types',
    'client_name',
  ])
  assert.deepEqual(
    [created.grant_types, created.response_types, created.token_endpoint_auth_method],
    [['client_credentials'], [], 'client_secret_basic'],
  )
  assert.equal((await requestToken(stage.server, created as RegisteredClient, MACHINE)).statusCode, 200)
  const shown = await perform<ClientDocument>('client.show', { client_id: created.client_id })
  assert.deepEqual(
    [shown.source, shown.trust_level, shown.manages_itself, shown.rules, typeof shown.verified_at],
    ['operator', 'verified', false, RULES, 'string'],
  )
  assert.ok(!JSON.stringify(shown).includes('gcs_'))
})

test('WAY-05: a created app uses the code flow, and is created also while registration is closed', async (t) => {
  const { stage, perform } = await openOffice(t, { GRANTOR_REGISTRATION: 'closed' })
  const created = await perform<RegisteredClient>('client.create', APP)
  const { refresh_token = '' } = await obtainTokens(stage.server, created)
  assert.equal((await refresh(stage.server, created, refresh_token)).statusCode, 200)
  const spa = { ...APP, token_endpoint_auth_method: 'none' }
  const open = await perform<RegisteredClient>('client.create', spa)
  assert.equal(open.client_secret, undefined)
  await obtainTokens(stage.server, open)
  const twin = await perform<RegisteredClient>('client.create', spa)
  assert.notEqual(twin.client_id, open.client_id, 'the metadata of a created client is not shared')
})

test('WAY-05: a client is created with the scopes that it is approved for', async (t) => {
  const { stage, perform } = await openOffice(t)
  const pay = { name: 'pay', sentence: 'Pay', grantedTo: 'approved-clients' } as const
  await declareApi(stage.server, JWT_API, {}, [pay])
  knowApis(stage.server)
  const input = { client_name: 'Payroll', scope: 'pay', approved_scope: 'pay' }
  const created = await perform<RegisteredClient>('client.create', input)
  const form = { ...MACHINE, resource: JWT_API }
  assert.equal((await requestToken(stage.server, created, form)).json<Tokens>().scope, 'pay')
})

const PUBLIC_ISSUER = { GRANTOR_ISSUER: 'https://auth.example', GRANTOR_HOST: '127.0.0.1' }

const IMPOSSIBLE: readonly (readonly [object, RegExp])[] = [
  [{ redirect_uris: ['https://app.example/cb#x'] }, /redirect_uris 0: The redirect URI has a fragment/],
  [{ redirect_uris: ['https://app.example/cb', 'acme:/cb'] }, /does not allow the app of the redirect URI acme:\/cb/],
  [{ redirect_uris: ['http://app.example/cb'] }, /uses http/],
  [
    { grant_types: ['authorization_code'] },
    /^authorization_code \(or the default grant types\) needs redirect_uris\.$/,
  ],
  [{ ...APP, grant_types: ['client_credentials'] }, /^redirect_uris need the grant type authorization_code\.$/],
  [
    { jwks: { keys: [makeClientKey('ES256').jwk] }, token_endpoint_auth_method: 'client_secret_basic' },
    /^With keys, token_endpoint_auth_method is private_key_jwt, not client_secret_basic\.$/,
  ],
  [{ token_endpoint_auth_method: 'private_key_jwt' }, /^private_key_jwt needs jwks or jwks_uri\.$/],
  [{ grant_types: ['client_credentials'], token_endpoint_auth_method: 'none' }, /grant_types: None of these/],
  [
    { ...APP, grant_types: ['authorization_code', 'client_credentials'], token_endpoint_auth_method: 'none' },
    /cannot use client_credentials/,
  ],
  [{ ...APP, grant_types: [] }, /grant_types: None of these/],
  [{ scope: 'read admin' }, /No API declares admin\./],
  [{ ...APP, rules: { consent: 'implied' } }, /this client has none/],
  [{ scope: 'read', rules: { consent: 'implied' } }, /uses https and leads/],
  [
    { ...APP, redirect_uris: ['https://app.bad.example/cb'] },
    /The domain of https:\/\/app\.bad\.example\/cb is blocked/,
  ],
]

test('WAY-05: a client with metadata that the server does not support is rejected, and nothing is created', async (t) => {
  const { stage, perform } = await openOffice(t)
  await declareApi(stage.server, JWT_API)
  await evaluateDomain(stage.server, '*.bad.example', 'blocked')
  for (const [differing, says] of IMPOSSIBLE) {
    await assertRefused(perform('client.create', { client_name: 'Board', ...differing }), 'conflict', says)
  }
  assert.deepEqual((await perform<{ clients: unknown[] }>('client.list', {})).clients, [])
})

test('WAY-05: implied consent for a loopback redirect URI needs a loopback issuer, and the refusal says so', async (t) => {
  const local = { ...APP, redirect_uris: ['http://127.0.0.1/cb'], scope: 'read' }
  const input = { ...local, rules: { consent: 'implied' } }
  await (await openOffice(t)).perform<ClientDocument>('client.create', input)
  const { stage, perform } = await openOffice(t, PUBLIC_ISSUER)
  await declareApi(stage.server, JWT_API)
  await assertRefused(
    perform('client.create', input),
    'conflict',
    /uses https .* while the issuer is a loopback address/,
  )
})

test('WAY-05: a client of the operator is changed by the operator, with its secret, approvals and rules kept', async (t) => {
  const { stage, perform } = await openOffice(t)
  const { server } = stage
  const input = { ...APP, scope: 'read', rules: { consent: 'implied' }, approved_scope: 'pay' }
  const created = await perform<RegisteredClient>('client.create', input)
  const { client_id } = created
  const { refresh_token = '' } = await obtainTokens(server, created, { prompt: 'consent' })
  const other = 'https://other.example/callback'
  const changed = await perform<ClientDocument>('client.update', { client_id, redirect_uris: [other], scope: 'write' })
  assert.deepEqual(
    [
      changed.client_name,
      changed.redirect_uris,
      changed.scope,
      changed.approved_scope,
      changed.rules,
      changed.trust_level,
    ],
    ['Board', [other], 'write', 'pay', { ...RULES, consent: 'implied' }, 'verified'],
  )
  assert.equal((await refresh(server, created, refresh_token)).statusCode, 200)
  const at = { redirect_uri: other, prompt: 'consent' }
  assert.equal((await redeem(server, created, await obtainCode(server, created, at), at)).statusCode, 200)
  const impossible = { client_id, redirect_uris: ['com.example.app:/cb'] }
  await assertRefused(perform('client.update', impossible), 'conflict', /uses https and leads/)
})

test('WAY-05: another name of a client of the operator makes users consent again, other changes do not', async (t) => {
  const { stage, perform } = await openOffice(t)
  const created = await perform<RegisteredClient>('client.create', APP)
  const { client_id } = created
  const browser = await consentedBrowser(stage.server, created)
  const isRemembered = async (): Promise<boolean> => isCodeAnswer(await browser.get(authorizeUrl(created)))
  await perform('client.update', { client_id, redirect_uris: [...APP.redirect_uris, 'https://app.example/two'] })
  assert.ok(await isRemembered())
  // Otherwise the name may change within the millisecond of the last consent.
  stage.server.clock.advance(1)
  await perform('client.update', { client_id, client_name: 'Wall' })
  stage.server.clock.advance(2000)
  assert.ok(!(await isRemembered()))
})

test('WAY-05: an adopted client keeps its id, secret and tokens, and no longer manages itself', async (t) => {
  const { stage, perform } = await openOffice(t)
  const { server } = stage
  const client = await registerClient(server)
  const { client_id } = client
  const { refresh_token = '' } = await obtainTokens(server, client)
  const adopted = await perform<ClientDocument>('client.adopt', { client_id })
  assert.deepEqual([adopted.source, adopted.trust_level, adopted.manages_itself], ['operator', 'verified', false])
  assert.equal((await refresh(server, client, refresh_token)).statusCode, 200)
  assert.equal((await requestToken(server, client, MACHINE)).statusCode, 200)
  const { pathname, search } = new URL(String(client['registration_client_uri']))
  const authorization = `Bearer ${String(client['registration_access_token'])}`
  server.clock.advance(2000)
  assert.equal((await server.inject({ url: pathname + search, headers: { authorization } })).statusCode, 401)
  await assertRefused(perform('client.adopt', { client_id }), 'conflict', /already belongs to the operator/)
  await assertRefused(perform('client.unverify', { client_id }), 'conflict', /so it is always verified/)
  await assertRefused(perform('client.create-registration-token', { client_id }), 'conflict', /does not manage itself/)
  await perform('client.disable', { client_id })
  assert.equal((await requestToken(server, client, MACHINE)).statusCode, 401)
})

test('WAY-05: registering the metadata of an adopted public client makes another client', async (t) => {
  const { stage, perform } = await openOffice(t)
  const body = { ...APP, token_endpoint_auth_method: 'none' }
  const { client_id } = (await postJson(stage.server, '/v2/oauth/register', body)).json<RegisteredClient>()
  await perform('client.adopt', { client_id })
  const again = (await postJson(stage.server, '/v2/oauth/register', body)).json<RegisteredClient>()
  assert.notEqual(again.client_id, client_id)
})

test('WAY-05: a client that registered has no rules but strict copies, and no changes by the operator, until it is adopted', async (t) => {
  const { stage, perform } = await openOffice(t)
  const { client_id } = await registerClient(stage.server, { scope: 'read' })
  const says = /was not created by an operator\..* To take it over, and so trust it: grantor client adopt gci_/
  const widening = [{ consent: 'implied' }, { pkce: 'optional' }, { profile: 'fapi2' }, { copies: 'network' }, {}]
  for (const rules of widening)
    await assertRefused(perform('client.set-rules', { client_id, ...rules }), 'conflict', says)
  for (const [copies, now] of [
    ['strict', 'strict'],
    [undefined, 'server'],
  ] as const) {
    const changed = await perform<ClientDocument>('client.set-rules', { client_id, copies })
    assert.deepEqual([changed.refresh_copies, changed.trust_level], [now, 'unverified'])
  }
  await assertRefused(perform('client.update', { client_id, client_name: 'Board' }), 'conflict', says)
  await perform('client.adopt', { client_id })
  const ruled = await perform<ClientDocument>('client.set-rules', { client_id, consent: 'implied' })
  assert.deepEqual(ruled.rules, { ...RULES, consent: 'implied' })
  assert.deepEqual((await perform<ClientDocument>('client.set-rules', { client_id })).rules, RULES)
})

test('RFC 7592 §3: a client whose registration access token was lost manages itself with a new one', async (t) => {
  const { stage, perform } = await openOffice(t)
  const { server } = stage
  const client = await registerClient(server)
  const { client_id } = client
  const made = await perform<RegisteredClient>('client.create-registration-token', { client_id })
  const { pathname, search } = new URL(String(client['registration_client_uri']))
  const read = async (token: unknown): Promise<number> => {
    const headers = { authorization: `Bearer ${String(token)}` }
    return (await server.inject({ url: pathname + search, headers })).statusCode
  }
  server.clock.advance(2000)
  assert.equal(await read(made['registration_access_token']), 200)
  assert.equal(await read(client['registration_access_token']), 401)
  const open = await registerClient(server, { token_endpoint_auth_method: 'none', grant_types: ['authorization_code'] })
  await assertRefused(
    perform('client.create-registration-token', { client_id: open.client_id }),
    'conflict',
    /does not manage itself: it is public, or is not a registered client/,
  )
})

test('WAY-05: a client that was created with keys authenticates with them, and with other keys once they are set', async (t) => {
  const { stage, perform } = await openOffice(t)
  const { server } = stage
  const [one, other] = [makeClientKey('ES256'), makeClientKey('EdDSA')]
  const created = await perform<RegisteredClient>('client.create', {
    client_name: 'Nightly',
    jwks: { keys: [one.jwk] },
  })
  assert.deepEqual([created.client_secret, created['token_endpoint_auth_method']], [undefined, 'private_key_jwt'])
  const ask = async (key: ClientKey): Promise<number> => (await requestTokenBy(server, created, key)).statusCode
  assert.deepEqual([await ask(one), await ask(other)], [200, 401])
  const { client_id } = created
  await perform('client.set-keys', { client_id, jwks: { keys: [other.jwk] }, token_endpoint_auth_signing_alg: 'EdDSA' })
  server.clock.advance(2000)
  assert.deepEqual([await ask(one), await ask(other)], [401, 200])
})

test('WAY-05: keys replace the secret of a client of the operator, and a public client gets none', async (t) => {
  const { stage, perform } = await openOffice(t)
  const { server } = stage
  const key = makeClientKey('PS256')
  const created = await perform<RegisteredClient>('client.create', { client_name: 'Nightly' })
  assert.equal((await requestToken(server, created, MACHINE)).statusCode, 200)
  const changed = await perform<ClientDocument>('client.set-keys', {
    client_id: created.client_id,
    jwks: { keys: [key.jwk] },
  })
  assert.deepEqual([changed.token_endpoint_auth_method, changed.has_secret], ['private_key_jwt', false])
  server.clock.advance(2000)
  assert.equal((await requestToken(server, created, MACHINE)).statusCode, 401)
  assert.equal((await requestTokenBy(server, created, key)).statusCode, 200)
  const open = await perform<RegisteredClient>('client.create', { ...APP, token_endpoint_auth_method: 'none' })
  const attempt = perform('client.set-keys', { client_id: open.client_id, jwks: { keys: [key.jwk] } })
  await assertRefused(attempt, 'conflict', /is public\. Create another client with keys/)
})

function requestTokenBy(server: TestServer, client: RegisteredClient, key: ClientKey) {
  const { client_id } = client
  return requestToken(server, { client_id }, { ...MACHINE, ...authentication(server, { client, key }) })
}
