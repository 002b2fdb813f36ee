import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decodeJwt } from 'jose'
import { requireApi, updateApi } from '../../../src/admin/api/api.ts'
import type { ApiScope } from '../../../src/ports/records/api.ts'
import {
  authorizeUrl,
  locationOf,
  obtainCode,
  obtainTokens,
  PlainBrowser,
  redeem,
  refresh,
  registerClient,
  requestToken,
  type RegisteredClient,
} from '../../../tools/flow.ts'
import { createAda } from '../../support/accounts.ts'
import { assertError, problemsOf } from '../../support/error-answer.ts'
import { openTestServer } from '../../support/server.ts'
import { assertStoreUnchanged, execute } from '../../support/store/dump.ts'
import { declareApi, knowApis, obtainCodeFor, openWithOpaqueApis, JWT_API, OPAQUE_API } from '../../support/apis.ts'
import { tokensOf } from '../../support/token-answers.ts'
import { assertReturnPage, consentedBrowser, isCodeAnswer, WHOLE_FILE } from '../../support/authorize-answers.ts'
import { isActive } from '../../support/token-questions.ts'
import { perform } from '../../support/tasks.ts'

const MACHINE = { grant_type: 'client_credentials' }
const LONG_API = 'https://long.example'
const GUARDED_API = 'https://guarded.example'
const GUARDED_SCOPES: readonly ApiScope[] = [
  { name: 'export', sentence: 'Export everything', grantedTo: 'approved-clients' },
  { name: 'browse', sentence: 'Browse', grantedTo: 'users' },
]

const { server } = await openWithOpaqueApis(WHOLE_FILE)
await declareApi(server, LONG_API, { lifetime: 7200 })
await declareApi(server, GUARDED_API, {}, GUARDED_SCOPES)
knowApis(server)

test('a JWT has the lifetime of its API, in its claims and in the response, by all three grant types', async () => {
  for (const [resource, lifetime] of [
    [JWT_API, 600],
    [LONG_API, 7200],
  ] as const) {
    const client = await registerClient(server, { scope: 'read' })
    const tokens = await obtainTokens(server, client, { scope: 'read', resource })
    const refreshed = tokensOf(await refresh(server, client, tokens.refresh_token ?? ''))
    const machine = tokensOf(await requestToken(server, client, { ...MACHINE, resource }))
    for (const { access_token: token, expires_in: seconds } of [tokens, refreshed, machine]) {
      const { iat = 0, exp = 0, aud } = decodeJwt(token)
      assert.deepEqual([exp - iat, seconds, aud], [lifetime, lifetime, resource])
    }
  }
})

test('without a refresh token, the grant expires with the access token', async (t) => {
  const { server: own } = await openWithOpaqueApis(t)
  await declareApi(own, LONG_API, { lifetime: 7200 })
  knowApis(own)
  const client = await registerClient(own, { grant_types: ['authorization_code', 'client_credentials'] })
  const { access_token: token, expires_in: seconds } = await obtainTokens(own, client, { resource: LONG_API })
  assert.equal(seconds, 7200)
  own.clock.advance(7_100_000)
  assert.equal(await isActive(own, client, token), true)
  own.clock.advance(101_000)
  assert.equal(await isActive(own, client, token), false)
})

test('of several APIs with the same kind of token, the shortest lifetime is used', async () => {
  const client = await registerClient(server)
  const code = await obtainCodeFor(server, client, [LONG_API, JWT_API])
  const tokens = tokensOf(await redeem(server, client, code))
  assert.equal(tokens.expires_in, 600)
  assert.deepEqual(decodeJwt(tokens.access_token).aud, [LONG_API, JWT_API])
  const long = tokensOf(await refresh(server, client, tokens.refresh_token ?? '', { resource: LONG_API }))
  assert.equal(long.expires_in, 7200)
})

test('RFC 8707 §2.2: a token for one of several APIs has the scopes of that API, and no others can be requested', async (t) => {
  const own = await openTestServer(t)
  await createAda(own)
  const sentence = 'Read'
  await declareApi(own, JWT_API, {}, [{ name: 'read', sentence, grantedTo: 'users' }])
  await declareApi(own, LONG_API, {}, [{ name: 'write', sentence, grantedTo: 'users' }])
  knowApis(own)
  const client = await registerClient(own)
  const code = await obtainCodeFor(own, client, [JWT_API, LONG_API])
  const first = tokensOf(await redeem(own, client, code, { resource: JWT_API }))
  assert.deepEqual([first.scope, decodeJwt(first.access_token)['scope']], ['read', 'read'])
  const token = first.refresh_token ?? ''
  const foreign = await assertStoreUnchanged(own, () =>
    refresh(own, client, token, { resource: JWT_API, scope: 'write' }),
  )
  assert.deepEqual(problemsOf(assertError(foreign, 400, 'invalid_scope')), ['body.scope:value_error'])
  const other = tokensOf(await refresh(own, client, token, { resource: LONG_API }))
  assert.deepEqual([other.scope, decodeJwt(other.access_token)['scope']], ['write', 'write'])
  const all = tokensOf(await refresh(own, client, other.refresh_token ?? ''))
  assert.equal(all.scope, 'read write')
})

