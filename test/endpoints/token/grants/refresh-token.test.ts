import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decodeJwt } from 'jose'
import { createAda } from '../../../support/accounts.ts'
import { obtainTokens, redeem, refresh, registerClient, type Tokens } from '../../../../tools/flow.ts'
import { openTestServer, STRICT } from '../../../support/server.ts'
import { assertStoreUnchanged, selectAll } from '../../../support/store/dump.ts'
import { aGrant, assertInvalidGrant, assertNothingHappens, tokensOf } from '../../../support/token-answers.ts'
import { WHOLE_FILE } from '../../../support/authorize-answers.ts'
import { obtainCodeFor } from '../../../support/apis.ts'

const DAY = 86_400_000
const API = 'https://api.example'
const OTHER_API = 'https://other.example'
const server = await openTestServer(WHOLE_FILE, { env: STRICT })
await createAda(server)

test('RT-01: each refresh returns a new token, and the old one is rejected after the window', async () => {
  const { client, token } = await aGrant(server)
  const seen = new Set([token])
  let live = token
  for (let round = 0; round < 5; round += 1) {
    live = tokensOf(await refresh(server, client, live)).refresh_token ?? ''
    assert.ok(!seen.has(live))
    seen.add(live)
  }
  const next = tokensOf(await refresh(server, client, live))
  server.clock.advance(30_000)
  assertInvalidGrant(await refresh(server, client, live))
  assertInvalidGrant(await refresh(server, client, next.refresh_token ?? ''))
})

test('RT-02: a retry after a lost response returns the same refresh token, and an access token with the same jti, iat and exp', async () => {
  const { client, token } = await aGrant(server)
  const first = tokensOf(await refresh(server, client, token))
  server.clock.advance(20_000)
  const again = await assertStoreUnchanged(server, () => refresh(server, client, token))
  const second = tokensOf(again)
  assert.equal(second.refresh_token, first.refresh_token)
  assert.deepEqual(decodeJwt(second.access_token), decodeJwt(first.access_token))
  assert.ok(first.expires_in - second.expires_in >= 20, 'expires_in does not count down')
  server.clock.advance(9000)
  assert.equal(tokensOf(await refresh(server, client, token)).refresh_token, first.refresh_token)
})

test('RT-02: after a retry the successor rotates as usual', async () => {
  const { client, token } = await aGrant(server)
  const { refresh_token: successor = '' } = tokensOf(await refresh(server, client, token))
  await refresh(server, client, token)
  const { refresh_token: next } = tokensOf(await refresh(server, client, successor))
  assert.notEqual(next, successor)
})

test('RT-02: a retry survives a restart', async (t) => {
  const before = await openTestServer(t, { env: STRICT })
  await createAda(before)
  const { client, token } = await aGrant(before)
  const first = tokensOf(await refresh(before, client, token))
  const second = tokensOf(await refresh(await before.reopen(), client, token))
  assert.equal(second.refresh_token, first.refresh_token)
  assert.equal(decodeJwt(second.access_token).jti, decodeJwt(first.access_token).jti)
})

test('RT-02: GRANTOR_REFRESH_RETRY=0 rejects retries', async (t) => {
  const strict = await openTestServer(t, { env: { ...STRICT, GRANTOR_REFRESH_RETRY: '0' } })
  await createAda(strict)
  const { client, token } = await aGrant(strict)
  const { refresh_token: successor = '' } = tokensOf(await refresh(strict, client, token))
  assertInvalidGrant(await refresh(strict, client, token))
  assertInvalidGrant(await refresh(strict, client, successor))
})

test('RT-04: the previous token, presented after the window, revokes the family and is recorded', async () => {
  const { client, token } = await aGrant(server)
  const { refresh_token: successor = '', access_token: access } = tokensOf(await refresh(server, client, token))
  server.clock.advance(30_001)
  const before = server.log().length
  assertInvalidGrant(await refresh(server, client, token))
  assert.match(server.log().slice(before), /refresh-token\.reused/)
  assertInvalidGrant(await refresh(server, client, successor))
  const grantId = String(decodeJwt(access)['grant_id'])
  assert.ok(selectAll(server, 'select revoked_at from grants where grant_id = ?', grantId)[0]?.['revoked_at'])
})

test('RT-05: a token two generations back revokes the family, within the window too', async () => {
  const { client, token } = await aGrant(server)
  const second = tokensOf(await refresh(server, client, token)).refresh_token ?? ''
  const third = tokensOf(await refresh(server, client, second)).refresh_token ?? ''
  assert.equal(tokensOf(await refresh(server, client, second)).refresh_token, third)
  assertInvalidGrant(await refresh(server, client, token))
  for (const inactive of [second, third]) assertInvalidGrant(await refresh(server, client, inactive))
})

