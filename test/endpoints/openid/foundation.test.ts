import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createLocalJWKSet, jwtVerify, type JSONWebKeySet } from 'jose'
import {
  attribute,
  authorizeUrl,
  formAction,
  hiddenFields,
  locationOf,
  PlainBrowser,
  postForm,
  redeem,
  REDIRECT_URI,
  refresh,
  requestToken,
  signInAndAllow,
  type RegisteredClient,
} from '../../../tools/flow.ts'
import { signOut } from '../../../tools/sign-out.ts'
import { ID_TOKEN_ALGORITHMS, type IdTokenAlgorithm } from '../../../src/protocol/openid/id-token.ts'
import type { TestServer } from '../../support/server.ts'
import { openNotified } from './notified.ts'
import { answerOf, idTokenOf, login, makeClient, openLogin, PROFILE, signIn, tokensOf, userinfo } from './login.ts'

/** What the modules of the OpenID Foundation's conformance suite check, by their names. Most of them send no PKCE. */

const STATIC = { pkce: 'optional', claims: 'userinfo' } as const

/** An authorization request as the suite sends it. */
function plainUrl(client: RegisteredClient, parameters: Readonly<Record<string, string>> = {}): string {
  const url = new URL(authorizeUrl(client, { scope: 'openid', nonce: 'a nonce', ...parameters }), 'http://x')
  url.searchParams.delete('code_challenge')
  url.searchParams.delete('code_challenge_method')
  for (const [name, value] of Object.entries(parameters)) if (value === '') url.searchParams.delete(name)
  return url.pathname + url.search
}

async function bodyOf<Body>(server: TestServer, url: string): Promise<Body> {
  return (await server.inject({ method: 'GET', url })).json<Body>()
}

function exchange(server: Parameters<typeof requestToken>[0], client: RegisteredClient, code: string | null) {
  return requestToken(server, client, {
    grant_type: 'authorization_code',
    code: code ?? '',
    redirect_uri: REDIRECT_URI,
  })
}

test('oidcc-server, oidcc-server-client-secret-post: a code without PKCE gives an ID token with nonce and required claims', async (t) => {
  const server = await openLogin(t)
  for (const method of ['client_secret_post', 'client_secret_basic'] as const) {
    const client = await makeClient(server, STATIC, { token_endpoint_auth_method: method })
    const answer = await signInAndAllow(new PlainBrowser(server), plainUrl(client))
    const claims = idTokenOf(tokensOf(await exchange(server, client, answer.searchParams.get('code'))))
    assert.deepEqual([claims.iss, claims.aud, claims['nonce']], [server.origin, client.client_id, 'a nonce'])
    assert.equal((claims.exp ?? 0) - (claims.iat ?? 0), 3600)
  }
})

test('oidcc-server, oidcc-backchannel-rp-initiated-logout: keys that were fetched first verify the first tokens', async (t) => {
  const { server, notifiedClient, delivered } = await openNotified(t)
  const offered = async () =>
    (
      await bodyOf<{ readonly id_token_signing_alg_values_supported: readonly IdTokenAlgorithm[] }>(
        server,
        '/.well-known/openid-configuration',
      )
    ).id_token_signing_alg_values_supported
  assert.deepEqual(await offered(), ['RS256', 'ES256'])
  const first = await bodyOf<JSONWebKeySet>(server, '/v2/oauth/jwks')
  for (const algorithm of ID_TOKEN_ALGORITHMS) {
    const client = await notifiedClient({ id_token_signed_response_alg: algorithm })
    // The key of EdDSA is published when the first client of the operator chooses it.
    const keys = createLocalJWKSet(algorithm === 'EdDSA' ? await bodyOf(server, '/v2/oauth/jwks') : first)
    const browser = new PlainBrowser(server)
    const { id_token: idToken = '' } = await login(server, client, {}, browser)
    await signOut(browser)
    const [notice] = await delivered()
    for (const token of [idToken, notice?.token ?? '']) {
      const { protectedHeader } = await jwtVerify(token, keys, { issuer: server.origin, audience: client.client_id })
      assert.equal(protectedHeader.alg, algorithm)
    }
  }
  assert.deepEqual(await offered(), ID_TOKEN_ALGORITHMS)
})

