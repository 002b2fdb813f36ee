import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Response as LightMyRequestResponse } from 'light-my-request'
import { createAda } from '../../support/accounts.ts'
import {
  obtainCode,
  obtainTokens,
  postForm,
  redeem,
  refresh,
  registerClient,
  requestToken,
  type RegisteredClient,
} from '../../../tools/flow.ts'
import { assertError, problemsOf, lastLogged } from '../../support/error-answer.ts'
import { assertStoreUnchanged } from '../../support/store/dump.ts'
import { openTestServer, type TestServer } from '../../support/server.ts'
import { openStillClock } from '../../support/clocks.ts'
import { perform } from '../../support/tasks.ts'

const PATH = '/v2/oauth/token'
const MACHINE = { grant_type: 'client_credentials' }
const PATIENT = { env: { GRANTOR_CLIENT_FAILURE_RATE: '1000000' } }

function basic(server: TestServer, header: string, form: Record<string, string> = {}): Promise<LightMyRequestResponse> {
  return postForm(server, PATH, { ...MACHINE, ...form }, { authorization: header })
}

function encode(id: string, secret = ''): string {
  return `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}`
}

/** Every character as a percent-escape. */
function escaped(text: string): string {
  return [...text].map((letter) => `%${letter.charCodeAt(0).toString(16)}`).join('')
}

test('decision 0005: a failed client authentication gets 401 invalid_client, and only the log has the reason', async (t) => {
  const server = await openTestServer(t, PATIENT)
  const client = await registerClient(server)
  const other = await registerClient(server)
  const disabled = await registerClient(server)
  await perform(server.context, 'client.disable', { client_id: disabled.client_id })
  const deleted = await registerClient(server)
  await server.context.store.deleteClient(deleted.client_id as never)
  const open = await registerClient(server, { token_endpoint_auth_method: 'none', grant_types: ['authorization_code'] })
  const id = client.client_id
  const secret = client.client_secret ?? ''
  const made = { client_id: `gci_0123456789ab${'A'.repeat(22)}`, client_secret: secret }
  const table: readonly (readonly [reason: string, form: Record<string, string>])[] = [
    ['client_missing', {}],
    ['client_missing', { client_secret: secret }],
    ['client_missing', { client_id: '', client_secret: secret }],
    ['client_unknown', made],
    ['client_unknown', { client_id: 'x', client_secret: secret }],
    ['client_unknown', { client_id: `${id} `, client_secret: secret }],
    ['client_unknown', { client_id: "' or 1=1 --", client_secret: secret }],
    ['client_unknown', { client_id: deleted.client_id, client_secret: deleted.client_secret ?? '' }],
    ['client_disabled', { client_id: disabled.client_id, client_secret: disabled.client_secret ?? '' }],
    ['client_secret_missing', { client_id: id }],
    ['client_secret_missing', { client_id: id, client_secret: '' }],
    ['client_secret_wrong', { client_id: id, client_secret: other.client_secret ?? '' }],
    ['client_secret_wrong', { client_id: id, client_secret: 'x' }],
    ['client_secret_unexpected', { client_id: open.client_id, client_secret: secret }],
  ]
  const bodies = new Set<string>()
  for (const [reason, form] of table) {
    const answer = await assertStoreUnchanged(server, () => postForm(server, PATH, { ...MACHINE, ...form }), reason)
    assertError(answer, 401, 'invalid_client')
    assert.equal(answer.headers['www-authenticate'], undefined)
    assert.equal(lastLogged(server)['reason'], reason, JSON.stringify(form))
    // That no client is named is known to the caller.
    if (reason !== 'client_missing') bodies.add(answer.body)
  }
  assert.equal(bodies.size, 1)
})

