import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { test } from 'node:test'
import { assertionForm, makeClientKey, signJws } from '../../../tools/client-assertion.ts'
import { postForm, registerClient, type Tokens } from '../../../tools/flow.ts'
import { WHOLE_FILE } from '../../support/authorize-answers.ts'
import { assertError, problemsOf, lastLogged } from '../../support/error-answer.ts'
import { assertionOf, authentication, registerKeyClient, type Differing } from '../../support/key-clients.ts'
import { openTestServer } from '../../support/server.ts'
import { openStillClocks } from '../../support/clocks.ts'
import { assertStoreUnchanged, selectAll } from '../../support/store/dump.ts'
import { perform } from '../../support/tasks.ts'

const TOKEN = '/v2/oauth/token'
const MACHINE = { grant_type: 'client_credentials' }
const HOUR = 3600

const [clock] = openStillClocks([0])
const server = await openTestServer(WHOLE_FILE, { clock, env: { GRANTOR_CLIENT_FAILURE_RATE: '1000000' } })
const app = await registerKeyClient(server)
const seconds = (): number => Math.floor(server.clock.now() / 1000)

/** Requests a token with these parameters. */
function request(form: Record<string, string>, headers: Record<string, string> = {}) {
  return postForm(server, TOKEN, { ...MACHINE, ...form }, headers)
}

/** Requests a token with an assertion that differs in header and claims. */
function present(differing: Differing = {}) {
  return request(authentication(server, app, differing))
}

/** Reasons that follow from the request alone, and what the description of each names. Every other reason has one description. */
const EXPLAINED: Readonly<Record<string, RegExp>> = {
  assertion_malformed: /iss, sub, aud, exp and jti/,
  assertion_audience: /issuer or the token endpoint/,
  assertion_expired: /more than ten minutes ago/,
  assertion_of_another_client: /not the sub/,
}
const FIXED = /^The client is unknown or did not authenticate as it registered\.$/

/** Checks that nothing is stored, that the answer reveals nothing about a client, and that the log has the reason. */
async function assertRefused(form: Record<string, string>, reason: string): Promise<void> {
  const answer = await assertStoreUnchanged(server, () => request(form), reason)
  const { error_description: description } = assertError(answer, 401, 'invalid_client')
  assert.match(description, EXPLAINED[reason] ?? FIXED)
  assert.equal(answer.headers['www-authenticate'], undefined)
  assert.equal(lastLogged(server)['reason'], reason, JSON.stringify(form))
}

async function assertAllRefused(reason: string, table: readonly Differing[]): Promise<void> {
  for (const differing of table) await assertRefused(authentication(server, app, differing), reason)
}

test('RFC 7523 §2.2: a client with keys gets tokens with an assertion, with and without client_id', async () => {
  assert.equal((await present()).statusCode, 200)
  const named = { ...authentication(server, app), client_id: app.client.client_id }
  assert.equal((await request(named)).statusCode, 200)
  for (const typ of ['JWT', 'jwt', 'client-authentication+jwt', 'application/client-authentication+jwt'])
    assert.equal((await present({ header: { typ } })).statusCode, 200, typ)
})

test('RFC 9864 §2.2: EdDSA and Ed25519 are one algorithm, whichever of them the key, the registration and the assertion name', async () => {
  for (const named of [undefined, 'EdDSA', 'Ed25519'])
    for (const bound of [undefined, 'EdDSA', 'Ed25519']) {
      const key = makeClientKey('EdDSA', named === undefined ? {} : { alg: named })
      const client = await registerKeyClient(server, { token_endpoint_auth_signing_alg: bound }, key)
      for (const alg of ['EdDSA', 'Ed25519']) {
        const answer = await request(authentication(server, client, { header: { alg } }))
        assert.equal(answer.statusCode, 200, `${named} ${bound} ${alg}`)
      }
      await assertRefused(authentication(server, client, { header: { alg: 'ES256' } }), 'assertion_wrong')
    }
})

