import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createAda } from '../../../support/accounts.ts'
import {
  obtainCode,
  obtainTokens,
  redeem,
  refresh,
  registerClient,
  requestToken,
  VERIFIER,
  type RegisteredClient,
  type Tokens,
} from '../../../../tools/flow.ts'
import { openTestServer } from '../../../support/server.ts'
import { assertStoreUnchanged, execute, selectAll } from '../../../support/store/dump.ts'
import { assertInvalidGrant, assertNothingHappens } from '../../../support/token-answers.ts'
import { WHOLE_FILE } from '../../../support/authorize-answers.ts'

const server = await openTestServer(WHOLE_FILE)
await createAda(server)

test('CODE-01: a second redemption is rejected and revokes the tokens of the first', async () => {
  const client = await registerClient(server)
  const code = await obtainCode(server, client)
  const { refresh_token: token = '' } = (await redeem(server, client, code)).json<Tokens>()
  assertInvalidGrant(await redeem(server, client, code))
  assertInvalidGrant(await refresh(server, client, token))
  assert.ok(grantsOf(client)[0]?.['revoked_at'], 'the grant that the access token names is alive')
})

test('CODE-01: a replay an hour later also revokes', async () => {
  const client = await registerClient(server)
  const code = await obtainCode(server, client)
  const { refresh_token: token = '' } = (await redeem(server, client, code)).json<Tokens>()
  server.clock.advance(3_600_000)
  assertInvalidGrant(await redeem(server, client, code))
  assertInvalidGrant(await refresh(server, client, token))
})

test('CODE-01: a replay whose grant expired and was removed changes nothing', async () => {
  const client = await registerClient(server)
  const code = await obtainCode(server, client)
  await redeem(server, client, code)
  server.clock.advance(3_600_000)
  execute(server, 'delete from grants where client_id = ?', client.client_id)
  await assertNothingHappens(server, () => redeem(server, client, code))
})

test('CODE-01, LO-17: a code that was redeemed and burned at the same time is a replay when it is presented again', async () => {
  const client = await registerClient(server)
  const code = await obtainCode(server, client)
  const { refresh_token: token = '' } = (await redeem(server, client, code)).json<Tokens>()
  execute(server, `update authorizations set status = 'burned' where client_id = ?`, client.client_id)
  assertInvalidGrant(await redeem(server, client, code))
  assertInvalidGrant(await refresh(server, client, token))
})

test('CODE-01: a replay does not affect other grants of the same user and client', async () => {
  const client = await registerClient(server)
  const other = await obtainTokens(server, client)
  const code = await obtainCode(server, client, { prompt: 'consent' })
  await redeem(server, client, code)
  await redeem(server, client, code)
  assert.equal((await refresh(server, client, other.refresh_token ?? '')).statusCode, 200)
})

test('CODE-03: another client that presents a code, redeemed or not, changes nothing', async () => {
  const client = await registerClient(server)
  const thief = await registerClient(server)
  const code = await obtainCode(server, client)
  await assertNothingHappens(server, () => redeem(server, thief, code))
  await assertNothingHappens(server, () => redeem(server, thief, code, { code_verifier: 'x'.repeat(43) }))
  const first = await redeem(server, client, code)
  assert.equal(first.statusCode, 200)
  await assertNothingHappens(server, () => redeem(server, thief, code))
  assert.equal((await refresh(server, client, first.json<Tokens>().refresh_token ?? '')).statusCode, 200)
  assert.match(server.log(), /code\.presented-by-another-client/)
})

test('CODE-03: a replay with a wrong verifier or redirect_uri revokes nothing', async () => {
  const client = await registerClient(server)
  const code = await obtainCode(server, client)
  const { refresh_token: token = '' } = (await redeem(server, client, code)).json<Tokens>()
  for (const wrong of [{ code_verifier: 'x'.repeat(43) }, { redirect_uri: 'https://evil.test' }, { code_verifier: '' }])
    await assertNothingHappens(server, () => redeem(server, client, code, wrong))
  assert.equal((await refresh(server, client, token)).statusCode, 200)
  assert.ok(!server.log().includes(`"code.burned","client":"${client.client_id}"`), 'a spent code was logged as burned')
})