test('oidcc-ensure-request-without-nonce-succeeds-for-code-flow: an ID token without nonce', async (t) => {
  const server = await openLogin(t)
  const client = await makeClient(server, STATIC)
  assert.equal(idTokenOf(await login(server, client))['nonce'], undefined)
})

test('oidcc-prompt-none-not-logged-in, oidcc-response-type-missing: the error comes by redirect', async (t) => {
  const server = await openLogin(t)
  const client = await makeClient(server, STATIC)
  for (const [parameters, error] of [
    [{ prompt: 'none' }, 'login_required'],
    [{ response_type: '' }, 'invalid_request'],
    [{ response_type: 'id_token' }, 'unsupported_response_type'],
  ] as const) {
    const answer = answerOf(await new PlainBrowser(server).get(plainUrl(client, parameters)))
    assert.deepEqual([answer.get('error'), answer.get('state')], [error, 'the-state'])
  }
})

test('oidcc-prompt-none-logged-in, oidcc-id-token-hint, oidcc-max-age-10000: no page, and the same auth_time, sub and sid', async (t) => {
  const server = await openLogin(t)
  const client = await makeClient(server, STATIC)
  const browser = new PlainBrowser(server)
  const first = await login(server, client, {}, browser)
  const { sub, auth_time, sid } = idTokenOf(first)
  server.clock.advance(5000)
  for (const parameters of [
    { prompt: 'none' },
    { prompt: 'none', id_token_hint: first.id_token ?? '' },
    { max_age: '10000' },
    { prompt: 'none', max_age: '10000' },
  ]) {
    const answer = answerOf(await browser.get(plainUrl(client, parameters)))
    const again = idTokenOf(tokensOf(await exchange(server, client, answer.get('code'))))
    assert.deepEqual([again.sub, again['auth_time'], again['sid']], [sub, auth_time, sid])
  }
})

test('oidcc-max-age-1, oidcc-prompt-login: the user signs in again, and auth_time is later', async (t) => {
  const server = await openLogin(t)
  const client = await makeClient(server, STATIC)
  for (const parameters of [{ max_age: '1' }, { prompt: 'login' }, { max_age: '0' }]) {
    const browser = new PlainBrowser(server)
    const first = idTokenOf(await login(server, client, { prompt: 'consent' }, browser))
    server.clock.advance(2000)
    const page = await browser.get(locationOf(await browser.get(plainUrl(client, parameters))))
    assert.match(page.body, /type="password"/)
    const answer = answerOf(await signIn(browser, page))
    const second = idTokenOf(tokensOf(await exchange(server, client, answer.get('code'))))
    assert.ok(Number(second['auth_time']) >= Number(first['auth_time']) + 1)
    assert.deepEqual([second.sub, second['sid']], [first.sub, first['sid']])
  }
})

test('oidcc-userinfo-get, oidcc-userinfo-post-header, oidcc-userinfo-post-body: three ways to present the token', async (t) => {
  const server = await openLogin(t)
  const { access_token: token } = await login(server, await makeClient(server, STATIC))
  const url = '/v2/oauth/userinfo'
  const headers = { authorization: `Bearer ${token}` }
  const answers = [
    await userinfo(server, token),
    await server.inject({ method: 'POST', url, headers }),
    await postForm(server, url, {}, headers),
    await postForm(server, url, { access_token: token }),
  ]
  for (const answer of answers) {
    assert.equal(answer.statusCode, 200, answer.body)
    assert.deepEqual(Object.keys(answer.json()), ['sub'])
    assert.equal(answer.headers['cache-control'], 'no-store')
  }
})

