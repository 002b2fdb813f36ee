import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createLocalJWKSet, decodeProtectedHeader, jwtVerify, type JSONWebKeySet, type JWTVerifyOptions } from 'jose'
import { SERVER_TOKENS } from '../../../src/admin/api/api.ts'
import { requireApi, updateApi } from '../../../src/admin/api/api.ts'
import {
  mintApiCredentialId,
  mintClientId,
  mintOrganizationId,
  mintUserId,
  parseClientId,
} from '../../../src/protocol/ids.ts'
import { parseResource } from '../../../src/protocol/token/resource.ts'
import { createAda } from '../../support/accounts.ts'
import { obtainTokens, redeem, refresh, registerClient, requestToken } from '../../../tools/flow.ts'
import { assertError } from '../../support/error-answer.ts'
import { openTestServer } from '../../support/server.ts'
import { declareApi, JWT_API, knowApis, obtainCodeFor } from '../../support/apis.ts'
import { tokensOf } from '../../support/token-answers.ts'
import { WHOLE_FILE } from '../../support/authorize-answers.ts'
import { introspect } from '../../support/token-questions.ts'

/** An API whose verifier accepts nothing but `typ: JWT`. */
const PLAIN_API = 'https://plain.example'

const server = await openTestServer(WHOLE_FILE)
await createAda(server)
await declareApi(server, JWT_API)
const plainApi = await declareApi(server, PLAIN_API, { jwtType: 'JWT' })
knowApis(server)
const keys = createLocalJWKSet((await server.inject({ method: 'GET', url: '/v2/oauth/jwks' })).json<JSONWebKeySet>())

/** Whether a verifier of this API that knows nothing of Grantor but its issuer and its keys accepts the token. */
async function accepts(token: string, options: JWTVerifyOptions): Promise<boolean> {
  return jwtVerify(token, keys, { issuer: server.origin, currentDate: new Date(server.clock.now()), ...options }).then(
    () => true,
    () => false,
  )
}

const typeOf = (token: string): string | undefined => decodeProtectedHeader(token).typ

test('INT-10: an API that requires typ JWT gets it by all three grant types, and can introspect the token', async () => {
  const client = await registerClient(server, { scope: 'read' })
  const tokens = await obtainTokens(server, client, { scope: 'read', resource: PLAIN_API })
  const refreshed = tokensOf(await refresh(server, client, tokens.refresh_token ?? ''))
  const machine = tokensOf(
    await requestToken(server, client, { grant_type: 'client_credentials', resource: PLAIN_API, scope: 'read' }),
  )
  for (const { access_token: token } of [tokens, refreshed, machine]) {
    assert.equal(typeOf(token), 'JWT')
    assert.equal(await accepts(token, { typ: 'JWT', audience: PLAIN_API }), true)
    assert.equal((await introspect(server, plainApi, token)).json().active, true)
  }
})

test('INT-10: an API with typ JWT rejects tokens for another API or the issuer, and the reverse', async () => {
  const client = await registerClient(server, { scope: 'read' })
  const grant = { grant_type: 'client_credentials', scope: 'read' }
  const [plain, other] = await Promise.all(
    [PLAIN_API, JWT_API].map(async (resource) => tokensOf(await requestToken(server, client, { ...grant, resource }))),
  )
  const issuer = tokensOf(await requestToken(server, client, { grant_type: 'client_credentials' }))
  for (const token of [other?.access_token ?? '', issuer.access_token]) {
    assert.equal(typeOf(token), 'at+jwt')
    assert.equal(await accepts(token, { typ: 'JWT' }), false)
    assert.equal(await accepts(token, { audience: PLAIN_API }), false)
    assert.deepEqual((await introspect(server, plainApi, token)).json(), { active: false })
  }
  assert.equal(await accepts(plain?.access_token ?? '', { typ: 'at+jwt' }), false)
  assert.equal(await accepts(plain?.access_token ?? '', { audience: JWT_API }), false)
  assert.equal(await accepts(plain?.access_token ?? '', { audience: server.origin }), false)
})

test('INT-10: one token cannot be for two APIs with different types, and the code is not redeemed', async () => {
  const client = await registerClient(server)
  const code = await obtainCodeFor(server, client, [JWT_API, PLAIN_API])
  assertError(await redeem(server, client, code), 400, 'invalid_target')
  const { access_token: token } = tokensOf(await redeem(server, client, code, { resource: PLAIN_API }))
  assert.equal(typeOf(token), 'JWT')
})

test('after an API changes to typ JWT, the next token of a grant has it', async () => {
  const resource = 'https://changing.example'
  await declareApi(server, resource)
  knowApis(server)
  const client = await registerClient(server, { scope: 'read' })
  const tokens = await obtainTokens(server, client, { scope: 'read', resource })
  assert.equal(typeOf(tokens.access_token), 'at+jwt')
  const input = { tokens: { ...SERVER_TOKENS, jwtType: 'JWT' as const } }
  await updateApi(server.context, await requireApi(server.context, resource), input)
  knowApis(server)
  assert.equal(typeOf(tokensOf(await refresh(server, client, tokens.refresh_token ?? '')).access_token), 'JWT')
})

// The audience of an ID token is a client id. A release that accepts URLs as client ids has to refuse a URL that is a declared
// resource, and to refuse to declare a resource that is the id of a client, before it changes this test.
test('INT-10: no id of a client, user, API or organization can be declared as a resource', () => {
  const { clock, context } = server
  for (const mint of [mintClientId, mintUserId, mintApiCredentialId, mintOrganizationId]) {
    assert.equal(parseResource(mint(clock.now(), context.random)), undefined)
  }
  for (const text of ['https://app.example/client.json', `${server.origin}/mcp`, 'urn:example:api']) {
    assert.notEqual(parseResource(text), undefined)
    assert.equal(parseClientId(text), undefined)
  }
})
