import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decodeJwt } from 'jose'
import { requireApi, updateApi } from '../../../../src/admin/api/api.ts'
import type { EpochMs } from '../../../../src/base/brand.ts'
import { thumbprintOf } from '../../../../src/protocol/token/dpop-proof.ts'
import type { Scope } from '../../../../src/protocol/token/scope.ts'
import type { PublicJwk } from '../../../../src/protocol/client/keys.ts'
import { makeClientKey } from '../../../../tools/client-assertion.ts'
import { makeProof } from '../../../../tools/dpop-proof.ts'
import { registerClient, requestToken, type Tokens } from '../../../../tools/flow.ts'
import { WHOLE_FILE } from '../../../support/authorize-answers.ts'
import { assertError } from '../../../support/error-answer.ts'
import { A, B, BEARER, C, DPOP, openExchanges, rule } from '../../../support/exchanges.ts'
import { clientId, install } from '../../../support/organizations.ts'
import { execute } from '../../../support/store/dump.ts'
import { introspect, isActive } from '../../../support/token-questions.ts'

const { server, clock, a, b, c, ada, acme, client, tokensFor, exchange, exchanged, refuses, claimsFor } =
  await openExchanges(WHOLE_FILE)
const member = { userId: ada, organizationId: acme }

function endOf<Id>(id: Id): { readonly id: Id; readonly now: EpochMs } {
  return { id, now: clock.now() }
}

test('TX-04: the scope is within the request, the rule and what the target gives to the client of the subject token', async () => {
  const { access_token: subject } = await tokensFor()
  const scopeFor = async (scope: string): Promise<string | undefined> => (await exchanged(a, subject, { scope })).scope
  assert.equal(await scopeFor('b:read'), 'b:read')
  assert.equal(await scopeFor('b:delete b:read'), 'b:delete b:read', 'on request')
  assert.equal(await scopeFor('openid a:read b:never b:read'), 'b:read')
  for (const [scope, why] of [
    ['b:never', 'not given in exchange'],
    ['b:export', 'not approved'],
    ['b:pay', 'another sign-in'],
    ['openid', 'not given in exchange'],
    ['a:read', 'not given in exchange'],
  ] as const) {
    const answer = await refuses('invalid_scope', 'scope_not_allowed', () => exchange(a, subject, { scope }))
    assert.match(answer.json<{ error_description: string }>().error_description, new RegExp(why))
  }
  await server.context.store.approveClientScope({ id: clientId(client), scope: 'b:export' as Scope })
  assert.equal(await scopeFor('b:export'), 'b:export')
  await server.context.store.approveClientScope({ id: clientId(client), scope: '' as Scope })
})

test('TX-04: a scope that requires a level is given for a subject token that states it, and not once that is too old', async () => {
  const weak = (await tokensFor({ acr_values: 'urn:grantor:acr:1fa' })).access_token
  const pay = { scope: 'b:pay' }
  await refuses('invalid_scope', 'scope_not_allowed', () => exchange(a, weak, pay))
  const sessions = `update sessions set methods = ?, authenticated_at = ${clock.now()}`
  execute(server, sessions, 'pwd otp mfa')
  const silent = (await tokensFor()).access_token
  await refuses('invalid_scope', 'scope_not_allowed', () => exchange(a, silent, pay))
  const strong = (await tokensFor({ scope: 'a:pay' })).access_token
  const token = (await exchanged(a, strong, pay)).access_token
  const { scope, acr, auth_time } = await claimsFor(b, token)
  assert.deepEqual({ scope, acr }, { scope: 'b:pay', acr: 'urn:grantor:acr:2fa' })
  assert.equal(auth_time, decodeJwt(strong)['auth_time'])
  const chained = (await exchanged(b, token, { resource: C, scope: 'c:pay' })).access_token
  assert.equal(decodeJwt(chained)['acr'], acr)
  clock.advance(301_000)
  await refuses('invalid_scope', 'scope_not_allowed', () => exchange(a, strong, pay))
  assert.equal((await exchanged(a, strong)).scope, 'b:read b:status')
  execute(server, sessions, 'pwd')
})

test('TX-04: a second after a rule is removed or changed, it applies', async () => {
  const { access_token: subject } = await tokensFor()
  const usual = rule(A, 'e')
  const change = async (scope: string): Promise<void> => {
    const api = await requireApi(server.context, BEARER)
    await updateApi(server.context, api, { exchange: [{ ...usual, scope: scope as Scope }] })
    // As old as the copy of another node can be.
    clock.advance(1000)
  }
  const request = () => exchange(a, subject, { resource: BEARER })
  assert.equal((await request()).statusCode, 200)
  await change('')
  await refuses('invalid_target', 'exchange_not_allowed', request)
  await change('e:status')
  assert.equal((await request()).json<Tokens>().scope, 'e:status')
  await change(usual.scope)
})

