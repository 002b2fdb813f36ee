import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import * as client from 'openid-client'
import { createInitialToken } from '../../src/admin/client/initial-token.ts'
import { DEFAULT_RULES } from '../../src/protocol/client/policy.ts'
import { DEFAULT_TEMPLATE } from '../../src/protocol/client/registration-template.ts'
import { createClient } from '../../src/admin/client/metadata.ts'
import { AUTHORIZATION_FAULTS } from '../../src/protocol/authorization/request.ts'
import { ID_TOKEN_ALGORITHMS } from '../../src/protocol/openid/id-token.ts'
import { NO_SCOPE } from '../../src/protocol/token/scope.ts'
import { createAda } from '../support/accounts.ts'
import { cryptoKey } from '../support/key-clients.ts'
import { EMAIL, PASSWORD } from '../../tools/flow.ts'
import { freePort } from '../../tools/process/free-ports.ts'
import { execute } from '../support/store/dump.ts'
import { perform } from '../support/tasks.ts'
import { openTestServer, type TestServer } from '../support/server.ts'
import { openPerson } from '../../tools/person.ts'

const CALLBACK = 'https://app.example/callback'
const SIGNED_OUT = 'https://app.example/signed-out'
/** The library's documented options for a client that uses OAuth alone, and in development for an issuer without https. */
const OPTIONS: client.DiscoveryRequestOptions = { algorithm: 'oauth2', execute: [client.allowInsecureRequests] }

test('openid-client 6: discovers, registers, gets a response with code and issuer, redeems and refreshes', async (t) => {
  const { server, config } = await register(t, { token_endpoint_auth_method: 'client_secret_post' }, undefined)
  await useCodeFlow(server, config)
})

for (const [method, authentication] of [
  ['client_secret_post', client.ClientSecretPost],
  ['client_secret_basic', client.ClientSecretBasic],
] as const) {
  test(`WAY-05: openid-client 6 uses the code flow with a client that an administrator created for ${method}`, async (t) => {
    const server = await openTestServer(t, { listen: true, env: { GRANTOR_REGISTRATION: 'closed' } })
    await createAda(server)
    const metadata = { client_name: 'Notes', redirect_uris: [CALLBACK], token_endpoint_auth_method: method }
    const input = { metadata, rules: DEFAULT_RULES, approvedScope: NO_SCOPE } as const
    const { client: created, secret = '' } = await createClient(server.context, input)
    const config = await client.discovery(new URL(server.origin), created.id, {}, authentication(secret), OPTIONS)
    assert.equal(config.serverMetadata().registration_endpoint, undefined)
    await useCodeFlow(server, config)
  })
}

for (const algorithm of ID_TOKEN_ALGORITHMS) {
  test(`OpenID Connect Core 1.0: openid-client 6 signs a user in with ${algorithm}, reads userinfo, and refreshes`, async (t) => {
    const server = await openTestServer(t, { listen: true })
    await createAda(server)
    const metadata = {
      client_name: 'Notes',
      redirect_uris: [CALLBACK],
      id_token_signed_response_alg: algorithm,
      post_logout_redirect_uris: [SIGNED_OUT],
    }
    const input = { metadata, rules: DEFAULT_RULES, approvedScope: NO_SCOPE } as const
    const { client: created, secret = '' } = await createClient(server.context, input)
    const options = { execute: [client.allowInsecureRequests, client.enableNonRepudiationChecks] }
    const known = { id_token_signed_response_alg: algorithm }
    const basic = client.ClientSecretBasic(secret)
    const config = await client.discovery(new URL(server.origin), created.id, known, basic, options)
    const [verifier, nonce, state] = [client.randomPKCECodeVerifier(), client.randomNonce(), client.randomState()]
    const link = client.buildAuthorizationUrl(config, {
      redirect_uri: CALLBACK,
      scope: 'openid profile email',
      code_challenge: await client.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
      max_age: '600',
      nonce,
      state,
    })
    const person = openPerson(server.origin)
    const callback = await person.allow(link)
    const checks = { pkceCodeVerifier: verifier, expectedNonce: nonce, expectedState: state, maxAge: 600 }
    const tokens = await client.authorizationCodeGrant(config, callback, checks)
    const { sub = '' } = tokens.claims() ?? {}
    const user = await client.fetchUserInfo(config, tokens.access_token, sub)
    assert.deepEqual([user.name, user.email, user.email_verified], ['Ada', EMAIL, false])
    const refreshed = await client.refreshTokenGrant(config, tokens.refresh_token ?? '')
    assert.equal(refreshed.claims()?.sub, sub)
    const again = await person.allow(link)
    const wrong = client.authorizationCodeGrant(config, again, { ...checks, expectedNonce: 'another' })
    await assert.rejects(wrong, { code: 'OAUTH_JWT_CLAIM_COMPARISON_FAILED' })
    const hint = { id_token_hint: tokens.id_token ?? '', post_logout_redirect_uri: SIGNED_OUT, state }
    const left = await person.visit(client.buildEndSessionUrl(config, hint))
    assert.equal(left.url.href, `${SIGNED_OUT}?state=${state}`)
    assert.match((await person.visit(link)).body, /type="password"/)
  })
}

