import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decodeJwt } from 'jose'
import { makeClientKey } from '../../../../tools/client-assertion.ts'
import { makeProof } from '../../../../tools/dpop-proof.ts'
import { postForm, refresh } from '../../../../tools/flow.ts'
import { identityAssertionForm } from '../../../../tools/identity-assertion.ts'
import { thumbprintOf } from '../../../../src/protocol/token/dpop-proof.ts'
import type { PublicJwk } from '../../../../src/protocol/client/keys.ts'
import { declareApi, JWT_API, OPAQUE_API } from '../../../support/apis.ts'
import { WHOLE_FILE } from '../../../support/authorize-answers.ts'
import { assertError, lastLogged } from '../../../support/error-answer.ts'
import { credentialsOf } from '../../../support/hosts/http-agent.ts'
import { openAssertingServer, tokensOf } from '../../../support/provider/asserting.ts'
import { perform } from '../../../support/tasks.ts'
import { introspect, revoke } from '../../../support/token-questions.ts'

/** The tokens that identity assertions give. */

const TOKEN = '/v2/oauth/token'
const { server, api, client, assertion, present, assertRefused, list } = await openAssertingServer(WHOLE_FILE)

test('JAG-12: an assertion for a key needs a proof of it, and gives a token that is bound to it', async () => {
  const [key, another] = [makeClientKey('ES256'), makeClientKey('ES256')]
  const jkt = thumbprintOf(key.jwk as PublicJwk)
  const proven = (signer?: typeof key, claims: object = { cnf: { jkt } }) => {
    const request = { method: 'POST', address: `${server.origin}${TOKEN}`, nowMs: server.clock.now() } as const
    const dpop = signer === undefined ? {} : { dpop: makeProof(signer, request) }
    const form = { ...credentialsOf(client), ...identityAssertionForm(assertion({ claims: { ...claims } })) }
    return postForm(server, TOKEN, form, dpop)
  }
  await assertRefused(() => proven(), 'key_differs', 'no proof')
  await assertRefused(() => proven(another), 'key_differs', 'another key')
  const bound = tokensOf(await proven(key))
  assert.equal(bound.token_type, 'DPoP')
  assert.deepEqual(decodeJwt(bound.access_token)['cnf'], { jkt })
  assert.equal(tokensOf(await proven(another, {})).token_type, 'DPoP')
  await perform(server.context, 'api.update', { resource: JWT_API, tokens: { binding: 'bearer' } })
  server.clock.advance(2000)
  assertError(await proven(key), 400, 'invalid_target')
  await perform(server.context, 'api.update', { resource: JWT_API, tokens: { binding: 'any' } })
  server.clock.advance(2000)
})

test('JAG-14: a token by assertion has no refresh token, no ID token and no access to userinfo', async () => {
  const scope = 'openid profile offline_access read'
  const tokens = tokensOf(await present({ claims: { scope } }, { scope }))
  assert.deepEqual(Object.keys(tokens).toSorted(), ['access_token', 'expires_in', 'scope', 'token_type'])
  assert.equal(tokens.scope, 'read')
  const url = '/v2/oauth/userinfo'
  const headers = { authorization: `Bearer ${tokens.access_token}` }
  assertError(await server.inject({ method: 'GET', url, headers }), 401, 'invalid_token')
  assertError(await refresh(server, client, tokens.access_token), 400, 'invalid_grant')
  assertError(await present({ claims: { scope: 'openid' } }), 400, 'invalid_scope')
  assertError(await present({}, { scope: 'openid' }), 400, 'invalid_scope')
})

test('REV-03: RFC 7009 §2.1: revoking a token by assertion ends its grant and no other', async () => {
  const [gone, kept] = [tokensOf(await present()).access_token, tokensOf(await present()).access_token]
  assert.equal((await revoke(server, client, gone)).statusCode, 200)
  const grantOf = async (token: string) =>
    perform(server.context, 'grant.show', { grant_id: decodeJwt(token)['grant_id'] })
  const stateOf = async (token: string) => [
    (await introspect(server, api, token)).json().active,
    Boolean(((await grantOf(token)) as { readonly revoked_at?: unknown }).revoked_at),
  ]
  assert.deepEqual(
    [await stateOf(gone), await stateOf(kept)],
    [
      [false, true],
      [true, false],
    ],
  )
})