test('CODE-09: one token for APIs with different kinds of token is invalid_target, and does not redeem the code', async () => {
  const client = await registerClient(server)
  const code = await obtainCodeFor(server, client, [JWT_API, OPAQUE_API])
  const refused = await assertStoreUnchanged(server, () => redeem(server, client, code))
  const body = assertError(refused, 400, 'invalid_target')
  assert.deepEqual(problemsOf(body), ['body.resource:value_error'])
  assert.match(body.detail?.[0]?.msg ?? '', /Name one of them/)
  assert.match(server.log(), /"reason":"tokens_differ"/)
  const { access_token: token } = tokensOf(await redeem(server, client, code, { resource: OPAQUE_API }))
  assert.match(token, /^gat_/)
})

test('RT-09: one token for APIs with different kinds of token is invalid_target, and does not rotate the refresh token', async () => {
  const client = await registerClient(server)
  const code = await obtainCodeFor(server, client, [JWT_API, OPAQUE_API])
  const { refresh_token: token = '' } = tokensOf(await redeem(server, client, code, { resource: JWT_API }))
  const refused = await assertStoreUnchanged(server, () => refresh(server, client, token))
  assert.deepEqual(problemsOf(assertError(refused, 400, 'invalid_target')), ['body.resource:value_error'])
  const opaque = tokensOf(await refresh(server, client, token, { resource: OPAQUE_API }))
  const jwt = tokensOf(await refresh(server, client, token, { resource: JWT_API }))
  assert.match(opaque.access_token, /^gat_/)
  assert.equal(decodeJwt(jwt.access_token).aud, JWT_API)
  assert.equal(jwt.refresh_token, opaque.refresh_token, 'two APIs refreshed at once are no theft')
})

test('RT-09: a code for a removed API is invalid_grant, is not redeemed, and is valid once the API is declared again', async (t) => {
  const { server: own } = await openWithOpaqueApis(t)
  const client = await registerClient(own)
  const code = await obtainCode(own, client, { resource: OPAQUE_API })
  await perform(own.context, 'api.delete', { resource: OPAQUE_API })
  knowApis(own)
  assertError(await assertStoreUnchanged(own, () => redeem(own, client, code)), 400, 'invalid_grant')
  assert.match(own.log(), /"reason":"resource_gone"/)
  await declareApi(own, OPAQUE_API, { format: 'opaque' })
  knowApis(own)
  assert.match(tokensOf(await redeem(own, client, code)).access_token, /^gat_/)
})

test('after an API changes to opaque tokens, the next token of a grant is opaque, and the previous JWT remains valid', async (t) => {
  const { server: own } = await openWithOpaqueApis(t)
  const client = await registerClient(own, { scope: 'read' })
  const tokens = await obtainTokens(own, client, { scope: 'read', resource: JWT_API })
  await updateApi(own.context, await requireApi(own.context, JWT_API), {
    name: undefined,
    scopes: undefined,
    tokens: {
      format: 'opaque',
      lifetime: 60,
      algorithm: undefined,
      jwtType: 'at+jwt',
      applicationSubject: false,
      binding: 'any',
    },
  })
  knowApis(own)
  const next = tokensOf(await refresh(own, client, tokens.refresh_token ?? ''))
  assert.match(next.access_token, /^gat_/)
  assert.equal(next.expires_in, 60)
  assert.equal(await isActive(own, client, tokens.access_token), true)
})

