import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DEVICE_CODE } from '../../../src/protocol/token/grant-types.ts'
import { from, requestDevice, startDevice } from '../../../tools/device-flow.ts'
import { assertionClaims, assertionForm, makeClientKey, signJws } from '../../../tools/client-assertion.ts'
import { postForm, postJson, registerClient, requestToken } from '../../../tools/flow.ts'
import { declareApi, knowApis } from '../../support/apis.ts'
import { WHOLE_FILE } from '../../support/authorize-answers.ts'
import { openStillClock } from '../../support/clocks.ts'
import { createDeviceClient, DEVICES_ON } from '../../support/sign-in/devices.ts'
import { assertError, assertErrorForPrograms } from '../../support/error-answer.ts'
import { openDocumentHost } from '../../support/hosts/document-host.ts'
import { openTestServer } from '../../support/server.ts'
import { assertStoreUnchanged, dumpStore, selectAll } from '../../support/store/dump.ts'
import { perform } from '../../support/tasks.ts'

const server = await openTestServer(WHOLE_FILE, { clock: openStillClock(), env: DEVICES_ON })
const API = 'https://builds.example'
await declareApi(server, API, {}, [
  { name: 'read', sentence: 'Read', grantedTo: 'users' },
  { name: 'admin', sentence: 'Administer', grantedTo: 'approved-clients' },
])
knowApis(server)
const cli = await createDeviceClient(server)

test('RFC 8628 §3.2: the answer has both codes and the page, and neither code is readable in the store', async () => {
  const response = await requestDevice(server, cli, { scope: 'read openid', resource: API })
  assert.equal(response.statusCode, 200, response.body)
  assert.equal(response.headers['cache-control'], 'no-store')
  assert.equal(response.headers['access-control-allow-origin'], undefined)
  const { device_code: deviceCode, user_code: userCode, ...rest } = response.json<Record<string, string>>()
  assert.match(deviceCode ?? '', /^gdv_[\w-]{99}$/)
  assert.match(userCode ?? '', /^[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}$/)
  assert.deepEqual(rest, { verification_uri: `${server.origin}/device`, expires_in: 600, interval: 5 })
  const stored = JSON.stringify(dumpStore(server))
  for (const secret of [deviceCode, userCode, userCode?.replace('-', '')])
    assert.ok(secret !== undefined && !stored.includes(secret) && !server.log().includes(secret))
})

test('RFC 8628 §3.1: a device may ask by a secret or a key, in the form or by Basic', async () => {
  const key = makeClientKey('EdDSA')
  const metadata = { jwks: { keys: [key.jwk] }, token_endpoint_auth_method: 'private_key_jwt' }
  const [secret, keyed] = [
    await createDeviceClient(server, { token_endpoint_auth_method: 'client_secret_basic' }),
    await createDeviceClient(server, metadata),
  ]
  await startDevice(server, secret)
  const path = '/v2/oauth/device_authorization'
  const basic = Buffer.from(`${secret.client_id}:${secret.client_secret}`).toString('base64')
  assert.equal((await postForm(server, path, {}, { authorization: `Basic ${basic}` })).statusCode, 200)
  const claims = assertionClaims(keyed.client_id, server.origin, server.clock.now())
  const assertion = assertionForm(signJws(key, { alg: key.algorithm }, claims))
  assert.equal((await postForm(server, path, assertion)).statusCode, 200)
  assertErrorForPrograms(await postForm(server, path, { client_id: secret.client_id }), 401, 'invalid_client')
})

test('DEV-15: a page in the browser of a person starts no device from the network of that person', async () => {
  const path = '/v2/oauth/device_authorization'
  await assertStoreUnchanged(server, async () => {
    for (const headers of [
      { origin: 'https://evil.example' },
      { origin: 'null' },
      { origin: server.origin },
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'same-site' },
    ] as Record<string, string>[]) {
      const response = await postForm(server, path, { client_id: cli.client_id }, headers)
      assertErrorForPrograms(response, 400, 'invalid_request')
      assert.equal(response.headers['access-control-allow-origin'], undefined)
    }
  })
})

test('DEV-02: each fault of the request is answered, and stores nothing', async () => {
  const plain = await registerClient(server)
  const faults: readonly (readonly [Parameters<typeof requestDevice>[1], Record<string, string>, number, string])[] = [
    [plain, {}, 400, 'unauthorized_client'],
    [{ client_id: 'gci_unknown' }, {}, 401, 'invalid_client'],
    [cli, { client_secret: 'x' }, 401, 'invalid_client'],
    [cli, { scope: '"' }, 400, 'invalid_scope'],
    [cli, { scope: 'admin', resource: API }, 400, 'invalid_scope'],
    [cli, { scope: 'unknown', resource: API }, 400, 'invalid_scope'],
    [cli, { resource: 'x' }, 400, 'invalid_target'],
    [cli, { resource: 'https://other.example' }, 400, 'invalid_target'],
    [cli, { org_id: '/acme' }, 400, 'invalid_request'],
  ]
  await assertStoreUnchanged(server, async () => {
    for (const [client, form, status, error] of faults)
      assertErrorForPrograms(await requestDevice(server, client, form), status, error)
    const inQuery = await postForm(server, `/v2/oauth/device_authorization?client_id=${cli.client_id}`, {})
    assertErrorForPrograms(inQuery, 400, 'invalid_request')
    const twice = new URLSearchParams({ client_id: cli.client_id, scope: 'read' })
    twice.append('scope', 'read')
    assertErrorForPrograms(await postForm(server, '/v2/oauth/device_authorization', twice), 400, 'invalid_request')
    assert.equal((await server.inject({ method: 'GET', url: '/v2/oauth/device_authorization' })).statusCode, 405)
  })
})