test('oidcc-scope-profile, -email, -address, -phone, -all, oidcc-claims-essential: each scope gives all its claims at userinfo, and none in the ID token', async (t) => {
  const server = await openLogin(t)
  const client = await makeClient(server, STATIC)
  const { phone_number, phone_number_verified, address, ...profile } = PROFILE
  const expected = {
    profile: { ...profile, name: 'Ada' },
    email: { email: 'ada@acme.test', email_verified: false },
    address: { address },
    phone: { phone_number, phone_number_verified },
  }
  const check = async (parameters: Readonly<Record<string, string>>, claims: object): Promise<void> => {
    const tokens = await login(server, client, { prompt: 'consent', ...parameters })
    const { sub, updated_at, ...shown } = (await userinfo(server, tokens.access_token)).json<Record<string, unknown>>()
    assert.equal(typeof sub, 'string')
    assert.equal(typeof updated_at, 'name' in claims ? 'number' : 'undefined')
    assert.deepEqual(shown, claims)
    assert.deepEqual(
      Object.keys(idTokenOf(tokens)).filter((name) => name in { ...PROFILE, name: '', email: '' }),
      [],
    )
  }
  for (const [scope, claims] of Object.entries(expected)) await check({ scope: `openid ${scope}` }, claims)
  const all = Object.assign({}, ...Object.values(expected)) as object
  await check({ scope: 'openid profile email address phone' }, all)
  await check({ claims: JSON.stringify({ userinfo: { name: { essential: true } } }) }, expected.profile)
})

test('oidcc-codereuse-30seconds: a second use of a code ends the first access token', async (t) => {
  const server = await openLogin(t)
  const client = await makeClient(server, STATIC)
  const code = (await signInAndAllow(new PlainBrowser(server), plainUrl(client))).searchParams.get('code')
  const { access_token: token } = tokensOf(await exchange(server, client, code))
  server.clock.advance(30_000)
  assert.equal((await exchange(server, client, code)).json<{ error: string }>().error, 'invalid_grant')
  assert.equal((await userinfo(server, token)).statusCode, 401)
})

test('oidcc-ensure-registered-redirect-uri: a page, and no redirect', async (t) => {
  const server = await openLogin(t)
  const client = await makeClient(server, STATIC)
  const answer = await new PlainBrowser(server).get(plainUrl(client, { redirect_uri: `${REDIRECT_URI}/other` }))
  assert.deepEqual([answer.statusCode, answer.headers.location], [400, undefined])
})

test('oidcc-refresh-token: another client gets invalid_grant, and a refresh gives an ID token of the same user without nonce', async (t) => {
  const server = await openLogin(t)
  const [client, other] = [await makeClient(server, STATIC), await makeClient(server, STATIC)]
  const tokens = await login(server, client, { nonce: 'n', scope: 'openid offline_access' })
  const stolen = await refresh(server, other, tokens.refresh_token ?? '')
  assert.equal(stolen.json<{ error: string }>().error, 'invalid_grant')
  server.clock.advance(2000)
  const [first, second] = [
    idTokenOf(tokens),
    idTokenOf(tokensOf(await refresh(server, client, tokens.refresh_token ?? ''))),
  ]
  for (const name of ['iss', 'sub', 'aud', 'auth_time', 'sid']) assert.deepEqual(second[name], first[name])
  assert.equal(second['nonce'], undefined)
  assert.ok(Number(second.iat) >= Number(first.iat) + 2)
})

test('oidcc-unsigned-request-object-supported-correctly-or-rejected-as-unsupported: request_not_supported', async (t) => {
  const server = await openLogin(t)
  const client = await makeClient(server, STATIC)
  for (const [parameters, error] of [
    [{ request: 'eyJhbGciOiJub25lIn0.e30.' }, 'request_not_supported'],
    [{ request_uri: 'https://app.example/request' }, 'request_uri_not_supported'],
    [{ registration: '{}' }, 'registration_not_supported'],
  ] as const) {
    const answer = answerOf(await new PlainBrowser(server).get(plainUrl(client, parameters)))
    assert.equal(answer.get('error'), error)
  }
})

