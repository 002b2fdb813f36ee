import assert from 'node:assert/strict'
import { resolve } from 'node:path'
import { test } from 'node:test'
import { auth, ClientCredentialsProvider, DpopSession } from '@modelcontextprotocol/client'
import { decodeJwt } from 'jose'
import * as oauth from 'oauth4webapi'
import * as openid from 'openid-client'
import { registerClient } from '../../tools/flow.ts'
import { openPerson } from '../../tools/person.ts'
import { freePort } from '../../tools/process/free-ports.ts'
import { startProgram } from '../../tools/process/program.ts'
import { createAda } from '../support/accounts.ts'
import { declareApi, knowApis } from '../support/apis.ts'
import { WHOLE_FILE } from '../support/authorize-answers.ts'
import { openTestServer } from '../support/server.ts'
import { callTool } from './mcp-client.ts'
import { codeOf, linkOf, openOneOfThree } from './mcp-walk.ts'
import { openMemoryProvider } from './memory-provider.ts'

const CALLBACK = 'https://app.example/callback'
const HOUR = 3600

const server = await openTestServer(WHOLE_FILE, { listen: true })
await createAda(server)
const port = await freePort()
const RESOURCE = `http://localhost:${port}/orders`
await declareApi(server, RESOURCE, {}, [
  { name: 'orders:read', sentence: 'Read your orders', grantedTo: 'users-and-machines' },
])
knowApis(server)
// The program of docs/resource-servers.md.
const program = resolve('examples/resource-servers/oauth4webapi/server.js')
const api = await startProgram({
  command: [process.execPath, program],
  folder: server.folder,
  environment: { ISSUER: server.origin, RESOURCE, MCP_PORT: String(port) },
  address: RESOURCE,
})
WHOLE_FILE.after(() => api.stop())

const METADATA = {
  redirect_uris: [CALLBACK],
  grant_types: ['authorization_code', 'refresh_token', 'client_credentials'],
  dpop_bound_access_tokens: true,
}

for (const [method, algorithm] of [
  ['client_secret_basic', 'ES256'],
  ['none', 'Ed25519'],
] as const) {
  test(`DP-02: openid-client 6 with DPoP (${method}, ${algorithm}) gets a code, refreshes, calls an API and reads userinfo`, async () => {
    const metadata = { ...METADATA, token_endpoint_auth_method: method }
    const options: openid.DynamicClientRegistrationRequestOptions = {
      algorithm: 'oauth2',
      execute: [openid.allowInsecureRequests],
    }
    const config = await openid.dynamicClientRegistration(new URL(server.origin), metadata, undefined, options)
    assert.equal(config.clientMetadata()['dpop_bound_access_tokens'], true)
    const DPoP = openid.getDPoPHandle(config, await openid.randomDPoPKeyPair(algorithm))
    const [pkceCodeVerifier, expectedState] = [openid.randomPKCECodeVerifier(), openid.randomState()]
    const link = openid.buildAuthorizationUrl(config, {
      redirect_uri: CALLBACK,
      scope: 'openid email orders:read',
      resource: RESOURCE,
      code_challenge: await openid.calculatePKCECodeChallenge(pkceCodeVerifier),
      code_challenge_method: 'S256',
      state: expectedState,
      dpop_jkt: await DPoP.calculateThumbprint(),
    })
    const callback = await openPerson(server.origin).allow(link)
    const checks = { pkceCodeVerifier, expectedState }
    const tokens = await openid.authorizationCodeGrant(config, callback, checks, undefined, { DPoP })
    assert.equal(tokens.token_type, 'dpop')
    const cnf = { jkt: await DPoP.calculateThumbprint() }
    assert.deepEqual(decodeJwt(tokens.access_token)['cnf'], cnf)
    const fetched = await openid.fetchProtectedResource(
      config,
      tokens.access_token,
      new URL(`${RESOURCE}?page=2`),
      'GET',
      undefined,
      undefined,
      { DPoP },
    )
    assert.equal(fetched.status, 200)
    const refreshed = await openid.refreshTokenGrant(
      config,
      tokens.refresh_token ?? '',
      { resource: server.origin },
      { DPoP },
    )
    assert.deepEqual(decodeJwt(refreshed.access_token)['cnf'], cnf)
    const { sub = '' } = decodeJwt(tokens.access_token)
    const user = await openid.fetchUserInfo(config, refreshed.access_token, sub, { DPoP })
    assert.equal(user.email, 'ada@acme.test')
    await assert.rejects(openid.fetchUserInfo(config, refreshed.access_token, sub), { status: 401 })
  })
}

