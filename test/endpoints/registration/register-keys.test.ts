import assert from 'node:assert/strict'
import { test } from 'node:test'
import { makeClientKey } from '../../../tools/client-assertion.ts'
import { obtainCode, postForm, postJson, redeem, registerClient, type Tokens } from '../../../tools/flow.ts'
import { createAda } from '../../support/accounts.ts'
import { WHOLE_FILE } from '../../support/authorize-answers.ts'
import { assertError, problemsOf } from '../../support/error-answer.ts'
import { authentication, registerKeyClient, type KeyClient } from '../../support/key-clients.ts'
import { openTestServer } from '../../support/server.ts'
import { assertStoreUnchanged, dumpStore } from '../../support/store/dump.ts'

const REGISTER = '/v2/oauth/register'
const METHOD = { token_endpoint_auth_method: 'private_key_jwt', grant_types: ['client_credentials'] }

const server = await openTestServer(WHOLE_FILE)
await createAda(server)

/** Sends a request with the registration access token. */
function manage({ client }: KeyClient, method: 'GET' | 'PUT' | 'POST', body?: object, path = REGISTER) {
  return server.inject({
    method,
    url: `${path}?client_id=${client.client_id}`,
    headers: {
      authorization: `Bearer ${String(client['registration_access_token'])}`,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { payload: JSON.stringify(body) }),
  })
}

async function works(client: KeyClient): Promise<boolean> {
  const form = { grant_type: 'client_credentials', ...authentication(server, client) }
  return (await postForm(server, '/v2/oauth/token', form)).statusCode === 200
}

test('RFC 7591 §3.2.1: a client with keys gets a registration access token, and no secret', async () => {
  const app = await registerKeyClient(server, { ...METHOD, token_endpoint_auth_signing_alg: 'ES256' })
  const { client, key } = app
  for (const name of ['client_secret', 'client_secret_expires_at']) assert.ok(!(name in client), name)
  assert.match(String(client['registration_access_token']), /^gmt_/)
  const keys = { jwks: { keys: [key.jwk] }, token_endpoint_auth_signing_alg: 'ES256' }
  assert.partialDeepStrictEqual(client, { ...METHOD, ...keys })
  assert.partialDeepStrictEqual((await manage(app, 'GET')).json(), { ...METHOD, ...keys })
  assert.ok(!dumpStoreText().includes('"d":'))
})

test('CA-10: a registration with a private key is refused, and neither the answer nor the log repeats the key', async () => {
  const key = makeClientKey('ES256')
  const secret = key.privateKey.export({ format: 'jwk' })
  const body = { ...METHOD, jwks: { keys: [secret] }, client_name: 'x'.repeat(200) }
  const answer = await assertStoreUnchanged(server, () => postJson(server, REGISTER, body))
  const problems = problemsOf(assertError(answer, 400, 'invalid_client_metadata'))
  assert.deepEqual(problems, [
    'body.client_name:too_long',
    'body.jwks.keys.0:value_error',
    'body.jwks.keys:value_error',
  ])
  for (const text of [answer.body, server.log()]) assert.ok(!text.includes(String(secret.d)))
})

test('RFC 7591 §2: with another method, members about keys are ignored', async () => {
  for (const token_endpoint_auth_method of ['none', 'client_secret_basic']) {
    const ignored = { jwks: 5, jwks_uri: 'ftp://x', token_endpoint_auth_signing_alg: 'none' }
    const client = await registerClient(server, { token_endpoint_auth_method, ...ignored })
    for (const name of Object.keys(ignored)) assert.ok(!(name in client), name)
  }
})

test('REG-19: members about keys make no difference between registrations of a public client', async () => {
  const open = { token_endpoint_auth_method: 'none', grant_types: ['authorization_code'] }
  const one = await registerClient(server, open)
  const other = await registerClient(server, { ...open, jwks: { keys: [makeClientKey('ES256').jwk] } })
  assert.equal(other.client_id, one.client_id)
})