test('CA-02: an assertion that is not signed by the private key is rejected, whatever algorithm it names', async () => {
  const { key, client } = app
  const [, claims = ''] = assertionOf(server, app).split('.')
  const encode = (header: object): string => Buffer.from(JSON.stringify(header)).toString('base64url')
  const hmac = (secret: string | Buffer): string => {
    const signed = `${encode({ alg: 'HS256' })}.${claims}`
    return `${signed}.${createHmac('sha256', secret).update(signed).digest('base64url')}`
  }
  const publicKeys = [
    JSON.stringify(key.jwk),
    String(key.jwk['x']),
    key.privateKey.export({ format: 'pem', type: 'pkcs8' }),
  ]
  const unsigned = ['none', 'None', 'NONE'].flatMap((alg) => [
    `${encode({ alg })}.${claims}.`,
    `${encode({ alg })}.${claims}`,
  ])
  for (const jwt of [...publicKeys.map(hmac), ...unsigned, '', 'x', 'a.b.c', `${'a'.repeat(9000)}.b.c`])
    await assertRefused(assertionForm(jwt), 'assertion_malformed')
  const right = assertionOf(server, app)
  const otherKey = makeClientKey('ES256')
  const wrong = [
    assertionOf(server, { client, key: otherKey }),
    assertionOf(server, { client, key: makeClientKey('EdDSA') }),
    `${right.slice(0, -10)}AAAAAAAAAA`,
    `${encode({ alg: 'ES256', kid: 'other' })}.${right.split('.').slice(1).join('.')}`,
    assertionOf(server, app, { header: { alg: 'ES384' } }),
    assertionOf(server, app, { header: { alg: 'RS256' } }),
  ]
  for (const jwt of wrong) await assertRefused(assertionForm(jwt), 'assertion_wrong')
})

test('CA-03: an assertion that names its own key, an extension or another kind of JWT is rejected', async () => {
  await assertAllRefused('assertion_malformed', [
    { header: { jwk: app.key.jwk } },
    { header: { jku: 'https://keys.example/jwks' } },
    { header: { x5u: 'https://keys.example/chain' } },
    { header: { crit: ['b64'], b64: false } },
    { header: { crit: [] } },
    ...['at+jwt', 'dpop+jwt', 'logout+jwt', 'secevent+jwt', 'jwt+x', ''].map((typ) => ({ header: { typ } })),
    { header: { typ: 5 } },
    { header: { kid: 5 } },
    { header: { alg: ['ES256'] } },
  ])
})

test('CA-04: an assertion for another server, or for another one too, is rejected', async () => {
  const token = `${server.origin}${TOKEN}`
  for (const aud of [server.origin, token, [server.origin], [token], [server.origin, token]])
    assert.equal((await present({ claims: { aud } })).statusCode, 200, JSON.stringify(aud))
  await assertAllRefused(
    'assertion_audience',
    [
      [server.origin, 'https://other.example'],
      [server.origin, token, 'https://other.example'],
      [server.origin, null],
      [],
      [[server.origin]],
      'https://other.example',
      `${server.origin}/`,
      server.origin.toUpperCase(),
      '',
      null,
      undefined,
      5,
      { iss: server.origin },
    ].map((aud) => ({ claims: { aud } })),
  )
})