test('JAG-09: the scope is in the assertion, in the request and among those of the API', async () => {
  const resource = 'https://scopes.example'
  await declareApi(server, resource, {}, [
    { name: 'read', sentence: 'Read', grantedTo: 'users' },
    { name: 'write', sentence: 'Write', grantedTo: 'users-on-request' },
    { name: 'admin', sentence: 'Administer', grantedTo: 'approved-clients' },
    { name: 'pay', sentence: 'Pay', grantedTo: 'users', stepUp: { level: 2, maxAge: undefined } },
  ])
  await list({ assertion_apis: [JWT_API, resource] })
  await assertRefused(() => present(), 'assertion_resource', 'several APIs and none named')
  const cases: readonly (readonly [
    asserted: string | undefined,
    requested: string | undefined,
    scope: string | undefined,
  ])[] = [
    [undefined, undefined, 'read'],
    ['read write', undefined, 'read write'],
    ['read write', 'read', 'read'],
    ['read', 'read write', 'read'],
    [undefined, 'write', 'write'],
    ['read write admin pay other', undefined, 'read write'],
    ['read', 'write', undefined],
    ['', undefined, undefined],
    ['', 'read', undefined],
    ['admin', undefined, undefined],
    ['pay', undefined, undefined],
    [undefined, 'other', undefined],
  ]
  for (const [asserted, requested, expected] of cases) {
    const what = JSON.stringify([asserted, requested])
    const form = { resource, ...(requested === undefined ? {} : { scope: requested }) }
    const request = () => present({ claims: { scope: asserted, resource } }, form)
    if (expected === undefined) await assertRefused(request, 'scope_not_allowed', what, 'invalid_scope')
    else assert.equal(tokensOf(await request()).scope, expected, what)
  }
  await perform(server.context, 'client.approve-scopes', { client_id: client.client_id, scope: 'admin' })
  assert.equal(tokensOf(await present({ claims: { scope: 'admin read', resource } })).scope, 'admin read')
  await list({ assertion_apis: [JWT_API] })
})

test('an API with opaque tokens, with the subject of the application or without a declaration is no exception', async () => {
  const opaque = await declareApi(server, OPAQUE_API, { format: 'opaque', lifetime: 60 })
  const apis = [OPAQUE_API, 'https://undeclared.example']
  await list({ assertion_apis: apis })
  const { access_token: token, expires_in } = tokensOf(await present({ claims: { resource: OPAQUE_API } }))
  assert.equal(expires_in, 60)
  assert.partialDeepStrictEqual((await introspect(server, opaque, token)).json(), { active: true, aud: OPAQUE_API })
  await assertRefused(() => present({ claims: { resource: apis[1] } }), 'assertion_resource', 'undeclared')
  await list({ assertion_apis: [JWT_API] })
})

test('ACS-02: a rule leaves a scope of the subject out, and a subject with nothing left is refused as any other', async () => {
  const underRule = async (rule: object, work: () => Promise<unknown>) => {
    await perform(server.context, 'access-rule.create', { rule_id: 'r', ...rule })
    server.clock.advance(2000)
    await work()
    await perform(server.context, 'access-rule.delete', { rule_id: 'r' })
    server.clock.advance(2000)
  }
  const scopeOf = async () => tokensOf(await present()).scope
  assert.equal(await scopeOf(), 'read write')
  await underRule({ scopes: [`${JWT_API}=write`] }, async () => assert.equal(await scopeOf(), 'read'))
  for (const effect of [{}, { require: 'phr' }])
    await underRule({ apis: [JWT_API], ...effect }, async () => {
      assertError(await present(), 400, 'invalid_grant')
      assert.equal(lastLogged(server)['reason'], 'subject_refused')
    })
  assert.equal(await scopeOf(), 'read write')
})

test('GRP-03: a token by assertion has the groups of the subject that its API reads, and introspection those of now', async () => {
  await perform(server.context, 'group.create', { group_id: 'dev' })
  await perform(server.context, 'api.update', { resource: JWT_API, groups: 'roles', group_words: ['dev=Editor'] })
  server.clock.advance(2000)
  const { access_token: token } = tokensOf(await present())
  assert.deepEqual(decodeJwt(token)['roles'], [])
  const member = { group_id: 'dev', user_id: String(decodeJwt(token).sub) }
  await perform(server.context, 'group.add-member', member)
  assert.deepEqual(decodeJwt(tokensOf(await present()).access_token)['roles'], ['Editor'])
  assert.partialDeepStrictEqual((await introspect(server, api, token)).json(), { roles: ['Editor'] })
  await perform(server.context, 'api.update', { resource: JWT_API, groups: 'off' })
  server.clock.advance(2000)
})
