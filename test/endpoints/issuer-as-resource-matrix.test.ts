import assert from 'node:assert/strict'
import { rmSync } from 'node:fs'
import { test } from 'node:test'
import { decodeJwt } from 'jose'
import type { Response } from 'light-my-request'
import { createApi } from '../../src/admin/api/api.ts'
import type { MetadataInput } from '../../src/admin/client/metadata.ts'
import { TOKEN_EXCHANGE } from '../../src/protocol/token/grant-types.ts'
import type { Resource } from '../../src/protocol/token/resource.ts'
import type { ApiScope } from '../../src/ports/records/api.ts'
import { authorizeUrl, obtainCode, PlainBrowser, postForm, redeem, refresh, requestToken } from '../../tools/flow.ts'
import { createAda } from '../support/accounts.ts'
import { declareApi, JWT_API, knowApis } from '../support/apis.ts'
import { ACCESS_TOKEN, rule } from '../support/exchanges.ts'
import { credentialsOf } from '../support/hosts/http-agent.ts'
import { openAssertingServer } from '../support/provider/asserting.ts'
import { anApi, anApiDeclaration } from '../support/records.ts'
import { openTestServer } from '../support/server.ts'
import { perform } from '../support/tasks.ts'
import { introspect } from '../support/token-questions.ts'
import { answerOf, makeClient, tokensOf, userinfo } from './openid/login.ts'

/** An API must not have the address of the server: its token would be one for userinfo, in every form of the address. */

const ISSUER = 'http://localhost'
/** The same address, as clients, operators and libraries write it. */
const FORMS = [ISSUER, `${ISSUER}/`, 'http://LOCALHOST', 'HTTP://localhost:80/', `${ISSUER}//`] as const
const env = { GRANTOR_ISSUER: ISSUER }
const GRANTS: Partial<MetadataInput> = { grant_types: ['authorization_code', 'refresh_token', 'client_credentials'] }
const MACHINE = { grant_type: 'client_credentials' }

const READ: ApiScope = { name: 'read', sentence: 'Read', grantedTo: 'users-and-machines' }
const LIST: ApiScope = { name: 'b:list', sentence: 'List', grantedTo: 'users-and-machines' }

/** The code of an error, of the body or in the address to which the browser returns. */
function errorOf(answer: Response): string | undefined {
  if (answer.headers.location !== undefined) return answerOf(answer).get('error') ?? undefined
  return answer.json<{ readonly error?: string }>().error
}

test('OP-18: no API is declared at the address of the server, however it is written', async (t) => {
  const { context } = await openTestServer(t)
  for (const [issuer, forms] of [
    [ISSUER, FORMS],
    [
      'https://auth.acme.test',
      ['https://auth.acme.test', 'https://auth.acme.test/', 'https://AUTH.acme.test', 'https://auth.acme.test:443/'],
    ],
    ['https://acme.test:8443', ['https://acme.test:8443/', 'HTTPS://acme.test:8443']],
    [
      'https://acme.test/auth',
      ['https://acme.test/auth', 'https://acme.test/auth/', 'https://acme.test:443/x/../auth'],
    ],
  ] as const) {
    for (const form of forms)
      await assert.rejects(createApi({ ...context, issuer }, anApiDeclaration(form)), /is this server/, form)
    for (const other of ['https://acme.test', `${issuer}/mcp`, `${issuer}/?x=1`]) {
      await createApi({ ...context, issuer }, anApiDeclaration(other))
      await perform(context, 'api.delete', { resource: other })
    }
  }
})

test('OP-18: the address of the server gives a token for userinfo to a login, and is no resource otherwise', async (t) => {
  const server = await openTestServer(t, { env })
  await createAda(server)
  const client = await makeClient(server, {}, GRANTS)
  for (const isDeclared of [false, true]) {
    if (isDeclared) await declareApi(server, JWT_API, {}, [READ])
    knowApis(server)
    for (const resource of FORMS) {
      const machine = await requestToken(server, client, { ...MACHINE, resource })
      assert.equal(errorOf(machine), 'invalid_target', resource)
      const plain = authorizeUrl(client, { scope: 'read', resource })
      assert.equal(errorOf(await new PlainBrowser(server).get(plain)), 'invalid_target', resource)
      const request = { scope: 'openid email', resource, prompt: 'consent' }
      const tokens = tokensOf(await redeem(server, client, await obtainCode(server, client, request), { resource }))
      const again = tokensOf(await refresh(server, client, tokens.refresh_token ?? '', { resource }))
      for (const { access_token: token } of [tokens, again]) {
        assert.equal(decodeJwt(token).aud, ISSUER)
        assert.equal((await userinfo(server, token)).statusCode, 200)
      }
      const document = `/v2/oauth/protected-resource?resource=${encodeURIComponent(resource)}`
      assert.equal((await server.inject({ method: 'GET', url: document })).statusCode, 404)
    }
  }
})

