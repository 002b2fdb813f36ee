import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Response as LightMyRequestResponse } from 'light-my-request'
import { decodeJwt } from 'jose'
import { setPassword } from '../../../../src/admin/user/user.ts'
import { createAda } from '../../../support/accounts.ts'
import {
  EMAIL,
  obtainCode,
  obtainTokens,
  redeem,
  registerClient,
  type RegisteredClient,
  type Tokens,
} from '../../../../tools/flow.ts'
import { openTestServer } from '../../../support/server.ts'
import { assertStoreUnchanged, selectAll } from '../../../support/store/dump.ts'
import { assertInvalidGrant } from '../../../support/token-answers.ts'
import { WHOLE_FILE } from '../../../support/authorize-answers.ts'
import { perform, performOnUser } from '../../../support/tasks.ts'

const server = await openTestServer(WHOLE_FILE)
await createAda(server)

test('CODE-09: a resource outside the grant is invalid_target and does not redeem the code', async () => {
  const client = await registerClient(server)
  const code = await obtainCode(server, client, { resource: 'https://api.example' })
  for (const resource of ['https://other.example', 'https://api.example/x', 'relative', 'https://api.example#x']) {
    const refused = await assertStoreUnchanged(server, () => redeem(server, client, code, { resource }))
    assert.equal(refused.statusCode, 400)
    assert.equal(refused.json().error, 'invalid_target')
  }
  const redeemed = await redeem(server, client, code, { resource: 'https://api.example/' })
  assert.equal(claimsOf(redeemed)['aud'], 'https://api.example')
})

test('CODE-10: scope at the token endpoint cannot widen the grant', async () => {
  const client = await registerClient(server)
  const code = await obtainCode(server, client, { scope: 'read' })
  const redeemed = await redeem(server, client, code, { scope: 'read admin' })
  assert.equal(redeemed.statusCode, 200)
  assert.equal(redeemed.json().scope, 'read')
  assert.equal(claimsOf(redeemed)['scope'], 'read')
  assert.equal(grantsOf(client)[0]?.['scope'], 'read')
})

test('decision 0005: an org_id or user_id other than the grant’s is invalid_request and does not redeem the code', async () => {
  const client = await registerClient(server)
  const code = await obtainCode(server, client)
  const { sub } = claimsOf(await redeem(server, client, await obtainCode(server, client, { prompt: 'consent' })))
  for (const owner of [{ org_id: 'gor_x' }, { user_id: 'gus_x' }, { user_id: client.client_id }]) {
    const refused = await assertStoreUnchanged(server, () => redeem(server, client, code, owner))
    assert.equal(refused.json().error, 'invalid_request')
  }
  assert.equal((await redeem(server, client, code, { user_id: String(sub) })).statusCode, 200)
})

test('CODE-13: only a client that registered refresh_token gets a refresh token', async () => {
  for (const [grant_types, expects] of [
    [['authorization_code'], false],
    [['authorization_code', 'refresh_token'], true],
  ] as const) {
    const client = await registerClient(server, { grant_types })
    const tokens = await obtainTokens(server, client)
    assert.equal('refresh_token' in tokens, expects)
    assert.equal(grantsOf(client)[0]?.['live_hash'] !== null, expects)
  }
})

test('UI-13: no tokens are issued if the user was disabled or the password changed after the consent', async (t) => {
  const changes = [
    async (context: typeof server.context) => void (await performOnUser(context, 'user.disable', EMAIL)),
    async (context: typeof server.context) => void (await setPassword(context, EMAIL, 'another password')),
    async (context: typeof server.context) => {
      await performOnUser(context, 'user.disable', EMAIL)
      await performOnUser(context, 'user.enable', EMAIL)
    },
  ]
  for (const change of changes) {
    const own = await openTestServer(t)
    await createAda(own)
    const client = await registerClient(own)
    const code = await obtainCode(own, client)
    own.clock.advance(1)
    await change(own.context)
    assertInvalidGrant(await assertStoreUnchanged(own, () => redeem(own, client, code)))
  }
})

test('UI-13: a client that was deleted or disabled after the consent gets no tokens', async () => {
  const [deleted, disabled] = [await registerClient(server), await registerClient(server)]
  const codes = [await obtainCode(server, deleted), await obtainCode(server, disabled)]
  await server.context.store.deleteClient(deleted.client_id as never)
  await perform(server.context, 'client.disable', { client_id: disabled.client_id })
  for (const [index, client] of [deleted, disabled].entries()) {
    const refused = await assertStoreUnchanged(server, () => redeem(server, client, codes[index] ?? ''))
    assert.equal(refused.statusCode, 401)
  }
})

test('decision 0021: a client counts as used from its first token on', async () => {
  const client = await registerClient(server)
  const usedAt = (): unknown =>
    selectAll(server, 'select used_at from clients where client_id = ?', client.client_id)[0]?.['used_at']
  const code = await obtainCode(server, client)
  await redeem(server, client, code, { code_verifier: '' })
  assert.equal(usedAt(), null)
  await redeem(server, client, code)
  assert.notEqual(usedAt(), null)
})

test('RFC 6749 §5.1: the response must not be cached and has no null', async () => {
  const client = await registerClient(server)
  const response = await redeem(server, client, await obtainCode(server, client))
  assert.equal(response.headers['cache-control'], 'no-store')
  assert.equal(response.headers['pragma'], 'no-cache')
  const { token_type: type, expires_in: seconds, ...rest } = response.json()
  assert.deepEqual([type, seconds], ['Bearer', 900])
  const members = ['access_token', 'refresh_token', 'refresh_token_timeout', 'authorization_expires_in']
  assert.deepEqual(Object.keys(rest), members)
})

test('RFC 9068 §2.2: the access token has its user, client, audience, scope, expiry and grant', async () => {
  const client = await registerClient(server)
  const code = await obtainCode(server, client, { scope: 'read', resource: 'https://api.example' })
  const claims = claimsOf(await redeem(server, client, code))
  const [grant] = grantsOf(client)
  assert.equal(claims.iss, server.origin)
  assert.equal(claims.aud, 'https://api.example')
  assert.equal(claims.sub, grant?.['user_id'])
  assert.equal(claims['client_id'], client.client_id)
  assert.equal(claims['grant_id'], grant?.['grant_id'])
  assert.equal((claims.exp ?? 0) - (claims.iat ?? 0), 900)
})

function grantsOf(client: RegisteredClient): readonly Record<string, unknown>[] {
  return selectAll(server, 'select * from grants where client_id = ? order by grant_id', client.client_id)
}

function claimsOf(response: LightMyRequestResponse): ReturnType<typeof decodeJwt> {
  assert.equal(response.statusCode, 200, response.body)
  return decodeJwt(response.json<Tokens>().access_token)
}