test('TOK-05: malformed and wrong Basic credentials get 401 with a challenge', async (t) => {
  const server = await openTestServer(t, PATIENT)
  const { client_id: id, client_secret: secret = '' } = await registerClient(server)
  const table = [
    ['basic_malformed', 'Basic'],
    ['basic_malformed', 'Basic '],
    ['basic_malformed', 'Basic !!!'],
    ['basic_malformed', 'Basic =='],
    ['basic_malformed', `Basic ${btoa(id)}`],
    ['basic_malformed', encode('', secret)],
    ['basic_malformed', encode('%', secret)],
    ['basic_malformed', `Basic${btoa(`${id}:${secret}`)}`],
    ['basic_malformed', `${encode(id, secret)} x`],
    ['basic_malformed', `${encode(id, secret)},${encode(id, secret)}`],
    ['basic_malformed', `Bearer ${secret}`],
    ['basic_malformed', `Digest username="${id}"`],
    ['client_unknown', encode('x', secret)],
    ['client_unknown', encode(`${id}\u0000`, secret)],
    ['client_secret_missing', encode(id, '')],
    ['client_secret_wrong', encode(id, 'x')],
    ['client_secret_wrong', encode(id, '%zz')],
    ['client_secret_wrong', encode(id, `${secret}:`)],
    ['client_secret_wrong', encode(id, ` ${secret}`)],
  ] as const
  for (const [reason, header] of table) {
    const answer = await basic(server, header)
    assertError(answer, 401, 'invalid_client')
    assert.match(String(answer.headers['www-authenticate']), /^Basic realm="[^"]+"/, header)
    assert.equal(lastLogged(server)['reason'], reason, header)
  }
})

test('decision 0005: Basic credentials may be raw or percent-encoded, and the scheme is case-insensitive', async (t) => {
  const server = await openTestServer(t)
  const { client_id: id, client_secret: secret = '' } = await registerClient(server)
  const headers = [
    encode(id, secret),
    encode(encodeURIComponent(id), encodeURIComponent(secret)),
    encode(escaped(id), escaped(secret)),
    encode(escaped(id).toUpperCase().replaceAll('%5F', '%5f'), secret),
    encode(id, secret).replace('Basic', 'bAsIc'),
    encode(id, secret).replace('Basic ', 'Basic   '),
    encode(id, secret).replace(/=+$/, ''),
  ]
  for (const header of headers) assert.equal((await basic(server, header)).statusCode, 200, header)
  assert.equal((await basic(server, encode(id, secret), { client_id: id })).statusCode, 200)
})

test('TOK-08: a client may send its secret by post or Basic, regardless of the method that it registered', async (t) => {
  const server = await openTestServer(t)
  for (const token_endpoint_auth_method of ['client_secret_post', 'client_secret_basic']) {
    const client = await registerClient(server, { token_endpoint_auth_method })
    assert.equal((await requestToken(server, client, MACHINE)).statusCode, 200)
    assert.equal((await basic(server, encode(client.client_id, client.client_secret))).statusCode, 200)
  }
})

test('TOK-04: two client authentications in one request are rejected', async (t) => {
  const server = await openTestServer(t)
  const { client_id: id, client_secret: secret = '' } = await registerClient(server)
  const other = await registerClient(server)
  const header = encode(id, secret)
  for (const client_secret of [secret, 'x']) {
    const answer = await basic(server, header, { client_id: id, client_secret })
    assert.deepEqual(problemsOf(assertError(answer, 400, 'invalid_request')), ['body.client_secret:value_error'])
  }
  const mixed = await basic(server, header, { client_id: other.client_id })
  assert.deepEqual(problemsOf(assertError(mixed, 400, 'invalid_request')), ['body.client_id:value_error'])
})

test('TOK-06: a wrong secret neither redeems a code nor rotates a refresh token', async (t) => {
  const server = await openTestServer(t)
  await createAda(server)
  const client = await registerClient(server)
  const other = await registerClient(server)
  const code = await obtainCode(server, client)
  const { refresh_token = '' } = await obtainTokens(server, client, { prompt: 'consent' })
  const wrong: RegisteredClient = { ...client, client_secret: other.client_secret ?? '' }
  for (const attempt of [() => redeem(server, wrong, code), () => refresh(server, wrong, refresh_token)])
    assertError(await assertStoreUnchanged(server, attempt, 'wrong secret'), 401, 'invalid_client')
  assert.equal((await redeem(server, client, code)).statusCode, 200)
  assert.equal((await refresh(server, client, refresh_token)).statusCode, 200)
})