for (const resource of FORMS) {
  test(`OP-18: an API ${resource}, declared under another issuer, gets no tokens once that is the issuer`, async (t) => {
    const first = await openTestServer(t, { env: { GRANTOR_ISSUER: 'http://localhost:7743' } })
    t.after(() => rmSync(first.folder, { recursive: true, force: true }))
    await createAda(first)
    const other = await declareApi(first, JWT_API, {}, [LIST])
    const own = await declareApi(
      first,
      resource,
      {},
      [READ],
      [rule(JWT_API, 'b')].map((one) => ({ ...one, scope: READ.name as never })),
    )
    knowApis(first)
    const client = await makeClient(first, {}, GRANTS)
    const prompt = 'consent'
    const whole = { scope: 'openid email read', resource, prompt }
    const granted = tokensOf(await redeem(first, client, await obtainCode(first, client, whole)))
    assert.equal((await introspect(first, own, granted.access_token)).json().active, true)
    const code = await obtainCode(first, client, whole)
    const elsewhere = tokensOf(
      await redeem(
        first,
        client,
        await obtainCode(first, client, { scope: 'openid b:list', resource: JWT_API, prompt }),
      ),
    )
    await first.close()

    const server = await openTestServer(t, { folder: first.folder, env, clock: first.clock })
    assert.ok(server.log().includes('"event":"api.of-issuer"'))
    const { findings } = await perform<{ readonly findings: readonly object[] }>(server.context, 'server.show', {})
    assert.match(JSON.stringify(findings), /has the address of this server.*grantor api delete/)

    for (const form of [{}, { resource }, { resource: ISSUER }]) {
      assert.ok(errorOf(await refresh(server, client, granted.refresh_token ?? '', form)), JSON.stringify(form))
      assert.ok(errorOf(await redeem(server, client, code, form)), JSON.stringify(form))
    }
    for (const request of [
      { scope: 'openid email', resource },
      { scope: 'openid email', resource: ISSUER },
      { scope: 'openid email read' },
      { scope: 'openid email read', resource },
      { scope: 'read' },
      { scope: 'read', resource },
    ]) {
      const answer = await new PlainBrowser(server).get(authorizeUrl(client, request))
      assert.match(errorOf(answer) ?? '', /^invalid_(target|scope)$/, JSON.stringify(request))
    }
    for (const form of [{ resource }, { resource: ISSUER }, { scope: 'read' }, { scope: 'read', resource }])
      assert.match(
        errorOf(await requestToken(server, client, { ...MACHINE, ...form })) ?? '',
        /^invalid_(target|scope)$/,
      )
    assert.equal((await introspect(server, own, granted.access_token)).statusCode, 401)
    assert.equal((await userinfo(server, granted.access_token)).statusCode, 401)
    const document = `/v2/oauth/protected-resource?resource=${encodeURIComponent(resource)}`
    assert.equal((await server.inject({ method: 'GET', url: document })).statusCode, 404)
    const metadata = await server.inject({ method: 'GET', url: '/.well-known/oauth-authorization-server' })
    assert.ok(!metadata.json<{ scopes_supported: readonly string[] }>().scopes_supported.includes('read'))

    // Others go on.
    const kept = tokensOf(await refresh(server, client, elsewhere.refresh_token ?? ''))
    const subject = { subject_token: kept.access_token, subject_token_type: ACCESS_TOKEN, grant_type: TOKEN_EXCHANGE }
    for (const target of [{ resource }, { audience: resource }, { scope: 'read' }] as const) {
      const exchange = await postForm(server, '/v2/oauth/token', { ...credentialsOf(other), ...subject, ...target })
      assert.match(errorOf(exchange) ?? '', /^invalid_(target|scope)$/)
    }
    assert.equal((await introspect(server, other, kept.access_token)).json().active, true)
    const login = await obtainCode(server, client, { scope: 'openid email', prompt })
    assert.equal((await userinfo(server, tokensOf(await redeem(server, client, login)).access_token)).statusCode, 200)

    // What the finding says to do.
    await perform(server.context, 'api.delete', { resource })
    knowApis(server)
    const named = tokensOf(
      await redeem(server, client, await obtainCode(server, client, { scope: 'openid', resource, prompt })),
    )
    assert.equal((await userinfo(server, named.access_token)).statusCode, 200)
  })
}

test('OP-18: an identity assertion gives no token for an API at the address of the server', async (t) => {
  const { server, assertRefused, list, present } = await openAssertingServer(t, {}, { env })
  for (const form of FORMS) {
    const resource = form as Resource
    await server.context.store.declareApi(anApi({ resource, scopes: [READ] }))
    knowApis(server)
    await list({ assertion_apis: [resource] })
    const request = () => present({ claims: { resource } }, { resource, scope: 'read' })
    await assertRefused(request, 'assertion_resource', resource)
    await list({ assertion_apis: [JWT_API] })
    await server.context.store.deleteApi(resource)
    knowApis(server)
  }
})