test('oidcc-unsigned-request-object-supported-correctly-or-rejected-as-unsupported (form post): the refusal comes in the mode of the request object', async (t) => {
  const server = await openLogin(t)
  const client = await makeClient(server, STATIC)
  const object = (payload: unknown) =>
    `eyJhbGciOiJub25lIn0.${Buffer.from(JSON.stringify(payload)).toString('base64url')}.`
  const posted = { request: object({ response_mode: 'form_post' }) }
  for (const parameters of [posted, { ...posted, response_mode: 'form_post' }]) {
    const page = await new PlainBrowser(server).get(plainUrl(client, parameters))
    assert.equal(page.statusCode, 200)
    assert.equal(formAction(page), REDIRECT_URI)
    const { error, state } = hiddenFields(page)
    assert.deepEqual([error, state], ['request_not_supported', 'the-state'])
  }
  const inside = { request: object({ response_mode: 'form_post', state: 'in the object' }), state: '' }
  const page = await new PlainBrowser(server).get(plainUrl(client, inside))
  assert.equal(hiddenFields(page)['state'], 'in the object')
  for (const parameters of [
    { ...posted, response_mode: 'query' },
    ...[{ response_mode: 'query' }, { response_mode: 5 }, {}, null, 'x'].map((payload) => ({
      request: object(payload),
    })),
    { request: 'x.%.y' },
  ]) {
    const answer = answerOf(await new PlainBrowser(server).get(plainUrl(client, parameters)))
    assert.equal(answer.get('error'), 'request_not_supported')
  }
})

test('oidcc-ui-locales, oidcc-claims-locales, oidcc-display-page, oidcc-display-popup, oidcc-login-hint: no error', async (t) => {
  const server = await openLogin(t)
  const client = await makeClient(server, STATIC)
  for (const parameters of [
    { ui_locales: 'de' },
    { claims_locales: 'se' },
    { display: 'page' },
    { display: 'popup' },
    { login_hint: 'ada@acme.test' },
    { extra: 'foobar' },
  ]) {
    const tokens = await login(server, client, { prompt: 'consent', ...parameters })
    assert.equal(idTokenOf(tokens)['acr'], undefined)
  }
})

test('oidcc-ensure-request-with-acr-values-succeeds: acr is one of the requested values, which are two that the metadata offer', async (t) => {
  const server = await openLogin(t)
  const client = await makeClient(server, STATIC)
  const metadata = await bodyOf<{ readonly acr_values_supported: readonly string[] }>(
    server,
    '/.well-known/openid-configuration',
  )
  const offered = metadata.acr_values_supported.slice(0, 2)
  for (const acr_values of [offered.join(' '), offered.toReversed().join(' ')])
    assert.equal(
      idTokenOf(await login(server, client, { prompt: 'consent', acr_values }))['acr'],
      'urn:grantor:acr:1fa',
    )
  assert.equal(
    idTokenOf(await login(server, client, { prompt: 'consent', acr_values: '1 2' }))['acr'],
    'urn:grantor:acr:1fa',
  )
})

