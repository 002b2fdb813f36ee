import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createRemoteJWKSet, jwtVerify } from 'jose'
import { registerClient, requestToken, type Tokens } from '../../tools/flow.ts'
import { openTestServer } from '../support/server.ts'

const RESOURCE = 'https://notes.example/api'

test('RFC 9068 §2: jose verifies an access token with the key set, and its type, issuer and audience', async (t) => {
  const server = await openTestServer(t, { listen: true })
  const client = await registerClient(server)
  const response = await requestToken(server, client, { grant_type: 'client_credentials', resource: RESOURCE })
  const { access_token: token } = response.json<Tokens>()
  const keys = createRemoteJWKSet(new URL(`${server.origin}/v2/oauth/jwks`))
  const expected = { issuer: server.origin, audience: RESOURCE, typ: 'at+jwt', algorithms: ['ES256'] }
  const { payload } = await jwtVerify(token, keys, { ...expected, requiredClaims: ['sub', 'jti', 'client_id', 'iat'] })
  assert.equal(payload.sub, client.client_id)
  await assert.rejects(jwtVerify(token, keys, { ...expected, audience: 'https://other.example' }), {
    claim: 'aud',
  })
  await assert.rejects(jwtVerify(token, keys, { ...expected, typ: 'JWT' }), { claim: 'typ' })
})