test('CODE-04: another redirect_uri is rejected and does not redeem the code; it may be omitted', async () => {
  const client = await registerClient(server, {
    redirect_uris: ['https://app.example/callback', 'https://app.example/two'],
  })
  const code = await obtainCode(server, client)
  const others = ['https://app.example/two', 'https://app.example/callback/', 'https://APP.example/callback', 'x']
  for (const redirect_uri of others)
    await assertNothingHappens(server, () => redeem(server, client, code, { redirect_uri }))
  assert.equal((await redeem(server, client, code, { redirect_uri: '' })).statusCode, 200)
})

test('CODE-05: without a verifier the code is rejected and not redeemed, for public and confidential clients', async () => {
  for (const client of [await registerClient(server), await publicClient()]) {
    const code = await obtainCode(server, client)
    await assertNothingHappens(server, () => redeem(server, client, code, { code_verifier: '' }))
    assert.equal((await redeem(server, client, code)).statusCode, 200)
  }
})

test('CODE-06: a stored request without a challenge gives no token, with any verifier', async () => {
  const client = await registerClient(server)
  const code = await obtainCode(server, client)
  const strip = `update authorizations set request = json_set(request, '$.codeChallenge', '') where client_id = ?`
  execute(server, strip, client.client_id)
  assertInvalidGrant(await redeem(server, client, code))
  assert.deepEqual(grantsOf(client), [])
})

test('CODE-07: a wrong verifier invalidates the code', async () => {
  const client = await registerClient(server)
  const code = await obtainCode(server, client)
  assertInvalidGrant(await redeem(server, client, code, { code_verifier: `${VERIFIER}x` }))
  assertInvalidGrant(await redeem(server, client, code))
  assert.deepEqual(grantsOf(client), [])
  const [row] = selectAll(server, 'select status from authorizations where client_id = ?', client.client_id)
  assert.equal(row?.['status'], 'burned')
})

test('CODE-07: a wrong verifier with a wrong secret does not invalidate the code', async () => {
  const client = await registerClient(server)
  const code = await obtainCode(server, client)
  const { client_secret: other = '' } = await registerClient(server)
  const wrong = { code_verifier: 'x'.repeat(43), client_secret: other }
  const refused = await assertStoreUnchanged(server, () => redeem(server, client, code, wrong))
  assert.equal(refused.statusCode, 401)
  assert.equal((await redeem(server, client, code)).statusCode, 200)
})

test('CODE-08: a malformed verifier is invalid_request and does not redeem the code', async () => {
  const client = await registerClient(server)
  const code = await obtainCode(server, client)
  for (const code_verifier of [
    'x',
    'x'.repeat(42),
    'x'.repeat(129),
    `${'x'.repeat(43)}=`,
    `${'x'.repeat(43)} `,
    'é'.repeat(43),
  ]) {
    const refused = await assertStoreUnchanged(server, () => redeem(server, client, code, { code_verifier }))
    assert.equal(refused.statusCode, 400)
    assert.equal(refused.json().error, 'invalid_request')
    assert.deepEqual(refused.json().detail[0].loc, ['body', 'code_verifier'])
    assert.ok(!refused.body.includes(code_verifier.length > 1 ? code_verifier : '"input":"x"'), 'the answer repeats it')
  }
  assert.equal((await redeem(server, client, code)).statusCode, 200)
})

test('CODE-11: a redeemed, an invalidated and an expired code are rejected after a restart', async (t) => {
  const before = await openTestServer(t)
  await createAda(before)
  const client = await registerClient(before)
  const [spent, burned] = [await obtainCode(before, client), await obtainCode(before, client, { prompt: 'consent' })]
  await redeem(before, client, spent)
  await redeem(before, client, burned, { code_verifier: 'x'.repeat(43) })
  const expired = await obtainCode(before, client, { prompt: 'consent' })
  before.clock.advance(60_000)
  const after = await before.reopen()
  for (const code of [spent, burned, expired]) assertInvalidGrant(await redeem(after, client, code))
})

test('CODE-11: a code survives a restart', async (t) => {
  const before = await openTestServer(t)
  await createAda(before)
  const client = await registerClient(before)
  const code = await obtainCode(before, client)
  assert.equal((await redeem(await before.reopen(), client, code)).statusCode, 200)
})