test('OpenID Connect Core 1.0: openid-client 6 signs a user in with a nonce and without PKCE, as the server permits by default', async (t) => {
  const server = await openTestServer(t, { listen: true })
  await createAda(server)
  const metadata = { client_name: 'Notes', redirect_uris: [CALLBACK] }
  const input = { metadata, rules: { consent: 'asked', claims: 'userinfo' }, approvedScope: NO_SCOPE } as const
  const { client: created, secret = '' } = await createClient(server.context, input)
  const basic = client.ClientSecretBasic(secret)
  const config = await client.discovery(new URL(server.origin), created.id, {}, basic, OPTIONS)
  const nonce = client.randomNonce()
  const link = client.buildAuthorizationUrl(config, { redirect_uri: CALLBACK, scope: 'openid', nonce })
  const callback = await openPerson(server.origin).allow(link)
  const tokens = await client.authorizationCodeGrant(config, callback, { expectedNonce: nonce })
  assert.match(tokens.claims()?.sub ?? '', /^gus_/)
})

test('PAR-01, DP-08: openid-client 6 pushes its request with a proof, signs a user in, and only its key redeems the code', async (t) => {
  const { server, config } = await register(t, {}, undefined)
  const key = client.getDPoPHandle(config, await client.randomDPoPKeyPair('ES256'))
  const [verifier, nonce, state] = [client.randomPKCECodeVerifier(), client.randomNonce(), client.randomState()]
  const usual = { redirect_uri: CALLBACK, scope: 'openid email', code_challenge_method: 'S256', nonce, state }
  const request = { ...usual, code_challenge: await client.calculatePKCECodeChallenge(verifier) }
  const link = await client.buildAuthorizationUrlWithPAR(config, request, { DPoP: key })
  assert.deepEqual([...link.searchParams.keys()].toSorted(), ['client_id', 'request_uri'])
  const callback = await openPerson(server.origin).allow(link)
  const checks = { pkceCodeVerifier: verifier, expectedNonce: nonce, expectedState: state }
  const other = client.getDPoPHandle(config, await client.randomDPoPKeyPair('ES256'))
  for (const DPoP of [other, undefined])
    await assert.rejects(
      client.authorizationCodeGrant(config, callback, checks, undefined, DPoP === undefined ? {} : { DPoP }),
      { error: 'invalid_grant' },
    )
  const tokens = await client.authorizationCodeGrant(config, callback, checks, undefined, { DPoP: key })
  assert.equal(tokens.token_type, 'dpop')
  const { sub = '' } = tokens.claims() ?? {}
  assert.equal((await client.fetchUserInfo(config, tokens.access_token, sub, { DPoP: key })).email, EMAIL)
})