test('DEV-03: registrations, documents and initial tokens do not get the device grant, which is dropped', async (t) => {
  // What VS Code registers.
  const wanted = ['authorization_code', 'refresh_token', DEVICE_CODE]
  const left = ['authorization_code', 'refresh_token']
  const registered = await registerClient(server, { grant_types: wanted })
  const { initial_access_token: token } = await perform<Record<string, string>>(
    server.context,
    'initial-token.create',
    { name: 'CLI' },
  )
  const invited = await server.inject({
    method: 'POST',
    url: '/v2/oauth/register',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
    payload: JSON.stringify({ grant_types: wanted, redirect_uris: ['https://app.example/cb'], client_name: 'Invited' }),
  })
  const host = await openDocumentHost(t)
  host.publish({ grant_types: wanted })
  const document = host.client('/cli.json')
  for (const client of [registered, invited.json<typeof registered>()]) {
    assert.deepEqual(client['grant_types'], left)
    assertErrorForPrograms(await requestDevice(server, client), 400, 'unauthorized_client')
    assertError(await requestToken(server, client, { grant_type: DEVICE_CODE }), 400, 'unauthorized_client')
  }
  await server.inject({ method: 'GET', url: `/v2/oauth/authorize?client_id=${encodeURIComponent(document.client_id)}` })
  assertErrorForPrograms(await requestDevice(server, document), 400, 'unauthorized_client')
  const alone = await postJson(server, '/v2/oauth/register', { grant_types: [DEVICE_CODE], client_name: 'Alone' })
  assertError(alone, 400, 'invalid_client_metadata')

  await perform(server.context, 'client.verify', { client_id: registered.client_id })
  assertErrorForPrograms(await requestDevice(server, registered), 400, 'unauthorized_client')
  await perform(server.context, 'client.adopt', { client_id: registered.client_id })
  assertErrorForPrograms(await requestDevice(server, registered), 400, 'unauthorized_client')
  await perform(server.context, 'client.update', { client_id: registered.client_id, grant_types: wanted })
  assert.equal((await requestDevice(server, registered)).statusCode, 200)
})

test('DEV-03: without the setting there is no endpoint, no page, no metadata and no client with the grant', async (t) => {
  const off = await openTestServer(t)
  const metadata = (await off.inject({ method: 'GET', url: '/.well-known/oauth-authorization-server' })).body
  assert.doesNotMatch(metadata, /device/)
  const on = (await server.inject({ method: 'GET', url: '/.well-known/oauth-authorization-server' })).json()
  assert.equal(on.device_authorization_endpoint, `${server.origin}/v2/oauth/device_authorization`)
  assert.ok(on.grant_types_supported.includes(DEVICE_CODE))
  for (const [method, url] of [
    ['POST', '/v2/oauth/device_authorization'],
    ['GET', '/device'],
    ['POST', '/device'],
  ] as const)
    assert.equal((await off.inject({ method, url })).statusCode, 404)
  await assert.rejects(createDeviceClient(off), /does not offer .*device_code\. See GRANTOR_DEVICE_GRANT/)
  const plain = await registerClient(off)
  assertError(
    await requestToken(off, plain, { grant_type: DEVICE_CODE, device_code: 'x' }),
    422,
    'unsupported_grant_type',
  )
})

test('DEV-03: a client of the FAPI 2.0 profile cannot have the device grant', async () => {
  const fapi = { rules: { consent: 'asked', pkce: 'required', profile: 'fapi2' }, scope: 'read' }
  const jwks = { keys: [makeClientKey('ES256').jwk] }
  const keyed = { token_endpoint_auth_method: 'private_key_jwt', jwks, ...fapi }
  await assert.rejects(createDeviceClient(server, keyed), /profile fapi2 needs:\nother grant types than .*device_code/)
})

test('DEV-06: a network starts 60 devices a minute, and others are unaffected', async () => {
  const [flood, other] = [from(server, '203.0.113.7'), from(server, '203.0.113.8')]
  const answers = []
  for (let index = 0; index < 62; index += 1) answers.push((await requestDevice(flood, cli)).statusCode)
  assert.deepEqual([answers.filter((status) => status === 200).length, answers.at(-1)], [60, 429])
  assert.equal((await requestDevice(other, cli)).statusCode, 200)
  const [{ count = 0 } = {}] = selectAll(server, `select count(*) as count from devices where network = '203.0.113.7'`)
  assert.equal(count, 60)
})