test('oidcc-discovery-endpoint-verification: the document has what OpenID Connect requires, with RS256 and openid', async (t) => {
  const server = await openLogin(t, { env: { GRANTOR_ISSUER: 'https://auth.example', GRANTOR_HOST: '127.0.0.1' } })
  const answer = await server.inject({ method: 'GET', url: '/.well-known/openid-configuration' })
  const metadata = answer.json<Record<string, readonly string[]>>()
  for (const name of ['authorization_endpoint', 'token_endpoint', 'userinfo_endpoint', 'jwks_uri'])
    assert.match(String(metadata[name]), /^https:\/\/auth\.example\/v2\/oauth\//)
  assert.deepEqual(metadata['id_token_signing_alg_values_supported'], ['RS256', 'ES256'])
  assert.deepEqual(metadata['subject_types_supported'], ['public'])
  assert.deepEqual(metadata['response_modes_supported'], ['query', 'form_post'])
  assert.deepEqual(metadata['scopes_supported'], ['email', 'openid', 'profile'])
  assert.equal(metadata['request_uri_parameter_supported'], false)
  for (const value of Object.values(metadata)) assert.notEqual(value, null)
})

test('oidcc-formpost-basic-certification-test-plan: response and error are a form that only a script of this page submits', async (t) => {
  const server = await openLogin(t)
  const client = await makeClient(server, STATIC)
  const browser = new PlainBrowser(server)
  const state = `"><script>alert(1)</script></form>'`
  const start = await browser.get(plainUrl(client, { response_mode: 'form_post', state }))
  const consent = await browser.get(locationOf(await signIn(browser, await browser.get(locationOf(start)))))
  const page = await browser.submit(consent, { decision: 'allow' })
  assert.equal(page.statusCode, 200)
  const policy = String(page.headers['content-security-policy'])
  assert.match(policy, /script-src 'sha256-[A-Za-z0-9+/]{43}='; form-action 'self' https:\/\/app\.example;/)
  assert.equal(formAction(page), REDIRECT_URI)
  const fields = hiddenFields(page)
  assert.deepEqual([fields['state'], fields['iss']], [state, server.origin])
  assert.equal(idTokenOf(tokensOf(await exchange(server, client, fields['code'] ?? null)))['nonce'], 'a nonce')
  const refusal = await new PlainBrowser(server).get(plainUrl(client, { response_mode: 'form_post', prompt: 'none' }))
  assert.equal(hiddenFields(refusal)['error'], 'login_required')
  assert.equal(attribute(/<form[^>]*>/.exec(refusal.body)?.[0] ?? '', 'method'), 'post')
  for (const mode of ['fragment', 'jwt']) {
    const answer = answerOf(await new PlainBrowser(server).get(plainUrl(client, { response_mode: mode })))
    assert.equal(answer.get('error'), 'invalid_request')
  }
})

test('PKCE stays required: for every other client, and where a challenge or a verifier is sent', async (t) => {
  const server = await openLogin(t)
  const usual = await makeClient(server)
  const refusal = answerOf(await new PlainBrowser(server).get(plainUrl(usual)))
  assert.equal(refusal.get('error'), 'invalid_request')
  const client = await makeClient(server, STATIC)
  const half = answerOf(await new PlainBrowser(server).get(`${plainUrl(client)}&code_challenge_method=S256`))
  assert.equal(half.get('error'), 'invalid_request')
  const errorOf = async (code: string | null, form: Readonly<Record<string, string>>): Promise<unknown> => {
    const answer = await requestToken(server, client, { grant_type: 'authorization_code', code: code ?? '', ...form })
    return answer.json<{ error?: string }>().error
  }
  const newCode = async (url: string) => (await signInAndAllow(new PlainBrowser(server), url)).searchParams.get('code')
  const bare = await newCode(plainUrl(client))
  assert.equal(await errorOf(bare, {}), 'invalid_grant')
  assert.equal(await errorOf(bare, { redirect_uri: REDIRECT_URI, code_verifier: 'a'.repeat(43) }), 'invalid_grant')
  tokensOf(await exchange(server, client, bare))
  const challenged = await newCode(authorizeUrl(client, { scope: 'openid', prompt: 'consent' }))
  assert.equal(await errorOf(challenged, { redirect_uri: REDIRECT_URI }), 'invalid_grant')
  tokensOf(await redeem(server, client, challenged ?? ''))
  await assert.rejects(makeClient(server, STATIC, { token_endpoint_auth_method: 'none' }), /A public client needs it/)
})