test('CA-05: an assertion that has expired, lives long or comes from the future is rejected', async () => {
  const now = seconds()
  const accepted = [
    { exp: now - 9 },
    { exp: now + 660, iat: undefined },
    { exp: now + 661 },
    { exp: now + HOUR },
    { exp: now + 24 * HOUR, iat: now + 60 },
    { exp: now + HOUR, iat: now - 609 },
    { exp: now * 1000 },
    { iat: now + 60, nbf: now + 60 },
    { iat: undefined },
    { exp: now + 60.5, iat: now - 0.5 },
    { iat: now - 60, nbf: now - HOUR },
  ]
  for (const claims of accepted) assert.equal((await present({ claims })).statusCode, 200, JSON.stringify(claims))
  await assertAllRefused('assertion_expired', [
    { claims: { exp: now - 10 } },
    { claims: { exp: now - HOUR } },
    { claims: { exp: 0 } },
    { claims: { exp: -1 } },
    { claims: { exp: now + 661, iat: undefined } },
    { claims: { exp: now * 1000, iat: undefined } },
    { claims: { exp: now + HOUR, iat: now - 610 } },
    { claims: { exp: now + HOUR, iat: now - HOUR } },
    { claims: { iat: now - HOUR, nbf: now - HOUR } },
    { claims: { iat: now + 61 } },
    { claims: { nbf: now + 61 } },
  ])
  const malformed = [undefined, null, String(now + 60), [now + 60]]
  await assertAllRefused(
    'assertion_malformed',
    malformed.map((exp) => ({ claims: { exp } })),
  )
  await assertAllRefused('assertion_malformed', [{ claims: { iat: 'now' } }, { claims: { nbf: '0' } }])
})

test('CA-06: an assertion is accepted once, and needs an id', async () => {
  const form = authentication(server, app)
  assert.equal((await request(form)).statusCode, 200)
  await assertRefused(form, 'assertion_replayed')
  server.clock.advance(61_000)
  await assertRefused(form, 'assertion_replayed')
  server.clock.advance(20_000)
  await assertRefused(form, 'assertion_expired')
  await assertAllRefused(
    'assertion_malformed',
    [undefined, null, '', 5, 'x'.repeat(257)].map((jti) => ({ claims: { jti } })),
  )
  const long = authentication(server, app, { claims: { exp: seconds() + 24 * HOUR } })
  assert.equal((await request(long)).statusCode, 200)
  const until = selectAll(server, 'select max(expires_at) as until from consumed')[0]?.['until']
  assert.equal(until, server.clock.now() + (HOUR + 60) * 1000, 'an hour and a minute at most')
  server.clock.advance(609_000)
  await assertRefused(long, 'assertion_replayed')
  server.clock.advance(1000)
  await assertRefused(long, 'assertion_expired')
  const jti = 'the same id, in another assertion'
  assert.equal((await present({ claims: { jti } })).statusCode, 200)
  await assertRefused(authentication(server, app, { claims: { jti, exp: seconds() + 30 } }), 'assertion_replayed')
  const stored = selectAll(server, 'select * from consumed').map((row) => JSON.stringify(row))
  assert.ok(stored.length > 0 && stored.every((row) => !row.includes(jti) && !row.includes(app.client.client_id)))
})

test('CA-06: the id of an assertion of one client is fresh for another client', async () => {
  const jti = 'an id that two clients chose'
  const other = await registerKeyClient(server)
  for (const client of [app, other])
    assert.equal((await request(authentication(server, client, { claims: { jti } }))).statusCode, 200)
})

test('CA-08: an assertion authenticates only the client that it names', async () => {
  const other = await registerKeyClient(server)
  const { client_id: otherId } = other.client
  await assertRefused({ ...authentication(server, app), client_id: otherId }, 'assertion_of_another_client')
  await assertAllRefused('assertion_wrong', [{ claims: { iss: otherId, sub: otherId } }])
  const unequal = [{ iss: otherId }, { sub: otherId }, { sub: undefined }, { iss: undefined }, { iss: 5, sub: 5 }]
  await assertAllRefused(
    'assertion_malformed',
    unequal.map((claims) => ({ claims })),
  )
  await assertAllRefused('client_unknown', [
    { claims: { iss: 'x', sub: 'x' } },
    { claims: { iss: server.origin, sub: server.origin } },
  ])
})