test('CODE-11: a redeemed, an invalidated and an expired code are rejected when the clock goes back an hour', async (t) => {
  const own = await openTestServer(t)
  await createAda(own)
  const client = await registerClient(own)
  const [spent, burned] = [await obtainCode(own, client), await obtainCode(own, client, { prompt: 'consent' })]
  await redeem(own, client, spent)
  await redeem(own, client, burned, { code_verifier: 'x'.repeat(43) })
  const expired = await obtainCode(own, client, { prompt: 'consent' })
  own.clock.advance(61_000)
  assertInvalidGrant(await redeem(own, client, expired))
  own.clock.advance(-3_600_000)
  for (const code of [spent, burned, expired]) assertInvalidGrant(await redeem(own, client, code))
})

test('CODE-11: a clock that is half a minute behind causes no error', async () => {
  const client = await registerClient(server)
  const code = await obtainCode(server, client)
  server.clock.advance(-30_000)
  assert.equal((await redeem(server, client, code)).statusCode, 200)
  server.clock.advance(30_000)
})

test('CODE-12: a code whose redemption did not commit is still valid', async () => {
  const client = await registerClient(server)
  const code = await obtainCode(server, client)
  const { DatabaseSync } = await import('node:sqlite')
  const blocker = new DatabaseSync(`${server.folder}/grantor.db`)
  blocker.exec('begin immediate')
  const refused = await assertStoreUnchanged(server, () => redeem(server, client, code))
  blocker.exec('rollback')
  blocker.close()
  assert.equal(refused.statusCode, 503)
  assert.equal((await redeem(server, client, code)).statusCode, 200)
})

test('TOK-07: a confidential client without its secret gets no token, and the code is not redeemed', async () => {
  const client = await registerClient(server)
  const code = await obtainCode(server, client)
  const { client_id } = client
  const refused = await assertStoreUnchanged(server, () => redeem(server, { client_id }, code))
  assert.equal(refused.statusCode, 401)
  assert.equal(refused.json().error, 'invalid_client')
  assert.equal((await redeem(server, client, code)).statusCode, 200)
})

test('TOK-09: a client that did not register the code grant may not redeem a code', async () => {
  const machine = await registerClient(server, { grant_types: ['client_credentials'] })
  const client = await registerClient(server)
  const code = await obtainCode(server, client)
  const refused = await assertStoreUnchanged(server, () => redeem(server, machine, code))
  assert.equal(refused.json().error, 'unauthorized_client')
})

test('TOK-03: a repeated parameter is rejected, and the code is not redeemed', async () => {
  const client = await registerClient(server)
  const code = await obtainCode(server, client)
  const form = new URLSearchParams({
    grant_type: 'authorization_code',
    code,
    code_verifier: VERIFIER,
    ...credentials(client),
  })
  for (const [name, value] of form) {
    const payload = `${form.toString()}&${name}=${encodeURIComponent(value)}`
    const refused = await assertStoreUnchanged(server, () =>
      server.inject({
        method: 'POST',
        url: '/v2/oauth/token',
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
        payload,
      }),
    )
    assert.equal(refused.statusCode, 400)
    assert.equal(refused.json().error, 'invalid_request')
  }
  assert.equal((await redeem(server, client, code)).statusCode, 200)
})

test('a missing code is invalid_request and names the field', async () => {
  const client = await registerClient(server)
  const refused = await requestToken(server, client, { grant_type: 'authorization_code', code_verifier: VERIFIER })
  assert.equal(refused.statusCode, 400)
  assert.deepEqual(refused.json().detail[0].loc, ['body', 'code'])
})

test('TOK-20: an edited code is rejected, and the original remains valid', async () => {
  const client = await registerClient(server)
  const code = await obtainCode(server, client)
  const edited = [
    code.slice(0, -1),
    `${code}A`,
    `${code}=`,
    code.toUpperCase(),
    code.replace('gac_', 'grt_'),
    ` ${code}`,
  ]
  for (let index = 0; index < code.length; index += 7)
    edited.push(code.slice(0, index) + (code[index] === 'A' ? 'B' : 'A') + code.slice(index + 1))
  for (const other of edited) await assertNothingHappens(server, () => redeem(server, client, other))
  assert.equal((await redeem(server, client, code)).statusCode, 200)
})

function grantsOf(client: RegisteredClient): readonly Record<string, unknown>[] {
  return selectAll(server, 'select * from grants where client_id = ? order by grant_id', client.client_id)
}

function publicClient(): Promise<RegisteredClient> {
  return registerClient(server, {
    token_endpoint_auth_method: 'none',
    grant_types: ['authorization_code', 'refresh_token'],
  })
}

function credentials({ client_id, client_secret = '' }: RegisteredClient): Record<string, string> {
  return { client_id, client_secret }
}
