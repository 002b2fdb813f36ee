import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createAda } from '../../support/accounts.ts'
import { introspect } from '../../support/token-questions.ts'
import { obtainTokens, refresh, registerClient, requestToken, type Tokens } from '../../../tools/flow.ts'
import { WHOLE_FILE } from '../../support/authorize-answers.ts'
import { openSteadyClock } from '../../support/clocks.ts'
import { openTestServer } from '../../support/server.ts'
import { tokensOf } from '../../support/token-answers.ts'

const DAY = 86_400
const server = await openTestServer(WHOLE_FILE, {
  clock: openSteadyClock(),
  env: { GRANTOR_REFRESH_IDLE_LIFETIME: String(7 * DAY), GRANTOR_REFRESH_ABSOLUTE_LIFETIME: String(10 * DAY) },
})
await createAda(server)

test('draft-ietf-oauth-refresh-token-expiration-03 §6.1: each answer with a refresh token says when it and the grant end', async () => {
  const client = await registerClient(server)
  const first = await obtainTokens(server, client)
  assert.deepEqual(endsOf(first), [7 * DAY, 10 * DAY])
  server.clock.advance(2 * DAY * 1000)
  const token = first.refresh_token ?? ''
  const second = tokensOf(await refresh(server, client, token))
  assert.deepEqual(endsOf(second), [7 * DAY, 8 * DAY])
  // The answer was lost. The times of the first answer count, and seconds are rounded down.
  server.clock.advance(20_400)
  const repeated = tokensOf(await refresh(server, client, token))
  assert.equal(repeated.refresh_token, second.refresh_token)
  assert.deepEqual(endsOf(repeated), [7 * DAY - 21, 8 * DAY - 21])
  server.clock.advance(5 * DAY * 1000 - 20_400)
  const third = tokensOf(await refresh(server, client, repeated.refresh_token ?? ''))
  assert.deepEqual(endsOf(third), [3 * DAY, 3 * DAY])
})

test('draft-ietf-oauth-refresh-token-expiration-03 §6.1: an earlier token gets the times of the newest one', async () => {
  const client = await registerClient(server)
  const { refresh_token: token = '' } = await obtainTokens(server, client)
  server.clock.advance(DAY * 1000)
  const newest = tokensOf(await refresh(server, client, token))
  server.clock.advance(DAY * 1000)
  const earlier = tokensOf(await refresh(server, client, token))
  assert.equal(earlier.refresh_token, newest.refresh_token)
  assert.deepEqual(endsOf(earlier), [6 * DAY, 8 * DAY])
})

test('draft-ietf-oauth-refresh-token-expiration-03 §6.1: an answer without a refresh token says neither', async () => {
  const client = await registerClient(server, { grant_types: ['authorization_code', 'client_credentials'] })
  const machine = tokensOf(await requestToken(server, client, { grant_type: 'client_credentials' }))
  for (const answer of [await obtainTokens(server, client), machine]) assert.deepEqual(endsOf(answer), [])
})

test('draft-ietf-oauth-refresh-token-expiration-03 §7: introspection says the same, and does not move the timeout', async () => {
  const client = await registerClient(server)
  const { refresh_token: token = '', access_token: access } = await obtainTokens(server, client)
  server.clock.advance(DAY * 1000)
  for (let count = 0; count < 2; count += 1)
    assert.deepEqual(endsOf((await introspect(server, client, token)).json()), [6 * DAY, 9 * DAY])
  assert.deepEqual(endsOf((await introspect(server, client, access)).json()), [])
})

function endsOf(answer: Tokens): readonly unknown[] {
  return ['refresh_token_timeout', 'authorization_expires_in'].flatMap((name) => {
    const seconds: unknown = Reflect.get(answer, name)
    return seconds === undefined ? [] : [seconds]
  })
}