test('CA-08: of two clients with one key, each gets its own tokens', async () => {
  const twin = await registerKeyClient(server, {}, app.key)
  for (const one of [app, twin]) {
    const { access_token: token } = (await request(authentication(server, one))).json<Tokens>()
    const answer = await postForm(server, '/v2/oauth/introspect', { ...authentication(server, one), token })
    assert.equal(answer.json<{ client_id: string }>().client_id, one.client.client_id)
    const other = one === app ? twin : app
    const hidden = await postForm(server, '/v2/oauth/introspect', { ...authentication(server, other), token })
    assert.deepEqual(hidden.json(), { active: false })
  }
})

test('CA-09: two client authentications in one request are rejected', async () => {
  const { client_id: id, client_secret: secret = '' } = await registerClient(server)
  const basic = { authorization: `Basic ${btoa(`${id}:${secret}`)}` }
  const assertion = authentication(server, app)
  const beside = await request(assertion, basic)
  assert.deepEqual(problemsOf(assertError(beside, 400, 'invalid_request')), ['body.client_assertion:value_error'])
  const twice = await request({ ...assertion, client_secret: secret })
  assert.deepEqual(problemsOf(assertError(twice, 400, 'invalid_request')), ['body.client_secret:value_error'])
  assert.equal((await request(assertion)).statusCode, 200)
})

test('CA-09: a client authenticates only as it registered', async () => {
  const { client, key } = app
  const other = await registerClient(server)
  const open = await registerClient(server, { token_endpoint_auth_method: 'none', grant_types: ['authorization_code'] })
  const secret = other.client_secret ?? ''
  await assertRefused({ client_id: client.client_id }, 'assertion_missing')
  await assertRefused({ client_id: client.client_id, client_secret: secret }, 'assertion_missing')
  for (const one of [other, open])
    await assertRefused(authentication(server, { client: one, key }), 'assertion_unexpected')
  const answer = await request({}, { authorization: `Basic ${btoa(`${client.client_id}:${secret}`)}` })
  assertError(answer, 401, 'invalid_client')
  assert.match(String(answer.headers['www-authenticate']), /^Basic /)
})

test('RFC 7521 §4.2: a half or another kind of assertion is rejected', async () => {
  const { client_assertion_type: type = '', client_assertion: jwt = '' } = authentication(server, app)
  const saml = 'urn:ietf:params:oauth:client-assertion-type:saml2-bearer'
  for (const form of [
    { client_assertion: jwt },
    { client_assertion_type: type },
    { client_assertion: jwt, client_assertion_type: saml },
    { client_assertion: jwt, client_assertion_type: '' },
    { client_assertion: `${jwt} `, client_assertion_type: type },
  ])
    await assertRefused({ client_id: app.client.client_id, ...form }, 'assertion_malformed')
})

test('RFC 7591 §2: a client that registered an algorithm is rejected with another one', async () => {
  const rsa = makeClientKey('RS256')
  const bound = await registerKeyClient(server, { token_endpoint_auth_signing_alg: 'PS256' }, rsa)
  await assertRefused(authentication(server, bound), 'assertion_wrong')
  const right = { ...bound, key: { ...rsa, algorithm: 'PS256' as const } }
  assert.equal((await request(authentication(server, right))).statusCode, 200)
})

test('RFC 7515 §4.1.4: without kid each key of the client is tried, with a registered kid only its own, with another the unnamed ones', async () => {
  const keys = [makeClientKey('ES256', { kid: 'one' }), makeClientKey('ES256', { kid: 'two' }), makeClientKey('EdDSA')]
  const { client } = await registerKeyClient(server, { jwks: { keys: keys.map(({ jwk }) => jwk) } })
  for (const key of keys) assert.equal((await request(authentication(server, { client, key }))).statusCode, 200)
  const [key = keys[0]] = keys.slice(1)
  assert.ok(key)
  const named = authentication(server, { client, key }, { header: { kid: 'two' } })
  assert.equal((await request(named)).statusCode, 200)
  await assertRefused(authentication(server, { client, key }, { header: { kid: 'one' } }), 'assertion_wrong')
  await assertRefused(authentication(server, { client, key: makeClientKey('ES256') }), 'assertion_wrong')
  // mod_auth_openidc sends the thumbprint of its key as kid. A key made from a PEM file has none.
  const unnamed = keys[2] ?? assert.fail()
  const sent = authentication(server, { client, key: unnamed }, { header: { kid: 'not registered' } })
  assert.equal((await request(sent)).statusCode, 200)
  await assertRefused(authentication(server, { client, key: unnamed }, { header: { kid: 'one' } }), 'assertion_wrong')
  await assertRefused(authentication(server, { client, key }, { header: { kid: 'three' } }), 'assertion_wrong')
})

