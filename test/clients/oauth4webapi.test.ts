import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import * as oauth from 'oauth4webapi'
import { createAda } from '../support/accounts.ts'
import { cryptoKey } from '../support/key-clients.ts'
import { openTestServer, type TestServer } from '../support/server.ts'
import { openPerson } from '../../tools/person.ts'

const CALLBACK = 'https://app.example/callback'
const RESOURCE = 'https://notes.example/api'
/** The library's documented option for an issuer without https in development. */
const INSECURE = { [oauth.allowInsecureRequests]: true } as const

test('RFC 9068 §4: oauth4webapi accepts an access token as a JWT for its audience, and for no other', async (t) => {
  const party = await register(t, {})
  const { access_token: token } = await obtainTokens(party)
  const claims = await validate(party, token, RESOURCE)
  assert.equal(claims.client_id, party.client.client_id)
  assert.equal(claims.scope, 'notes:read')
  assert.match(claims.sub, /^gus_/)
  await assert.rejects(validate(party, token, 'https://other.example'), /"aud" \(audience\)/)
})

test('oauth4webapi 3: a refresh gives another valid access token and another refresh token', async (t) => {
  const party = await register(t, {})
  const first = await obtainTokens(party)
  const { server, client, authentication } = party
  assert.ok(first.refresh_token)
  const response = await oauth.refreshTokenGrantRequest(server, client, authentication, first.refresh_token, INSECURE)
  const second = await oauth.processRefreshTokenResponse(server, client, response)
  assert.notEqual(second.refresh_token, first.refresh_token)
  await validate(party, second.access_token, RESOURCE)
})

test('oauth4webapi 3: a public client completes the same flow without a secret', async (t) => {
  const party = await register(t, { token_endpoint_auth_method: 'none' })
  const { access_token: token } = await obtainTokens(party)
  await validate(party, token, RESOURCE)
})

test('oauth4webapi 3: a client without a user gets a token for itself', async (t) => {
  const party = await register(t, { grant_types: ['client_credentials'], response_types: [] })
  const { server, client, authentication } = party
  const parameters = new URLSearchParams({ scope: 'notes:read', resource: RESOURCE })
  const response = await oauth.clientCredentialsGrantRequest(server, client, authentication, parameters, INSECURE)
  const { access_token: token } = await oauth.processClientCredentialsResponse(server, client, response)
  assert.equal((await validate(party, token, RESOURCE)).sub, client.client_id)
})

for (const algorithm of ['ES256', 'EdDSA', 'PS256', 'RS256'] as const) {
  test(`CA-01: oauth4webapi 3 completes the flow with ${algorithm} assertions, and refreshes`, async (t) => {
    const { privateKey, jwk } = await cryptoKey(algorithm)
    const method = { token_endpoint_auth_method: 'private_key_jwt', jwks: { keys: [jwk] } }
    const party = { ...(await register(t, method)), authentication: oauth.PrivateKeyJwt(privateKey) }
    const { server, client, authentication } = party
    const first = await obtainTokens(party)
    const token = first.refresh_token ?? ''
    const response = await oauth.refreshTokenGrantRequest(server, client, authentication, token, INSECURE)
    const { access_token: second } = await oauth.processRefreshTokenResponse(server, client, response)
    assert.equal((await validate(party, second, RESOURCE)).client_id, client.client_id)
  })
}

test('PAR-01: oauth4webapi 3 pushes its request, with an assertion and as a public client', async (t) => {
  const { privateKey, jwk } = await cryptoKey('ES256')
  const method = { token_endpoint_auth_method: 'private_key_jwt', jwks: { keys: [jwk] } }
  const keyed = { ...(await register(t, method)), authentication: oauth.PrivateKeyJwt(privateKey) }
  for (const party of [keyed, await register(t, { token_endpoint_auth_method: 'none' })]) {
    const { issuer, server, client, authentication } = party
    const verifier = oauth.generateRandomCodeVerifier()
    const request = await requestOf(client, verifier)
    const response = await oauth.pushedAuthorizationRequest(server, client, authentication, request, INSECURE)
    const { request_uri: uri } = await oauth.processPushedAuthorizationResponse(server, client, response)
    const link = new URL(server.authorization_endpoint ?? '')
    link.search = new URLSearchParams({ client_id: client.client_id, request_uri: uri }).toString()
    const { access_token: token } = await redeem(party, await openPerson(issuer.origin).allow(link), verifier)
    await validate(party, token, RESOURCE)
  }
})

test('RFC 6749 §5.2: oauth4webapi reports invalid_grant for a code that was used before', async (t) => {
  const party = await register(t, {})
  const { callback, verifier } = await obtainCode(party)
  await redeem(party, callback, verifier)
  await assert.rejects(redeem(party, callback, verifier), { error: 'invalid_grant', status: 400 })
})

test('RFC 6749 §5.2: oauth4webapi parses the challenge for a wrong secret in the header', async (t) => {
  const { server, client } = await register(t, { grant_types: ['client_credentials'], response_types: [] })
  const wrong = oauth.ClientSecretBasic('wrong')
  const response = await oauth.clientCredentialsGrantRequest(server, client, wrong, {}, INSECURE)
  await assert.rejects(
    oauth.processClientCredentialsResponse(server, client, response),
    (cause) => cause instanceof oauth.WWWAuthenticateChallengeError && cause.cause[0]?.scheme === 'basic',
  )
})

