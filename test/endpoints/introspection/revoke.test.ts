import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { decodeJwt } from 'jose'
import { createAda } from '../../support/accounts.ts'
import {
  obtainTokens,
  postForm,
  refresh,
  registerClient,
  requestToken,
  type RegisteredClient,
} from '../../../tools/flow.ts'
import { openTestServer } from '../../support/server.ts'
import { assertStoreUnchanged, databasePath, selectAll } from '../../support/store/dump.ts'
import { WHOLE_FILE } from '../../support/authorize-answers.ts'
import { introspect, isActive, revoke } from '../../support/token-questions.ts'

const server = await openTestServer(WHOLE_FILE)
await createAda(server)
const other = await registerClient(server)

async function aClientWithTokens() {
  const client = await registerClient(server)
  const { access_token: access, refresh_token: refreshToken = '' } = await obtainTokens(server, client)
  return { client, access, refreshToken }
}

test('REV-01: a client with a secret must authenticate, by post or Basic; a public client sends its client_id', async () => {
  const { client, refreshToken } = await aClientWithTokens()
  await assertStoreUnchanged(server, async () => {
    for (const credentials of [
      {},
      { client_id: client.client_id },
      { client_id: client.client_id, client_secret: 'x' },
    ]) {
      const answer = await postForm(server, '/v2/oauth/revoke', { token: refreshToken, ...credentials })
      assert.equal(answer.statusCode, 401)
      assert.equal(answer.json().error, 'invalid_client')
    }
  })
  const basic = Buffer.from(`${client.client_id}:${client.client_secret}`).toString('base64')
  const answer = await postForm(
    server,
    '/v2/oauth/revoke',
    { token: refreshToken },
    { authorization: `Basic ${basic}` },
  )
  assert.equal(answer.statusCode, 200)
  assert.equal((await refresh(server, client, refreshToken)).statusCode, 400)

  const open: RegisteredClient = await registerClient(server, {
    token_endpoint_auth_method: 'none',
    grant_types: ['authorization_code', 'refresh_token'],
  })
  const tokens = await obtainTokens(server, open)
  assert.equal((await revoke(server, open, tokens.refresh_token ?? '')).statusCode, 200)
  assert.equal((await refresh(server, open, tokens.refresh_token ?? '')).statusCode, 400)
})

test('REV-02: another client revokes nothing, and learns nothing from the response', async () => {
  const { client, access, refreshToken } = await aClientWithTokens()
  const made = await assertStoreUnchanged(server, () => revoke(server, other, 'made-up'))
  for (const token of [access, refreshToken]) {
    const answer = await assertStoreUnchanged(server, () => revoke(server, other, token))
    assert.deepEqual([answer.statusCode, answer.body], [made.statusCode, made.body])
    assert.equal(await isActive(server, client, token), true)
  }
})

test('REV-03: RFC 7009 §2.1: revoking the refresh token revokes the grant and all its access tokens', async () => {
  const { client, access, refreshToken } = await aClientWithTokens()
  const next = (await refresh(server, client, refreshToken)).json()
  assert.equal((await revoke(server, client, next.refresh_token)).statusCode, 200)
  for (const token of [access, next.access_token, next.refresh_token]) {
    assert.equal(await isActive(server, client, token), false)
  }
  assert.equal((await refresh(server, client, next.refresh_token)).json().error, 'invalid_grant')
})

test('REV-03: an old refresh token of the family revokes the grant too', async () => {
  const { client, refreshToken } = await aClientWithTokens()
  const next = (await refresh(server, client, refreshToken)).json()
  await revoke(server, client, refreshToken)
  assert.equal(await isActive(server, client, next.access_token), false)
})

test('REV-03: revoking an access token leaves the refresh token and the other access tokens valid', async () => {
  const { client, access, refreshToken } = await aClientWithTokens()
  const next = (await refresh(server, client, refreshToken)).json()
  await revoke(server, client, access)
  assert.equal(await isActive(server, client, access), false)
  assert.equal(await isActive(server, client, next.access_token), true)
  assert.equal((await refresh(server, client, next.refresh_token)).statusCode, 200)
})

test('a client credentials token, which has no grant, is revoked by its id', async () => {
  const client = await registerClient(server)
  const issue = async (): Promise<string> =>
    (await requestToken(server, client, { grant_type: 'client_credentials' })).json().access_token
  const [gone, kept] = [await issue(), await issue()]
  await revoke(server, client, gone)
  assert.deepEqual([await isActive(server, client, gone), await isActive(server, client, kept)], [false, true])
  const { jti, exp } = decodeJwt(gone)
  const [row] = selectAll(server, `select * from revoked_tokens where token_id = '${jti}'`)
  assert.equal(row?.['expires_at'], (exp ?? 0) * 1000)
})

test('REV-04: a wrong hint is ignored, and a token that is unknown, expired or already revoked gets 200', async () => {
  const { client, access, refreshToken } = await aClientWithTokens()
  const hinted = await revoke(server, client, refreshToken, { token_type_hint: 'access_token' })
  assert.equal(hinted.statusCode, 200)
  assert.equal(await isActive(server, client, access), false)
  for (const token of ['unknown', 'grt_', `${access}x`, 'a.b.c', refreshToken]) {
    assert.equal((await revoke(server, client, token)).statusCode, 200, token)
  }
  const late = await openTestServer(WHOLE_FILE)
  const machine = await registerClient(late)
  const old = (await requestToken(late, machine, { grant_type: 'client_credentials' })).json().access_token
  late.clock.advance(905_000)
  const answer = await assertStoreUnchanged(late, () => revoke(late, machine, old))
  assert.equal(answer.statusCode, 200)
})

test('REV-05: while the store cannot write, a revocation gets 503 and can be repeated', async () => {
  const { client, access, refreshToken } = await aClientWithTokens()
  const blocker = new DatabaseSync(databasePath(server))
  blocker.exec('begin immediate')
  for (const token of [access, refreshToken]) {
    const answer = await revoke(server, client, token)
    assert.equal(answer.statusCode, 503)
    assert.match(String(answer.headers['retry-after']), /^[1-9]\d*$/)
  }
  blocker.exec('rollback')
  blocker.close()
  assert.equal(await isActive(server, client, access), true)
  assert.equal((await revoke(server, client, refreshToken)).statusCode, 200)
  assert.equal(await isActive(server, client, access), false)
})

test('REV-08: RFC 7009 §2.3: GET and callback are not supported; a request without a token names the missing parameter', async () => {
  const { client, access } = await aClientWithTokens()
  assert.equal((await server.inject({ url: `/v2/oauth/revoke?token=${access}` })).statusCode, 405)
  const inQuery = await server.inject({ method: 'POST', url: `/v2/oauth/revoke?token=${access}` })
  assert.ok(inQuery.statusCode >= 400)
  const called = await revoke(server, client, access, { callback: 'package.revoke' })
  assert.deepEqual([called.statusCode, called.body], [200, '{}'])
  assert.equal(called.headers['cache-control'], 'no-store')
  assert.equal(called.headers['access-control-allow-origin'], '*')
  const empty = await revoke(server, client, '')
  assert.equal(empty.statusCode, 400)
  assert.deepEqual(empty.json().detail[0].loc, ['body', 'token'])
})

test('REV-09: a revoked token is rejected by every endpoint that reads one', async () => {
  const { client, access } = await aClientWithTokens()
  await revoke(server, client, access)
  assert.deepEqual((await introspect(server, client, access)).json(), { active: false })
})