test('RFC 7009 §2.1, RFC 7662 §2.1: a client with keys revokes and introspects with an assertion', async () => {
  const { access_token: token } = (await present()).json<Tokens>()
  const ask = (path: string) => postForm(server, path, { ...authentication(server, app), token })
  assert.equal((await ask('/v2/oauth/introspect')).json<{ active: boolean }>().active, true)
  assert.equal((await ask('/v2/oauth/revoke')).statusCode, 200)
  assert.equal((await ask('/v2/oauth/introspect')).json<{ active: boolean }>().active, false)
  const bare = await postForm(server, '/v2/oauth/introspect', { client_id: app.client.client_id, token })
  assert.equal(bare.statusCode, 401)
})

test('a disabled client is rejected, and its assertion is not used up', async () => {
  const disabled = await registerKeyClient(server)
  await perform(server.context, 'client.disable', { client_id: disabled.client.client_id })
  await assertRefused(authentication(server, disabled), 'client_disabled')
})

test('TOK-14: failures with assertions count for the network of the caller, and a right one is accepted', async (t) => {
  const strict = await openTestServer(t, { clock, env: { GRANTOR_CLIENT_FAILURE_RATE: '3' } })
  const client = await registerKeyClient(strict)
  const wrong = () =>
    postForm(strict, TOKEN, { ...MACHINE, ...assertionForm(signJws(client.key, { alg: 'ES256' }, {})) })
  const statuses = []
  for (let count = 0; count < 4; count += 1) statuses.push((await wrong()).statusCode)
  assert.deepEqual(statuses, [401, 401, 401, 429])
  const right = await postForm(strict, TOKEN, { ...MACHINE, ...authentication(strict, client) })
  assert.equal(right.statusCode, 200)
})

test('BND-04: above its rate the assertions of a client get 429 and are not stored; a verified client has no limit', async (t) => {
  const strict = await openTestServer(t, { clock, env: { GRANTOR_STORED_TOKEN_RATE: '3' } })
  const client = await registerKeyClient(strict)
  const ask = () => postForm(strict, TOKEN, { ...MACHINE, ...authentication(strict, client) })
  const statuses = []
  for (let count = 0; count < 4; count += 1) statuses.push((await ask()).statusCode)
  assert.deepEqual(statuses, [200, 200, 200, 429])
  assert.equal(selectAll(strict, 'select * from consumed').length, 3)
  await strict.context.store.verifyClient({ id: client.client.client_id as never, now: strict.clock.now() })
  assert.equal((await ask()).statusCode, 200)
})

test('CA-14: an assertion that was issued before all tokens were revoked is rejected, also one without iat', async (t) => {
  const other = await openTestServer(t)
  const client = await registerKeyClient(other)
  const ask = (form: Record<string, string>) => postForm(other, TOKEN, { ...MACHINE, ...form })
  const [before, undated] = [
    authentication(other, client),
    authentication(other, client, { claims: { iat: undefined } }),
  ]
  other.clock.advance(2000)
  await other.context.store.revokeAllTokens({ now: other.clock.now() })
  other.clock.advance(2000)
  for (const form of [before, undated]) assertError(await ask(form), 401, 'invalid_client')
  assert.equal((await ask(authentication(other, client))).statusCode, 200)
})