test('RFC 9207 §2.4: oauth4webapi accepts the issuer of the authorization response, and refuses another or none', async (t) => {
  const party = await register(t, {})
  const { callback } = await obtainCode(party)
  const { server, client } = party
  callback.searchParams.set('iss', 'https://other.example')
  assert.throws(() => oauth.validateAuthResponse(server, client, callback, 'the-state'), /"iss"/)
  callback.searchParams.delete('iss')
  assert.throws(() => oauth.validateAuthResponse(server, client, callback, 'the-state'), /"iss"/)
})

test('OpenID Connect Core 1.0: oauth4webapi 3 checks the ID token with its signature, and the userinfo response', async (t) => {
  const { issuer, server, client, authentication } = await register(t, { id_token_signed_response_alg: 'ES256' })
  const own: oauth.Client = { ...client, id_token_signed_response_alg: 'ES256', require_auth_time: true }
  const [verifier, nonce] = [oauth.generateRandomCodeVerifier(), oauth.generateRandomNonce()]
  const link = new URL(server.authorization_endpoint ?? '')
  link.search = new URLSearchParams({
    response_type: 'code',
    client_id: client.client_id,
    redirect_uri: CALLBACK,
    scope: 'openid email',
    code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
    nonce,
  }).toString()
  const callback = await openPerson(issuer.origin).allow(link)
  const parameters = oauth.validateAuthResponse(server, own, callback)
  const grant = [server, own, authentication, parameters, CALLBACK, verifier, INSECURE] as const
  const response = await oauth.authorizationCodeGrantRequest(...grant)
  const options = { expectedNonce: nonce, requireIdToken: true }
  const tokens = await oauth.processAuthorizationCodeResponse(server, own, response, options)
  await oauth.validateApplicationLevelSignature(server, response, INSECURE)
  const { sub = '' } = oauth.getValidatedIdTokenClaims(tokens) ?? {}
  const userinfo = await oauth.userInfoRequest(server, own, tokens.access_token, INSECURE)
  const user = await oauth.processUserInfoResponse(server, own, sub, userinfo)
  assert.equal(user.email, 'ada@acme.test')
})

interface Party {
  readonly issuer: TestServer
  readonly server: oauth.AuthorizationServer
  readonly client: oauth.Client
  readonly authentication: oauth.ClientAuth
}

/** Discovers the server and registers a client with the metadata. */
async function register(t: TestContext, metadata: Partial<oauth.Client>): Promise<Party> {
  const issuer = await openTestServer(t, { listen: true })
  await createAda(issuer)
  const url = new URL(issuer.origin)
  const discovery = await oauth.discoveryRequest(url, { ...INSECURE, algorithm: 'oauth2' })
  const server = await oauth.processDiscoveryResponse(url, discovery)
  const response = await oauth.dynamicClientRegistrationRequest(
    server,
    {
      redirect_uris: [CALLBACK],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: 'client_secret_basic',
      ...metadata,
    },
    INSECURE,
  )
  const registered = await oauth.processDynamicClientRegistrationResponse(response)
  const { client_secret: secret } = registered
  const authentication = typeof secret === 'string' ? oauth.ClientSecretBasic(secret) : oauth.None()
  return { issuer, server, client: { client_id: registered.client_id }, authentication }
}

async function obtainCode({ issuer, server, client }: Party): Promise<{ callback: URL; verifier: string }> {
  const verifier = oauth.generateRandomCodeVerifier()
  const link = new URL(server.authorization_endpoint ?? '')
  link.search = (await requestOf(client, verifier)).toString()
  return { callback: await openPerson(issuer.origin).allow(link), verifier }
}

async function requestOf(client: oauth.Client, verifier: string): Promise<URLSearchParams> {
  return new URLSearchParams({
    response_type: 'code',
    client_id: client.client_id,
    redirect_uri: CALLBACK,
    scope: 'notes:read',
    resource: RESOURCE,
    state: 'the-state',
    code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
  })
}

async function redeem(
  { server, client, authentication }: Party,
  callback: URL,
  verifier: string,
): Promise<oauth.TokenEndpointResponse> {
  const parameters = oauth.validateAuthResponse(server, client, callback, 'the-state')
  const response = await oauth.authorizationCodeGrantRequest(
    server,
    client,
    authentication,
    parameters,
    CALLBACK,
    verifier,
    INSECURE,
  )
  return oauth.processAuthorizationCodeResponse(server, client, response)
}

async function obtainTokens(party: Party): Promise<oauth.TokenEndpointResponse> {
  const { callback, verifier } = await obtainCode(party)
  return redeem(party, callback, verifier)
}

/** Checks a request with the token as a resource server does. */
function validate({ server }: Party, token: string, audience: string): Promise<oauth.JWTAccessTokenClaims> {
  const request = new Request(audience, { headers: { authorization: `Bearer ${token}` } })
  return oauth.validateJwtAccessToken(server, request, audience, INSECURE)
}
