import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decodeJwt } from 'jose'
import { setPassword } from '../../../../src/admin/user/user.ts'
import { createAda } from '../../../support/accounts.ts'
import { EMAIL, obtainCode, redeem, refresh, registerClient, requestToken } from '../../../../tools/flow.ts'
import { openTestServer, STRICT, type TestServer } from '../../../support/server.ts'
import { assertStoreUnchanged } from '../../../support/store/dump.ts'
import { aGrant, assertInvalidGrant, assertNothingHappens, tokensOf } from '../../../support/token-answers.ts'
import { WHOLE_FILE } from '../../../support/authorize-answers.ts'
import { declareApi } from '../../../support/apis.ts'
import { perform, performOnUser } from '../../../support/tasks.ts'

const API = 'https://api.example'
const OTHER_API = 'https://other.example'
const server = await openTestServer(WHOLE_FILE, { env: STRICT })
await createAda(server)

test('RT-06: another client that presents an active token gets no token and changes nothing', async () => {
  const { client, token } = await aGrant(server)
  const thief = await registerClient(server)
  await assertNothingHappens(server, () => refresh(server, thief, token))
  assert.match(server.log(), /refresh-token\.presented-by-another-client/)
  tokensOf(await refresh(server, client, token))
})

test('RT-07: without its secret, or with a wrong one, a confidential client gets no token and changes nothing', async () => {
  const { client, token } = await aGrant(server)
  const { client_id, client_secret = '' } = client
  const other = await registerClient(server)
  const secrets = [undefined, 'x', client_secret.slice(0, -1), other.client_secret ?? '', token]
  for (const secret of secrets) {
    const liar = secret === undefined ? { client_id } : { client_id, client_secret: secret }
    const refused = await assertStoreUnchanged(server, () => refresh(server, liar, token))
    assert.equal(refused.statusCode, 401)
    assert.equal(refused.json().error, 'invalid_client')
  }
  tokensOf(await refresh(server, client, token))
})

test('RT-08: more scope is invalid_scope and changes nothing', async () => {
  const { client, token } = await aGrant(server, { scope: 'read write' })
  for (const scope of ['read admin', 'admin', 'READ', 'read"']) {
    const refused = await assertStoreUnchanged(server, () => refresh(server, client, token, { scope }))
    assert.equal(refused.statusCode, 400)
    assert.equal(refused.json().error, 'invalid_scope')
  }
  tokensOf(await refresh(server, client, token))
})

test('RT-08: less scope narrows the access token and not the grant', async () => {
  const { client, token } = await aGrant(server, { scope: 'read write' })
  const narrow = tokensOf(await refresh(server, client, token, { scope: 'write' }))
  assert.equal(narrow.scope, 'write')
  assert.equal(decodeJwt(narrow.access_token)['scope'], 'write')
  const whole = tokensOf(await refresh(server, client, narrow.refresh_token ?? ''))
  assert.equal(whole.scope, 'read write')
})

test('RT-09: a resource outside the grant is invalid_target and changes nothing', async () => {
  const { client, token } = await aGrant(server, { resource: API })
  for (const resource of [OTHER_API, `${API}/x`, 'relative', `${API}#f`]) {
    const refused = await assertStoreUnchanged(server, () => refresh(server, client, token, { resource }))
    assert.equal(refused.statusCode, 400)
    assert.equal(refused.json().error, 'invalid_target')
  }
  tokensOf(await refresh(server, client, token, { resource: API }))
})

test('RT-09: a grant whose API is removed is invalid_grant, and is valid once the API is declared again', async (t) => {
  const own = await openTestServer(t)
  await createAda(own)
  await declareApi(own, API, {}, [])
  await declareApi(own, OTHER_API, {}, [])
  const { client, token } = await aGrant(own, { resource: API })
  await own.context.store.deleteApi(API)
  own.clock.advance(1000)
  assertInvalidGrant(await assertStoreUnchanged(own, () => refresh(own, client, token)))
  await declareApi(own, API, {}, [])
  own.clock.advance(1000)
  assert.equal((await refresh(own, client, token)).statusCode, 200)
})

test('RT-11: disabling a user, enabling the user again or changing the password invalidates earlier grants', async (t) => {
  const changes = [
    async (context: TestServer['context']) => void (await performOnUser(context, 'user.disable', EMAIL)),
    async (context: TestServer['context']) => void (await setPassword(context, EMAIL, 'another password')),
    async (context: TestServer['context']) => {
      await performOnUser(context, 'user.disable', EMAIL)
      await performOnUser(context, 'user.enable', EMAIL)
    },
  ]
  for (const change of changes) {
    const own = await openTestServer(t)
    await createAda(own)
    const { client, token } = await aGrant(own)
    own.clock.advance(1)
    await change(own.context)
    assertInvalidGrant(await assertStoreUnchanged(own, () => refresh(own, client, token)))
  }
})