test('MCP 2026-07-28: APIs of an earlier store that differ only in case are each found by their own identifier', async (t) => {
  const { server: own } = await openWithOpaqueApis(t)
  const [upper, lower] = ['https://API.old.example/x', 'https://api.old.example/x']
  await declareApi(own, lower, { format: 'opaque' })
  execute(own, 'update apis set resource = ? where resource = ?', upper, lower)
  await declareApi(own, `${lower}y`, { format: 'opaque' })
  execute(own, 'update apis set resource = ? where resource = ?', lower, `${lower}y`)
  knowApis(own)
  const client = await registerClient(own, { grant_types: ['client_credentials'] })
  const both = [upper, lower]
  const credentials = await Promise.all(
    both.map((resource) => perform(own.context, 'api.create-credentials', { resource })),
  )
  assert.deepEqual(
    credentials.map(({ resource }) => resource),
    both,
  )
  knowApis(own)
  for (const [index, resource] of both.entries()) {
    const { access_token: token } = tokensOf(await requestToken(own, client, { ...MACHINE, resource }))
    const states = credentials.map(({ id, secret }) =>
      isActive(own, { client_id: String(id), client_secret: String(secret) }, token),
    )
    assert.deepEqual(await Promise.all(states), [index === 0, index === 1], resource)
  }
  await perform(own.context, 'api.delete', { resource: lower })
  assert.deepEqual(
    (await own.context.store.listApis()).map(({ resource }) => resource).filter((one) => /old/.test(one)),
    [upper],
  )
  assert.equal((await perform(own.context, 'api.show', { resource: lower }))['resource'], upper)
})

test('AUTH-13: an undeclared resource is rejected, and a declared one is stored with the code', async () => {
  const client = await registerClient(server, { scope: 'read' })
  const browser = await consentedBrowser(server, client)
  for (const resource of ['https://unknown.example', `${JWT_API}/deeper`, '/relative', `${JWT_API}#f`]) {
    const answer = await browser.get(authorizeUrl(client, { resource }))
    assert.equal(new URL(locationOf(answer)).searchParams.get('error'), 'invalid_target', resource)
  }
  const code = await obtainCode(server, client, { resource: `${OPAQUE_API}/` })
  for (const resource of [JWT_API, 'https://unknown.example'])
    assertError(await redeem(server, client, code, { resource }), 400, 'invalid_target')
  assert.match(tokensOf(await redeem(server, client, code)).access_token, /^gat_/)
})

/** Asks as a machine, and with Ada's consent. */
async function mayHave(client: RegisteredClient, scope: string): Promise<{ machine: boolean; user: boolean }> {
  const machine = await requestToken(server, client, { ...MACHINE, scope, resource: GUARDED_API })
  const start = await new PlainBrowser(server).get(authorizeUrl(client, { scope, resource: GUARDED_API }))
  if (start.statusCode !== 303) assertReturnPage(start, 'invalid_scope')
  return { machine: machine.statusCode === 200, user: start.statusCode === 303 }
}

test('CC-05: a scope for approved clients can be registered, but is granted only after the operator’s approval', async () => {
  const client = await registerClient(server, { scope: 'export browse' })
  assert.equal(client['scope'], 'export browse')
  assert.deepEqual(await mayHave(client, 'export'), { machine: false, user: false })
  assert.deepEqual(await mayHave(client, 'browse'), { machine: false, user: true })
  assertError(await requestToken(server, client, { ...MACHINE, resource: GUARDED_API }), 400, 'invalid_scope')
  await perform(server.context, 'client.approve-scopes', { client_id: client.client_id, scope: 'export' })
  assert.deepEqual(await mayHave(client, 'export'), { machine: true, user: true })
  assert.deepEqual(await mayHave(client, 'browse'), { machine: false, user: true })
  const stranger = await registerClient(server, { scope: 'export browse' })
  assert.deepEqual(await mayHave(stranger, 'export'), { machine: false, user: false })
})

test('CC-05: a client approved for a user scope also gets it without a user, until the approval is withdrawn', async () => {
  const client = await registerClient(server, { scope: 'browse' })
  await perform(server.context, 'client.approve-scopes', { client_id: client.client_id, scope: 'browse' })
  assert.deepEqual(await mayHave(client, 'browse'), { machine: true, user: true })
  await perform(server.context, 'client.approve-scopes', { client_id: client.client_id, scope: '' })
  assert.deepEqual(await mayHave(client, 'browse'), { machine: false, user: true })
})

test('CC-05: an approval grants no scope that the client did not register or that no API declares', async () => {
  const client = await registerClient(server, { scope: 'browse' })
  await perform(server.context, 'client.approve-scopes', { client_id: client.client_id, scope: 'browse export' })
  assert.deepEqual(await mayHave(client, 'export'), { machine: false, user: false })
})