test('TX-05: JWT and opaque on both sides; the token never outlives the subject token', async () => {
  const { access_token: jwt } = await tokensFor()
  const opaque = (await exchanged(a, jwt)).access_token
  const again = (await exchanged(b, opaque, { resource: C })).access_token
  assert.match(opaque, /^gat_/)
  assert.match(again, /^ey/)
  clock.advance(100_000)
  const late = await exchanged(b, opaque, { resource: A })
  assert.equal(late.expires_in, 200)
  assert.equal(decodeJwt(late.access_token).exp, (await claimsFor(b, opaque))['exp'])
  clock.advance(200_000)
  assert.equal(await isActive(server, c, again), false)
  await refuses('invalid_request', 'subject_inactive', () => exchange(b, opaque, { resource: C }))
  clock.advance(600_000)
  await refuses('invalid_request', 'subject_inactive', () => exchange(a, jwt))
})

test('TX-05, RFC 9449: a bound subject token needs no proof, and the new one is bound to the key of the API if it proves one', async () => {
  const [clients, apis] = [makeClientKey('ES256'), makeClientKey('EdDSA')]
  const proofOf = (key: typeof clients): string =>
    makeProof(key, { method: 'POST', address: `${server.origin}/v2/oauth/token`, nowMs: clock.now() })
  const { access_token: bound } = await tokensFor({}, { proof: proofOf(clients) })
  assert.equal((await exchanged(a, bound)).token_type, 'Bearer')
  const jkt = thumbprintOf(apis.jwk as PublicJwk)
  for (const [resource, proof, expected] of [
    [B, proofOf(apis), jkt],
    [DPOP, proofOf(apis), jkt],
    [BEARER, proofOf(apis), undefined],
  ] as const) {
    const { access_token: token, token_type } = await exchanged(a, bound, { resource }, { dpop: proof })
    assert.equal(token_type, expected === undefined ? 'Bearer' : 'DPoP')
    const { cnf } = token.startsWith('gat_') ? (await introspect(server, b, token)).json() : decodeJwt(token)
    assert.deepEqual(cnf, expected && { jkt: expected })
  }
  await refuses('invalid_request', 'proof_missing', () => exchange(a, bound, { resource: DPOP }))
  const wrong = { dpop: proofOf(apis).replace(/[^.]+$/, 'AAAA') }
  assertError(await exchange(a, bound, {}, wrong), 400, 'invalid_dpop_proof')
})

test('TX-06: user, client and organization stay; userinfo refuses the token, and it ends with each of them', async () => {
  const { access_token: subject } = await tokensFor({}, { organization: acme })
  const { access_token: token } = await exchanged(a, subject, { org_id: acme })
  const { org_id, sub, client_id } = await claimsFor(b, token)
  assert.deepEqual({ org_id, sub, client_id }, { org_id: acme, sub: ada, client_id: client.client_id })
  const headers = { authorization: `Bearer ${token}` }
  assert.equal((await server.inject({ method: 'GET', url: '/v2/oauth/userinfo', headers })).statusCode, 401)
  const { store } = server.context
  for (const [name, disable, enable] of [
    ['user', () => store.disableUser(endOf(ada)), () => store.enableUser(endOf(ada))],
    ['client', () => store.disableClient(endOf(clientId(client))), () => store.enableClient(clientId(client))],
    [
      'membership',
      () => store.disableMember({ ...member, now: clock.now() }),
      () => store.enableMember({ ...member, now: clock.now() }),
    ],
    ['organization', () => store.disableOrganization(endOf(acme)), () => store.enableOrganization(endOf(acme))],
  ] as const) {
    clock.advance(1000)
    const { access_token: before } = await tokensFor({}, { organization: acme })
    const { access_token: after } = await exchanged(a, before)
    assert.equal(await isActive(server, b, after), true, name)
    await disable()
    assert.equal(await isActive(server, b, after), false, name)
    await refuses('invalid_request', 'subject_inactive', () => exchange(a, before), name)
    await enable()
  }
})

test('TX-06, decision 0005: for a user who did not sign in, the client acts first, and gets what machines and its installation get', async () => {
  const app = await registerClient(server)
  await install(server, app, acme, { scope: 'a:status b:status' as Scope, actsForMembers: true })
  const form = { grant_type: 'client_credentials', org_id: acme, user_id: ada, resource: A, scope: 'a:status' }
  const { access_token: subject } = (await requestToken(server, app, form)).json<Tokens>()
  assert.deepEqual((await claimsFor(a, subject))['act'], { sub: app.client_id })
  const answer = await exchanged(a, subject)
  assert.equal(answer.scope, 'b:status')
  const act = { sub: A, act: { sub: app.client_id } }
  assert.deepEqual((await claimsFor(b, answer.access_token))['act'], act)
  await refuses('invalid_scope', 'scope_not_allowed', () => exchange(a, subject, { scope: 'b:read' }))
  await refuses('invalid_scope', 'scope_not_allowed', () => exchange(b, answer.access_token, { resource: C }))
  const jwt = (await exchanged(b, answer.access_token, { resource: A })).access_token
  assert.deepEqual((await claimsFor(a, jwt))['act'], { sub: B, act })
  await server.context.store.uninstall({ clientId: clientId(app), organizationId: acme })
  for (const [api, token] of [
    [b, answer.access_token],
    [a, jwt],
  ] as const)
    assert.equal(await isActive(server, api, token), false)
})