test('DP-02: oauth4webapi 3 with DPoP and a clock that is an hour off gets a token without a user, and calls an API', async () => {
  const issuer = new URL(server.origin)
  const insecure = { [oauth.allowInsecureRequests]: true } as const
  const discovery = await oauth.discoveryRequest(issuer, { ...insecure, algorithm: 'oauth2' })
  const as = await oauth.processDiscoveryResponse(issuer, discovery)
  assert.deepEqual(as.dpop_signing_alg_values_supported, ['ES256', 'EdDSA', 'Ed25519', 'PS256'])
  const { client_id: id, client_secret: secret = '' } = await registerClient(server, METADATA)
  const party = { client_id: id, [oauth.clockSkew]: -HOUR }
  const DPoP = oauth.DPoP(party, await oauth.generateKeyPair('PS256'))
  const parameters = { resource: RESOURCE, scope: 'orders:read' }
  const ask = () =>
    oauth.clientCredentialsGrantRequest(as, party, oauth.ClientSecretBasic(secret), parameters, { ...insecure, DPoP })
  const first = await ask()
  await assert.rejects(
    oauth.processClientCredentialsResponse(as, party, first),
    (cause) => oauth.isDPoPNonceError(cause) && first.status === 400,
  )
  const tokens = await oauth.processClientCredentialsResponse(as, party, await ask())
  assert.equal(tokens.token_type, 'dpop')
  assert.deepEqual(decodeJwt(tokens.access_token)['cnf'], { jkt: await DPoP.calculateThumbprint() })
  const exact = oauth.DPoP({}, await oauth.generateKeyPair('ES256'))
  const request = (key: oauth.DPoPHandle) =>
    oauth.protectedResourceRequest(tokens.access_token, 'GET', new URL(RESOURCE), undefined, undefined, {
      ...insecure,
      DPoP: key,
    })
  // The program accepts no other key, and no bound token as a bearer token.
  await assert.rejects(request(exact), { status: 401 })
  const bearer = { headers: { authorization: `Bearer ${tokens.access_token}` } }
  assert.equal((await fetch(RESOURCE, bearer)).status, 401)
  for (const text of ['Bearer made-up', 'DPoP a.b.c', 'Bearer', `DPoP ${tokens.access_token}`])
    assert.equal((await fetch(RESOURCE, { headers: { authorization: text } })).status, 401, text)
})

test('DP-02: @modelcontextprotocol/client 2.4 with dpop() signs in, calls a tool and refreshes, with and without a user', async (t) => {
  const { server: issuer, person, resourceServer } = await openOneOfThree(t, undefined)
  const session = await DpopSession.create()
  const provider = { ...openMemoryProvider(), dpop: () => session }
  assert.equal(await auth(provider, { serverUrl: resourceServer.url }), 'REDIRECT')
  const callback = await person.allow(linkOf(provider))
  const iss = callback.searchParams.get('iss') ?? ''
  const redeemed = { serverUrl: resourceServer.url, authorizationCode: codeOf(callback), iss }
  assert.equal(await auth(provider, redeemed), 'AUTHORIZED')
  const cnf = { jkt: session.thumbprint }
  assert.equal(await callTool(provider, resourceServer.url), '7')
  assert.deepEqual(resourceServer.lastClaims()?.['cnf'], cnf)
  resourceServer.refuse(provider.savedTokens()?.access_token ?? '')
  assert.equal(await callTool(provider, resourceServer.url), '7')
  assert.deepEqual([provider.savedTokens()?.token_type, provider.thrownAway], ['DPoP', []])

  // A client that lost its key has to sign in again, and keeps its registration.
  const other = await DpopSession.create()
  const lost = { ...provider, dpop: () => other }
  assert.equal(await auth(lost, { serverUrl: resourceServer.url }), 'REDIRECT')
  assert.deepEqual(provider.thrownAway, ['tokens'])
  assert.ok(provider.savedClient())

  const { client_id: clientId, client_secret: clientSecret = '' } = await registerClient(issuer, METADATA)
  const machine = new ClientCredentialsProvider({ clientId, clientSecret, expectedIssuer: issuer.origin })
  const bound = Object.assign(machine, { dpop: () => session })
  assert.equal(await callTool(bound, resourceServer.url), '7')
  assert.deepEqual(resourceServer.lastClaims()?.['cnf'], cnf)
  assert.equal(resourceServer.lastClaims()?.sub, clientId)
})