test('OpenID Connect Core 1.0 §3.1.2.6: openid-client 6 renews silently, and reads the error of prompt=none', async (t) => {
  const { server, config } = await register(t, { token_endpoint_auth_method: 'none' }, client.None())
  const verifier = client.randomPKCECodeVerifier()
  const code_challenge = await client.calculatePKCECodeChallenge(verifier)
  const usual = { redirect_uri: CALLBACK, scope: 'openid', code_challenge, code_challenge_method: 'S256' }
  const silent = client.buildAuthorizationUrl(config, { ...usual, prompt: 'none' })
  const person = openPerson(server.origin)
  const redeem = (callback: URL) => client.authorizationCodeGrant(config, callback, { pkceCodeVerifier: verifier })
  await redeem(await person.allow(client.buildAuthorizationUrl(config, usual)))
  assert.ok((await redeem((await person.visit(silent)).url)).id_token)
  // The grant is left, as after an answer of the operator's application that is not to be remembered.
  execute(server, 'delete from consents')
  await assert.rejects(redeem((await person.visit(silent)).url), { error: 'consent_required' })
  const { url, status } = await openPerson(server.origin).visit(silent)
  assert.deepEqual([url.origin, status], [server.origin, 400])
})

test('RFC 9207 §2.4: openid-client 6 refuses an authorization response with another issuer', async (t) => {
  const { server, config } = await register(t, {}, undefined)
  const verifier = client.randomPKCECodeVerifier()
  const link = client.buildAuthorizationUrl(config, {
    redirect_uri: CALLBACK,
    code_challenge: await client.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
  })
  const callback = await openPerson(server.origin).allow(link)
  callback.searchParams.set('iss', 'https://other.example')
  await assert.rejects(client.authorizationCodeGrant(config, callback, { pkceCodeVerifier: verifier }), {
    code: 'OAUTH_INVALID_RESPONSE',
  })
  callback.searchParams.delete('iss')
  await assert.rejects(client.authorizationCodeGrant(config, callback, { pkceCodeVerifier: verifier }), {
    code: 'OAUTH_INVALID_RESPONSE',
  })
})

test('RFC 6749 §4.1.2.1: openid-client 6 reports a denial as access_denied', async (t) => {
  const { server, config } = await register(t, {}, undefined)
  const verifier = client.randomPKCECodeVerifier()
  const link = client.buildAuthorizationUrl(config, {
    redirect_uri: CALLBACK,
    code_challenge: await client.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
  })
  const callback = await openPerson(server.origin).deny(link)
  await assert.rejects(client.authorizationCodeGrant(config, callback, { pkceCodeVerifier: verifier }), {
    error: 'access_denied',
  })
})

test('ACS-02: openid-client 6 reads the reason of access_denied after the page that says why an access rule leaves nothing', async (t) => {
  const { server, config } = await register(t, {}, undefined)
  await perform(server.context, 'access-rule.create', { rule_id: 'r', clients: ['unverified'], sentence: 'Not here' })
  const verifier = client.randomPKCECodeVerifier()
  const link = client.buildAuthorizationUrl(config, {
    redirect_uri: CALLBACK,
    code_challenge: await client.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
  })
  const person = openPerson(server.origin)
  const page = await person.submit(await person.visit(link), { email: EMAIL, password: PASSWORD })
  assert.match(page.body, /Not here/)
  const { url } = await person.submit(page, { decision: 'deny' })
  await assert.rejects(client.authorizationCodeGrant(config, url, { pkceCodeVerifier: verifier }), {
    error: 'access_denied',
    error_description: AUTHORIZATION_FAULTS.access_rule,
  })
})

for (const [method, authentication] of [
  ['client_secret_post', client.ClientSecretPost],
  ['client_secret_basic', client.ClientSecretBasic],
] as const) {
  test(`openid-client 6: a client without a user gets a token with ${method}`, async (t) => {
    const { config } = await register(
      t,
      { token_endpoint_auth_method: method, grant_types: ['client_credentials'], response_types: [] },
      authentication(),
    )
    const tokens = await client.clientCredentialsGrant(config, { scope: 'notes:read' })
    assert.equal(tokens.token_type, 'bearer')
    assert.equal(tokens.scope, 'notes:read')
    assert.equal(tokens.refresh_token, undefined)
  })
}

for (const algorithm of ['ES256', 'EdDSA', 'PS256', 'RS256'] as const) {
  test(`CA-01: openid-client 6 gets, introspects and revokes a token with ${algorithm} assertions`, async (t) => {
    const { privateKey, jwk } = await cryptoKey(algorithm)
    const { config } = await register(
      t,
      { token_endpoint_auth_method: 'private_key_jwt', jwks: { keys: [jwk] }, grant_types: ['client_credentials'] },
      client.PrivateKeyJwt({ key: privateKey, kid: 'one' }),
    )
    assert.equal(config.clientMetadata().client_secret, undefined)
    const { access_token: token } = await client.clientCredentialsGrant(config, { scope: 'notes:read' })
    assert.equal((await client.tokenIntrospection(config, token)).active, true)
    await client.tokenRevocation(config, token)
    assert.equal((await client.tokenIntrospection(config, token)).active, false)
  })
}