test('an approved scope requires consent and is granted with the code', async () => {
  const client = await registerClient(server, { scope: 'export' })
  await perform(server.context, 'client.approve-scopes', { client_id: client.client_id, scope: 'export' })
  const tokens = await obtainTokens(server, client, { resource: GUARDED_API })
  assert.equal(tokens.scope, 'export')
  assert.ok(isCodeAnswer(await (await consentedBrowser(server, client)).get(authorizeUrl(client))))
})

test('RFC 9728 §2: a declared API has a document with its identifier, this server and its scopes', async () => {
  const path = '/v2/oauth/protected-resource'
  for (const asked of [GUARDED_API, `${GUARDED_API}/`]) {
    const answer = await server.inject({ method: 'GET', url: `${path}?resource=${encodeURIComponent(asked)}` })
    assert.equal(answer.statusCode, 200)
    assert.equal(answer.headers['access-control-allow-origin'], '*')
    assert.match(String(answer.headers['cache-control']), /max-age=300/)
    assert.deepEqual(answer.json(), {
      resource: GUARDED_API,
      authorization_servers: [server.origin],
      scopes_supported: ['browse'],
      bearer_methods_supported: ['header'],
    })
  }
})

test('RFC 9728 §2: the document has the name of the API if there is one', async (t) => {
  const own = await openTestServer(t)
  await declareApi(own, JWT_API, {}, [])
  await updateApi(own.context, await requireApi(own.context, JWT_API), {
    name: 'Notes',
    scopes: undefined,
    tokens: undefined,
  })
  knowApis(own)
  const answer = await own.inject({ method: 'GET', url: `/v2/oauth/protected-resource?resource=${JWT_API}` })
  assert.deepEqual(answer.json(), {
    resource: JWT_API,
    authorization_servers: [own.origin],
    bearer_methods_supported: ['header'],
    resource_name: 'Notes',
  })
})

test('RFC 9728 §2: the document of an API says if its tokens are always bound to a key', async () => {
  for (const binding of ['dpop', 'bearer'] as const) {
    const resource = `https://${binding}.example`
    await declareApi(server, resource, { binding }, [])
    knowApis(server)
    const answer = await server.inject({ method: 'GET', url: `/v2/oauth/protected-resource?resource=${resource}` })
    const { dpop_bound_access_tokens_required: required, dpop_signing_alg_values_supported: names } = answer.json()
    assert.deepEqual(
      [required, names],
      binding === 'dpop' ? [true, ['ES256', 'EdDSA', 'Ed25519', 'PS256']] : [undefined, undefined],
    )
  }
})

test('RFC 9728 §3: an undeclared resource has no document, and the error names it', async () => {
  const path = '/v2/oauth/protected-resource'
  for (const asked of ['https://unknown.example', `${JWT_API}/deeper`, 'nonsense']) {
    const answer = await server.inject({ method: 'GET', url: `${path}?resource=${encodeURIComponent(asked)}` })
    assert.deepEqual(problemsOf(assertError(answer, 404, 'invalid_target')), ['query.resource:value_error'])
  }
  const none = await server.inject({ method: 'GET', url: path })
  assert.deepEqual(problemsOf(assertError(none, 400, 'invalid_request')), ['query.resource:missing'])
})

test('MCP 2026-07-28, Canonical Server URI: a resource with its scheme and host in upper case names the declared API', async () => {
  const resource = 'https://mcp.example.com/mcp'
  const api = await declareApi(server, resource)
  knowApis(server)
  const client = await registerClient(server, { scope: 'read' })
  for (const [requested, exchanged, renewed] of [
    ['HTTPS://MCP.Example.com/mcp', 'HTTPS://MCP.Example.com/mcp', 'HTTPS://MCP.Example.com/mcp'],
    ['https://MCP.EXAMPLE.COM/mcp', resource, 'HTTPS://mcp.example.com/mcp'],
    [resource, 'https://Mcp.Example.Com/mcp', resource],
  ] as const) {
    const code = await obtainCode(server, client, { scope: 'read', resource: requested, prompt: 'consent' })
    const tokens = tokensOf(await redeem(server, client, code, { resource: exchanged }))
    const refreshed = tokensOf(await refresh(server, client, tokens.refresh_token ?? '', { resource: renewed }))
    const machine = tokensOf(await requestToken(server, client, { ...MACHINE, resource: requested }))
    for (const { access_token: token } of [tokens, refreshed, machine]) {
      assert.equal(decodeJwt(token).aud, resource)
      assert.equal(await isActive(server, api, token), true)
    }
  }
  const other = await requestToken(server, client, { ...MACHINE, resource: 'https://mcp.example.com/MCP' })
  assertError(other, 400, 'invalid_target')
})