test('RT-11: a deleted or disabled client gets no token', async () => {
  const [deleted, disabled] = [await aGrant(server), await aGrant(server)]
  await server.context.store.deleteClient(deleted.client.client_id as never)
  await perform(server.context, 'client.disable', { client_id: disabled.client.client_id })
  for (const { client, token } of [deleted, disabled]) {
    const refused = await assertStoreUnchanged(server, () => refresh(server, client, token))
    assert.equal(refused.statusCode, 401)
  }
})

test('RT-15: another client that presents a replaced token revokes nothing', async () => {
  const { client, token } = await aGrant(server)
  const thief = await registerClient(server)
  const { refresh_token: successor = '' } = tokensOf(await refresh(server, client, token))
  server.clock.advance(31_000)
  const before = server.log().length
  await assertNothingHappens(server, () => refresh(server, thief, token))
  assert.match(server.log().slice(before), /refresh-token\.presented-by-another-client/)
  tokensOf(await refresh(server, client, successor))
})

test('RT-16: an invalid request changes nothing, for an active, a replaced and a revoked token', async () => {
  const { client, token } = await aGrant(server, { scope: 'read', resource: API })
  const live = tokensOf(await refresh(server, client, token)).refresh_token ?? ''
  const inactive = await aGrant(server)
  server.clock.advance(31_000)
  const wrongs = [{ scope: 'admin' }, { resource: OTHER_API }, { org_id: 'gor_x' }, { user_id: 'gus_x' }]
  for (const form of wrongs)
    for (const presented of [live, token]) {
      const refused = await assertStoreUnchanged(server, () => refresh(server, client, presented, form))
      assert.equal(refused.statusCode, 400)
      assert.notEqual(refused.json().error, 'invalid_grant')
    }
  for (const text of [
    '',
    live.slice(0, -1),
    `${live}A`,
    live.replace('grt_', 'gac_'),
    inactive.token.slice(0, 44) + live.slice(44),
  ]) {
    const refused = await assertStoreUnchanged(server, () => refresh(server, client, text))
    assert.equal(refused.json().error, text === '' ? 'invalid_request' : 'invalid_grant')
  }
  tokensOf(await refresh(server, client, live))
})

test('RT-16: generations that were never issued are rejected as unknown', async () => {
  const { client, token } = await aGrant(server)
  for (const generation of ['000001', '000002', 'ffffff', '00000A'])
    await assertNothingHappens(server, () => refresh(server, client, token.slice(0, 38) + generation + token.slice(44)))
  tokensOf(await refresh(server, client, token))
})

test('RT-20: a refresh token is not accepted in place of any other credential', async () => {
  const { client, token } = await aGrant(server)
  const code = await obtainCode(server, client, { prompt: 'consent' })
  const { client_id } = client
  await assertNothingHappens(server, () => redeem(server, client, token))
  await assertNothingHappens(server, () => refresh(server, client, code))
  await assertNothingHappens(server, () => refresh(server, client, client.client_secret ?? ''))
  const asSecret = await assertStoreUnchanged(server, () => refresh(server, { client_id, client_secret: token }, token))
  assert.equal(asSecret.statusCode, 401)
  const cookie = `grantor-session-3000=${token}; grantor-browser-3000=${token}`
  const page = await server.inject({ url: '/v2/oauth/sign-out', headers: { cookie } })
  assert.ok(!page.body.includes(EMAIL))
  const bearer = await server.inject({
    method: 'POST',
    url: '/v2/oauth/token',
    headers: { 'content-type': 'application/x-www-form-urlencoded', authorization: `Bearer ${token}` },
    payload: `grant_type=refresh_token&refresh_token=${token}`,
  })
  assert.equal(bearer.statusCode, 401)
  tokensOf(await refresh(server, client, token))
})

test('TOK-09: a client that did not register refresh_token may not use a refresh token', async () => {
  const { token } = await aGrant(server)
  const other = await registerClient(server, { grant_types: ['authorization_code'] })
  const refused = await assertStoreUnchanged(server, () => refresh(server, other, token))
  assert.equal(refused.json().error, 'unauthorized_client')
})

test('a missing refresh token is invalid_request and names the field', async () => {
  const client = await registerClient(server)
  const refused = await requestToken(server, client, { grant_type: 'refresh_token' })
  assert.equal(refused.statusCode, 400)
  assert.deepEqual(refused.json().detail[0].loc, ['body', 'refresh_token'])
})