test('RFC 8414 §3.1: openid-client 6 finds an issuer with a path', async (t) => {
  const port = await freePort()
  const issuer = `http://localhost:${port}/tenants/one`
  await openTestServer(t, { listen: true, env: { PORT: String(port), GRANTOR_ISSUER: issuer } })
  const config = await client.discovery(new URL(issuer), 'anybody', undefined, undefined, OPTIONS)
  assert.equal(config.serverMetadata().issuer, issuer)
  assert.equal(config.serverMetadata().token_endpoint, `${issuer}/v2/oauth/token`)
})

test('RFC 6749 §5.2: openid-client 6 reports the error for an unknown refresh token', async (t) => {
  const { config } = await register(t, {}, undefined)
  await assert.rejects(client.refreshTokenGrant(config, 'made-up'), { error: 'invalid_grant', status: 400 })
})

test('RFC 7591 §3: openid-client 6 registers with an initial access token, and is refused without one', async (t) => {
  const server = await openTestServer(t, { listen: true, env: { GRANTOR_REGISTRATION: 'token' } })
  const input = { name: 'A pipeline', uses: 1, days: 1, template: DEFAULT_TEMPLATE }
  const { token } = await createInitialToken(server.context, input)
  const metadata = { grant_types: ['client_credentials'], response_types: [], client_name: 'Robots' }
  const registration = (initialAccessToken?: string): Promise<client.Configuration> =>
    client.dynamicClientRegistration(new URL(server.origin), metadata, undefined, {
      ...OPTIONS,
      ...(initialAccessToken === undefined ? {} : { initialAccessToken }),
    })
  await assert.rejects(registration(), { code: 'OAUTH_WWW_AUTHENTICATE_CHALLENGE', status: 401 })
  const config = await registration(token)
  const tokens = await client.clientCredentialsGrant(config, { scope: 'notes:read' })
  assert.equal(tokens.scope, 'notes:read')
  await assert.rejects(registration(token), { code: 'OAUTH_WWW_AUTHENTICATE_CHALLENGE', status: 401 })
})

/** Signs in, allows, redeems and refreshes. */
async function useCodeFlow(server: TestServer, config: client.Configuration): Promise<void> {
  const verifier = client.randomPKCECodeVerifier()
  const state = client.randomState()
  const link = client.buildAuthorizationUrl(config, {
    redirect_uri: CALLBACK,
    scope: 'notes:read notes:write',
    resource: 'https://notes.example',
    code_challenge: await client.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
    state,
  })
  const callback = await openPerson(server.origin).allow(link)
  assert.equal(callback.searchParams.get('iss'), server.origin)
  const tokens = await client.authorizationCodeGrant(config, callback, {
    pkceCodeVerifier: verifier,
    expectedState: state,
  })
  assert.equal(tokens.scope, 'notes:read notes:write')
  // The rest of 900 seconds at the time of the call.
  const secondsLeft = tokens.expiresIn() ?? 0
  assert.ok(secondsLeft > 840 && secondsLeft <= 900, String(secondsLeft))
  assert.ok(tokens.refresh_token)
  const refreshed = await client.refreshTokenGrant(config, tokens.refresh_token, { scope: 'notes:read' })
  assert.equal(refreshed.scope, 'notes:read')
  assert.notEqual(refreshed.refresh_token, tokens.refresh_token)
}

async function register(
  t: TestContext,
  metadata: Partial<client.ClientMetadata>,
  authentication: client.ClientAuth | undefined,
): Promise<{ server: TestServer; config: client.Configuration }> {
  const server = await openTestServer(t, { listen: true })
  await createAda(server)
  const config = await client.dynamicClientRegistration(
    new URL(server.origin),
    {
      redirect_uris: [CALLBACK],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      client_name: 'Notes for Ada',
      ...metadata,
    },
    authentication,
    OPTIONS,
  )
  return { server, config }
}