test('TOK-07: a confidential client without its secret gets no token by any grant type', async (t) => {
  const server = await openTestServer(t)
  await createAda(server)
  const client = await registerClient(server)
  const code = await obtainCode(server, client)
  const { refresh_token = '' } = await obtainTokens(server, client, { prompt: 'consent' })
  const bare: RegisteredClient = { client_id: client.client_id }
  const attempts = [
    () => redeem(server, bare, code),
    () => refresh(server, bare, refresh_token),
    () => requestToken(server, bare, MACHINE),
    () => redeem(server, { ...bare, client_secret: '' }, code),
  ]
  for (const attempt of attempts)
    assertError(await assertStoreUnchanged(server, attempt, 'no secret'), 401, 'invalid_client')
  assert.equal((await redeem(server, client, code)).statusCode, 200)
})

// The full proof measures the time of the comparison. Here, every wrong secret must get the same response.
test('TOK-13: a partly correct secret is rejected like a completely wrong one', async (t) => {
  const server = await openTestServer(t, PATIENT)
  const client = await registerClient(server)
  const other = await registerClient(server)
  const right = client.client_secret ?? ''
  const wrong = other.client_secret ?? ''
  const guesses = [0, 4, 38, 60, right.length - 22, right.length - 1].map((at) => right.slice(0, at) + wrong.slice(at))
  for (const guess of guesses.filter((one) => one !== right)) {
    assertError(await requestToken(server, { ...client, client_secret: guess }, MACHINE), 401, 'invalid_client')
    assert.equal(lastLogged(server)['reason'], 'client_secret_wrong')
  }
})

test('TOK-14: guessing is throttled for the network of the caller, and the correct secret is accepted from any network', async (t) => {
  const server = await openTestServer(t, { clock: openStillClock(), env: { GRANTOR_CLIENT_FAILURE_RATE: '3' } })
  const client = await registerClient(server)
  const ask = (secret: string, remoteAddress: string) =>
    server.inject({
      method: 'POST',
      url: PATH,
      remoteAddress,
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      payload: new URLSearchParams({ ...MACHINE, client_id: client.client_id, client_secret: secret }).toString(),
    })
  for (let guess = 0; guess < 3; guess += 1) assert.equal((await ask('x', '192.0.2.1')).statusCode, 401)
  const throttled = await ask('x', '192.0.2.1')
  assertError(throttled, 429, 'temporarily_unavailable')
  assert.equal(throttled.headers['retry-after'], '20')
  assert.equal(throttled.headers['ratelimit-policy'], '"client-authentication";q=3;w=60')
  assert.equal(throttled.headers['ratelimit'], '"client-authentication";r=0;t=20')
  assert.equal((await ask('x', '192.0.2.2')).statusCode, 401)
  for (const address of ['192.0.2.1', '192.0.2.2'])
    assert.equal((await ask(client.client_secret ?? '', address)).statusCode, 200)
  server.clock.advance(20_000)
  assert.equal((await ask('x', '192.0.2.1')).statusCode, 401)
})

test('decision 0021: other errors do not count as failed authentications of the network', async (t) => {
  const server = await openTestServer(t, { clock: openStillClock(), env: { GRANTOR_CLIENT_FAILURE_RATE: '1' } })
  const client = await registerClient(server, { grant_types: ['authorization_code'] })
  for (let round = 0; round < 5; round += 1) {
    assertError(await requestToken(server, client, MACHINE), 400, 'unauthorized_client')
    assertError(await postForm(server, PATH, {}), 422, 'invalid_request')
    const twice = await basic(server, encode(client.client_id, client.client_secret), { client_secret: 'x' })
    assertError(twice, 400, 'invalid_request')
  }
  assertError(await postForm(server, PATH, MACHINE), 401, 'invalid_client')
})