test('CA-11: an update replaces the keys at once, keeps tokens, and does not make the client another one', async () => {
  const app = await registerKeyClient(server)
  const { client_id: id } = app.client
  await server.context.store.verifyClient({ id: id as never, now: server.clock.now() })
  const code = await obtainCode(server, app.client)
  const tokens = (await redeem(server, app.client, code, authentication(server, app))).json<Tokens>()
  const key = makeClientKey('EdDSA')
  const renewed = { client: app.client, key }
  assert.deepEqual([await works(app), await works(renewed)], [true, false])
  const { client_id, client_name, redirect_uris, grant_types, token_endpoint_auth_method } = app.client
  const metadata = { client_id, client_name, redirect_uris, grant_types, token_endpoint_auth_method }
  const answer = await manage(app, 'PUT', { ...metadata, jwks: { keys: [key.jwk] } })
  assert.equal(answer.statusCode, 200, answer.body)
  assert.deepEqual(answer.json<{ jwks: object }>().jwks, { keys: [key.jwk] })
  assert.deepEqual([await works(app), await works(renewed)], [false, true])
  assert.ok((await server.context.store.findClient(id as never))?.verifiedAt)
  const refreshed = { grant_type: 'refresh_token', refresh_token: tokens.refresh_token ?? '' }
  const again = await postForm(server, '/v2/oauth/token', { ...refreshed, ...authentication(server, renewed) })
  assert.equal(again.statusCode, 200, again.body)
})

test('RFC 7592 §2.2: a client with keys cannot become public, and an update without keys is refused', async () => {
  const app = await registerKeyClient(server)
  const { client_id } = app.client
  const open = await manage(app, 'PUT', { client_id, token_endpoint_auth_method: 'none' })
  assert.deepEqual(problemsOf(assertError(open, 400, 'invalid_client_metadata')), [
    'body.token_endpoint_auth_method:literal_error',
  ])
  const bare = await manage(app, 'PUT', { client_id, ...METHOD })
  assert.deepEqual(problemsOf(assertError(bare, 400, 'invalid_client_metadata')), ['body.jwks:missing'])
  assert.ok(await works(app))
})

test('a client with keys gets a secret only after it has registered a method with a secret', async () => {
  const app = await registerKeyClient(server, { grant_types: ['client_credentials'] })
  const { client_id } = app.client
  const rotate = () => manage(app, 'POST', {}, `${REGISTER}/secret`)
  const refused = await assertStoreUnchanged(server, rotate)
  assert.deepEqual(problemsOf(assertError(refused, 400, 'invalid_client_metadata')), ['body.client_secret:value_error'])
  const basic = { client_id, token_endpoint_auth_method: 'client_secret_basic', grant_types: ['client_credentials'] }
  assert.equal((await manage(app, 'PUT', basic)).statusCode, 200)
  assert.equal(await works(app), false)
  const { client_secret } = (await rotate()).json<{ client_secret: string }>()
  const form = { grant_type: 'client_credentials', client_id, client_secret }
  assert.equal((await postForm(server, '/v2/oauth/token', form)).statusCode, 200)
})

test('a client that changes from a secret to keys can no longer use its secret', async () => {
  const client = await registerClient(server)
  const key = makeClientKey('ES256')
  const { client_id, client_secret = '' } = client
  const keys = { ...METHOD, jwks: { keys: [key.jwk] } }
  const app = { client, key }
  assert.equal((await manage(app, 'PUT', { client_id, ...keys })).statusCode, 200)
  assert.ok(await works(app))
  const form = { grant_type: 'client_credentials', client_id, client_secret }
  assertError(await postForm(server, '/v2/oauth/token', form), 401, 'invalid_client')
})

function dumpStoreText(): string {
  return JSON.stringify(dumpStore(server)['clients'])
}
