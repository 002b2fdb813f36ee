import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createLocalJWKSet, decodeProtectedHeader, jwtVerify, type JSONWebKeySet, type JWTPayload } from 'jose'
import {
  authorizeUrl,
  PlainBrowser,
  redeem,
  signInAndAllow,
  EMAIL,
  obtainTokens,
  refresh,
  registerClient,
  requestToken,
  type Tokens,
} from '../../../tools/flow.ts'
import { createAda } from '../../support/accounts.ts'
import { openTestServer, type TestServer } from '../../support/server.ts'

const API = 'https://api.example'
const LIFETIME = { env: { GRANTOR_ACCESS_TOKEN_LIFETIME: '300' } }

/** The claims of a token, checked as an API would check it. */
async function verify(server: TestServer, token: string, audience: string | string[]): Promise<JWTPayload> {
  const keys = (await server.inject({ method: 'GET', url: '/v2/oauth/jwks' })).json<JSONWebKeySet>()
  const options = { issuer: server.origin, audience, typ: 'at+jwt', algorithms: ['ES256'], clockTolerance: 1 }
  const { payload } = await jwtVerify(token, createLocalJWKSet(keys), options)
  return payload
}

test('TOK-17: the header has at+jwt, a published key and its algorithm, and no key reference to another place', async (t) => {
  const server = await openTestServer(t)
  const client = await registerClient(server)
  const { access_token } = (await requestToken(server, client, { grant_type: 'client_credentials' })).json<Tokens>()
  const { kid, ...header } = decodeProtectedHeader(access_token)
  assert.deepEqual(header, { alg: 'ES256', typ: 'at+jwt' })
  const { keys } = (await server.inject({ method: 'GET', url: '/v2/oauth/jwks' })).json<JSONWebKeySet>()
  assert.ok(keys.some((key) => key.kid === kid && key.alg === 'ES256'))
})

test('TOK-17: a token with a user has the user, the client, the grant, the API and the scope', async (t) => {
  const server = await openTestServer(t, LIFETIME)
  await createAda(server)
  const client = await registerClient(server, { scope: 'read write' })
  const tokens = await obtainTokens(server, client, { scope: 'read', resource: API })
  const { iat = 0, exp = 0, jti, grant_id, ...claims } = await verify(server, tokens.access_token, API)
  const user = await server.context.store.findUserByEmail(EMAIL)
  assert.deepEqual(claims, { iss: server.origin, aud: API, sub: user?.id, client_id: client.client_id, scope: 'read' })
  assert.ok(typeof jti === 'string' && jti.length >= 22)
  assert.equal(typeof grant_id, 'string')
  assert.equal(exp - iat, 300)
  assert.equal(tokens.expires_in, 300)
})

test('TOK-17: a token without a user has only the client as its subject', async (t) => {
  const server = await openTestServer(t, LIFETIME)
  const client = await registerClient(server)
  const { access_token } = (await requestToken(server, client, { grant_type: 'client_credentials' })).json<Tokens>()
  const { iat = 0, exp = 0, jti, ...claims } = await verify(server, access_token, server.origin)
  const id = client.client_id
  assert.deepEqual(claims, { iss: server.origin, aud: server.origin, sub: id, client_id: id })
  assert.ok(typeof jti === 'string' && exp - iat === 300)
})

test('TOK-17: a token for several APIs lists them, and a narrowed token lists one', async (t) => {
  const server = await openTestServer(t)
  await createAda(server)
  const client = await registerClient(server)
  const url = `${authorizeUrl(client, { resource: API })}&resource=${encodeURIComponent('https://b.example')}`
  const answer = await signInAndAllow(new PlainBrowser(server), url)
  const tokens = (await redeem(server, client, answer.searchParams.get('code') ?? '')).json<Tokens>()
  assert.deepEqual((await verify(server, tokens.access_token, API)).aud, [API, 'https://b.example'])
  const narrowed = await refresh(server, client, tokens.refresh_token ?? '', { resource: `${API}/` })
  assert.equal((await verify(server, narrowed.json<Tokens>().access_token, API)).aud, API)
})

test('decision 0005: no access token expires after its grant', async (t) => {
  const env = { GRANTOR_REFRESH_ABSOLUTE_LIFETIME: '400', GRANTOR_ACCESS_TOKEN_LIFETIME: '300' }
  const server = await openTestServer(t, { env })
  await createAda(server)
  const client = await registerClient(server)
  const first = await obtainTokens(server, client)
  const { iat: begun = 0 } = await verify(server, first.access_token, server.origin)
  server.clock.advance(250_000)
  const later = (await refresh(server, client, first.refresh_token ?? '')).json<Tokens>()
  const [, claims = ''] = later.access_token.split('.')
  const { exp = 0 } = JSON.parse(Buffer.from(claims, 'base64url').toString()) as JWTPayload
  assert.ok(Math.abs(exp - begun - 400) <= 1, String(exp - begun))
  assert.ok(later.expires_in <= 150 && later.expires_in > 140)
})