test('RT-03: within the window another scope or resource gets its own token with the same successor', async () => {
  const client = await registerClient(server)
  const code = await obtainCodeFor(server, client, [API, OTHER_API])
  const { refresh_token: token = '' } = tokensOf(await redeem(server, client, code))
  const variants = [
    {},
    { scope: 'read' },
    { resource: API },
    { resource: OTHER_API },
    { scope: 'write', resource: API },
  ]
  const answers = await Promise.all(variants.map((form) => refresh(server, client, token, form)))
  const tokens = answers.map(tokensOf)
  assert.equal(new Set(tokens.map((one) => one.refresh_token)).size, 1)
  const claims = tokens.map((one) => decodeJwt(one.access_token))
  assert.equal(new Set(claims.map(({ jti }) => jti)).size, variants.length, 'two different tokens share a jti')
  assert.deepEqual(
    claims.map(({ aud, scope }) => [aud, scope]),
    [
      [[API, OTHER_API], 'read write'],
      [[API, OTHER_API], 'read'],
      [API, 'read write'],
      [OTHER_API, 'read write'],
      [API, 'write'],
    ],
  )
  const again = tokensOf(await refresh(server, client, token, { resource: API }))
  assert.deepEqual(decodeJwt(again.access_token), claims[2])
})

test('RT-10: an unused token expires after its idle lifetime', async () => {
  const { client, token } = await aGrant(server)
  const { client: late, token: lateToken } = await aGrant(server)
  server.clock.advance(30 * DAY - 60_000)
  tokensOf(await refresh(server, client, token))
  server.clock.advance(60_000)
  await assertNothingHappens(server, () => refresh(server, late, lateToken))
})

test('RT-10: a token that is used regularly expires after the absolute lifetime', async () => {
  const { client, token } = await aGrant(server)
  let live = token
  for (let day = 0; day < 80; day += 20) {
    server.clock.advance(20 * DAY)
    live = tokensOf(await refresh(server, client, live)).refresh_token ?? ''
  }
  server.clock.advance(10 * DAY)
  await assertNothingHappens(server, () => refresh(server, client, live))
})

test('RT-10: an access token never expires after its grant', async () => {
  const { client, token } = await aGrant(server)
  let live = token
  for (let count = 0; count < 3; count += 1) {
    server.clock.advance(count === 2 ? 30 * DAY - 120_000 : 29.9 * DAY)
    live = tokensOf(await refresh(server, client, live)).refresh_token ?? ''
  }
  const grantEnd = Number(
    selectAll(server, 'select expires_at from grants where client_id = ?', client.client_id)[0]?.['expires_at'],
  )
  server.clock.advance(grantEnd - server.clock.now() - 100_000)
  const last = tokensOf(await refresh(server, client, live))
  const { exp = 0 } = decodeJwt(last.access_token)
  assert.ok(exp * 1000 <= grantEnd)
  assert.ok(last.expires_in <= 100 && last.expires_in > 90, String(last.expires_in))
})

test('RT-13: around every expiry time the response is 200 or invalid_grant, and expires_in is never negative', async (t) => {
  const env = {
    GRANTOR_REFRESH_IDLE_LIFETIME: '100',
    GRANTOR_REFRESH_ABSOLUTE_LIFETIME: '150',
    GRANTOR_ACCESS_TOKEN_LIFETIME: '5',
  }
  const own = await openTestServer(t, { env })
  await createAda(own)
  const { client, token } = await aGrant(own)
  own.clock.advance(95_000)
  let live = token
  let refused = 0
  for (let step = 0; step < 140; step += 1) {
    const response = await refresh(own, client, live)
    if (response.statusCode === 200) {
      const tokens = response.json<Tokens>()
      assert.ok(tokens.expires_in >= 0)
      if (step % 2 === 0) live = tokens.refresh_token ?? ''
    } else {
      assertInvalidGrant(response)
      refused += 1
    }
    own.clock.advance(500)
  }
  assert.ok(refused > 20 && refused < 60, `${refused} refusals`)
})

test('RT-13: a retry shortly before the access token expires succeeds', async (t) => {
  const own = await openTestServer(t, { env: { GRANTOR_ACCESS_TOKEN_LIFETIME: '5' } })
  await createAda(own)
  const { client, token } = await aGrant(own)
  await refresh(own, client, token)
  for (const wait of [4000, 1000, 1000]) {
    own.clock.advance(wait)
    assert.ok(tokensOf(await refresh(own, client, token)).expires_in >= 0)
  }
})

test('RT-18: a reuse on one device does not affect another device', async () => {
  const { client, token } = await aGrant(server)
  const other = await obtainTokens(server, client, { prompt: 'consent' })
  await refresh(server, client, token)
  server.clock.advance(31_000)
  assertInvalidGrant(await refresh(server, client, token))
  tokensOf(await refresh(server, client, other.refresh_token ?? ''))
})

test('MCP: a public client, identified only by its id, rotates too', async () => {
  const metadata = { token_endpoint_auth_method: 'none', grant_types: ['authorization_code', 'refresh_token'] }
  const { client, token } = await aGrant(server, {}, metadata)
  assert.equal(client.client_secret, undefined)
  const { refresh_token: next } = tokensOf(await refresh(server, client, token))
  assert.notEqual(next, token)
})

test('STO-13: a clock that goes back neither reactivates a revoked family nor revokes an active one', async () => {
  const [live, inactive] = [await aGrant(server), await aGrant(server)]
  await refresh(server, inactive.client, inactive.token)
  server.clock.advance(31_000)
  assertInvalidGrant(await refresh(server, inactive.client, inactive.token))
  server.clock.advance(-50_000)
  assertInvalidGrant(await refresh(server, inactive.client, inactive.token))
  const { expires_in: seconds } = tokensOf(await refresh(server, live.client, live.token))
  assert.equal(seconds, 900)
  server.clock.advance(50_000)
})

/** A code for several resources, which a record of parameters cannot name. */
